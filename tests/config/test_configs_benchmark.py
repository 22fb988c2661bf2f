"""`python -m benchmarks.configs`: figures and reasons, of folders and of a repository's history."""

import subprocess
from pathlib import Path

import pytest

from benchmarks.configs import main
from tests.config.texts import SMALL


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Three versions of a config, two of which are refused, and YAML that is no config."""

    def git(*args: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", "-C", str(tmp_path), *who, *args], check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    for text in (SMALL.replace("opus_", "tc_"), SMALL + "vocab: 5\n", SMALL):
        (tmp_path / "configs").mkdir(exist_ok=True)
        (tmp_path / "configs" / "en-ru.yml").write_text(text, encoding="utf-8")
        (tmp_path / "configs" / "other.yml").write_text("a: b\n", encoding="utf-8")
        git("add", ".")
        git("commit", "-qm", "x")
    return tmp_path


def test_what_loads_and_why_the_rest_does_not(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(repository / "configs")])
    assert capsys.readouterr().out.startswith("1 of 1 load (100.0%)\nnotes by key:\n     1  experiment\n")
    main(["--versions", str(repository), "configs"])
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "1 of 3 load (33.3%)"
    assert any(
        line.startswith("     1  datasets.train: … in … provides no parallel datasets") for line in said
    )
    assert any(line.startswith("     1  vocab: unknown key") for line in said)
