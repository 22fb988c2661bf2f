"""`cache accept`: changes of code that people declare harmless."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Command, make
from tests.cli.shapes import check_shape
from tests.end_to_end.tiny import PARTITION, Place
from translations_assets.common import settings
from translations_assets.keys.accepted_files import OWN_FILE
from translations_assets.keys.code.accepted import FILE
from translations_assets.project import Project

CORPUS = "merge-corpus-en-eo"
ROOT = settings.repository_root()
WHY = ("--reason", "the sum is the same")


@pytest.fixture(autouse=True)
def repository(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the code that steps run, to be edited; nothing is accepted yet."""
    root, without = tmp_path / "repository", shutil.ignore_patterns("__pycache__", Path(FILE).name)
    for folder in ("pipeline", "requirements"):
        shutil.copytree(ROOT / folder, root / folder, ignore=without)
    monkeypatch.setattr("translations_assets.common.settings.repository_root", lambda: root)
    make("merge_corpus")
    return root


def edit_level(root: Path, more: str) -> None:
    """Add something to zstd's level, on which everything that writes files depends."""
    path = root / "pipeline/common/lines.py"
    lines = path.read_text().splitlines(keepends=True)
    (number,) = [n for n, line in enumerate(lines) if line.startswith("ZSTD_LEVEL = ")]
    value = lines[number].partition("#")[0].strip()
    lines[number] = f"{value} {more}\n"
    path.write_text("".join(lines))


def statuses(command: Command) -> dict[str, str]:
    said = command("plan", PARTITION, "--target", "merge_corpus", "--json")
    assert said.code == 0, said.err
    made = Project().configs.read(PARTITION).graph.stage_closure(["merge_corpus"])
    return {step["label"]: step["status"] for step in json.loads(said.out)["steps"] if step["stage"] in made}


def to_run(command: Command) -> set[str]:
    return {label for label, status in statuses(command).items() if status != "cached"}


def lines(root: Path) -> list[str]:
    return [line for line in (root / FILE).read_text().splitlines() if not line.startswith("#")]


def test_accepted_changes_run_nothing(command: Command, repository: Path) -> None:
    """Those of all scripts, with one reason; what is then cached is said before."""
    assert to_run(command) == set()
    edit_level(repository, "+ 0")
    changed = to_run(command)
    assert CORPUS in changed
    said = command("cache", "accept", PARTITION, *WHY, "--yes")
    assert said.code == 0, said.err
    assert said.out.count("pipeline.common.lines: constant ZSTD_LEVEL changed\n") == 1
    assert f"  in pipeline.clean.merge_parallel, since {CORPUS} was made\n" in said.out
    assert "\nCached with that: " in said.out
    assert said.out.endswith(f"Written to {repository / FILE}; commit it.\n")
    assert to_run(command) == set()
    assert len(lines(repository)) > 1
    for line in lines(repository):
        assert line.startswith('- {"script": "pipeline.')
        assert line.endswith('"reason": "the sum is the same"}')


def test_a_step_leaves_other_scripts(command: Command, repository: Path) -> None:
    edit_level(repository, "+ 0")
    before = statuses(command)
    first = min(label for label, status in before.items() if status == "run")
    said = command("cache", "accept", PARTITION, first, *WHY, "--yes", "--json")
    assert said.code == 0, said.err
    answer = json.loads(said.out)
    check_shape("cache accept", answer)
    script = Project().configs.read(PARTITION).graph.step(first).script
    assert answer["changes"] == [script]
    assert len(lines(repository)) == 1
    after = statuses(command)
    assert answer["cached"] == [
        label for label in before if (before[label], after[label]) == ("run", "cached")
    ]
    assert first in answer["cached"]
    assert CORPUS in to_run(command)


@pytest.mark.slow
def test_the_next_change_runs_and_deleting_the_line_undoes(command: Command, repository: Path) -> None:
    edit_level(repository, "+ 0")
    changed = to_run(command)
    command("cache", "accept", PARTITION, *WHY, "--yes")
    edit_level(repository, "+ 1")
    assert to_run(command) == changed
    assert command("cache", "accept", PARTITION, "--reason", "one more is no harm", "--yes").code == 0
    assert to_run(command) == set()
    path = repository / FILE
    path.write_text(
        "".join(line for line in path.read_text().splitlines(keepends=True) if "no harm" not in line)
    )
    assert to_run(command) == changed


def test_of_installed_code_the_project_keeps_the_changes(
    command: Command, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody's changes are written beside the code, where the next wheel would remove them."""
    project = tmp_path / "models"
    project.mkdir()
    (project / "pyproject.toml").write_text(f'[tool.dagster]\nmodule_name = "{settings.DEFINITIONS}"\n')
    monkeypatch.setattr("translations_assets.common.settings.is_installed", lambda root: True)
    monkeypatch.chdir(project)
    edit_level(repository, "+ 0")
    changed = to_run(command)
    said = command("cache", "accept", PARTITION, *WHY, "--yes")
    assert said.code == 0, said.err
    assert f"Written to {project / OWN_FILE}; commit it." in said.out
    assert not (repository / FILE).exists()
    assert to_run(command) == set()
    (project / OWN_FILE).unlink()
    assert to_run(command) == changed


def test_it_asks(command: Command, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit_level(repository, "+ 0")
    monkeypatch.setattr("typer.confirm", lambda *words, **options: pytest.fail("asked"))
    with pytest.raises(pytest.fail.Exception, match="asked"):
        command("cache", "accept", PARTITION, CORPUS, *WHY)
    assert not (repository / FILE).exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((CORPUS, *WHY), "nothing to accept for merge-corpus-en-eo"),
        (("train-student-en-eo", *WHY), "nothing to accept for train-student-en-eo"),
        (("merge-corpse-en-eo", *WHY), "Did you mean merge-corpus-en-eo"),
        (WHY, f"nothing to accept for {PARTITION}"),
        ((CORPUS, "--reason", " "), "--reason is empty"),
    ],
)
def test_what_cannot_be_accepted(
    command: Command, repository: Path, words: tuple[str, ...], complaint: str
) -> None:
    said = command("cache", "accept", PARTITION, *words, "--yes")
    assert said.code == 1
    assert complaint in said.err
    assert not (repository / FILE).exists()


def test_a_reason_is_needed(command: Command) -> None:
    said = command("cache", "accept", PARTITION, CORPUS)
    assert said.code == 2
    assert "--reason" in said.err


def test_a_wrong_file_is_told(command: Command, repository: Path) -> None:
    (repository / FILE).write_text("- {script: x}\n")
    said = command("plan", PARTITION)
    assert said.code == 1
    assert f"{repository / FILE}, change 1" in said.err


@pytest.mark.slow
def test_an_artifact_whose_acceptance_was_deleted(command: Command, repository: Path) -> None:
    """Its key counted what is accepted no longer."""
    edit_level(repository, "+ 0")
    command("cache", "accept", PARTITION, CORPUS, *WHY, "--yes")
    shutil.rmtree(settings.state_folder() / "store")
    make("merge_corpus")  # the bundle is that of the code as it is, the key that of the code before
    (repository / FILE).unlink()
    edit_level(repository, "+ 1")
    said = command("cache", "accept", PARTITION, CORPUS, *WHY, "--yes")
    assert said.code == 1
    assert "nothing that could be accepted leads back to its key" in said.err
