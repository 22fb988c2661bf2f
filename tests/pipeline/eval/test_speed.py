"""How fast the exported model is said to be, by an engine and a clock that stand in."""

import json
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipeline.common.lines import write_lines
from pipeline.eval import exported, final, systems

SENTENCES = ["我们今天去看了电影。", "我们今天去。"]  # 16 characters


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that gives each sentence back, and takes two seconds for all."""
    monkeypatch.setattr(exported, "load_engine", lambda files: SimpleNamespace(translate=str))
    clock = count(0, 2)
    monkeypatch.setattr(exported, "time", SimpleNamespace(perf_counter=lambda: next(clock)))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The folder of a model in Firefox's form."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.zhen.intgemm.alphas.bin").write_bytes(b"weights")
    return tmp_path / "model"


@pytest.mark.parametrize(("unspaced", "speed"), [(False, 1.0), (True, 4.0)])
def test_words_without_spaces_have_two_characters(
    model: Path, tmp_path: Path, unspaced: bool, speed: float
) -> None:
    write_lines(tmp_path / "text", SENTENCES)
    translated = systems.translate(model, tmp_path / "text", tmp_path, unspaced)
    assert translated.lines == SENTENCES
    assert translated.speed["words_per_second"] == speed
    _, alone = exported.translate([*model.iterdir()], SENTENCES, unspaced)
    assert alone["words_per_second"] == speed


def test_the_scripts_are_told_of_such_languages(model: Path, tmp_path: Path) -> None:
    write_lines(tmp_path / "text", SENTENCES)
    write_lines(tmp_path / "references", ["We went.", "We go."])
    about = ["--trg", "en", "--src-unspaced", "--dataset", "news"]
    corpus = ["--corpus-src", str(tmp_path / "text"), "--corpus-trg", str(tmp_path / "references")]
    folder, files = str(model), map(str, model.iterdir())
    exported.main(["--exported", *files, *about, *corpus, "--output", str(tmp_path / "exported")])
    named = ["--name", "spring", "--results", "zh-en__news"]
    final.main(["--model", folder, *named, *about, *corpus, "--output", str(tmp_path / "final")])
    for name in ("exported", "final"):
        assert json.loads((tmp_path / name / "metrics.json").read_text())["speed"]["words_per_second"] == 4.0
