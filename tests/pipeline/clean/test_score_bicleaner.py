"""Scoring a parallel corpus with Bicleaner-AI: a stand-in for the program, and the program itself.

The latter needs an environment of requirements/bicleaner.lock, whose interpreter BICLEANER_PYTHON names.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from pipeline.clean import score_bicleaner
from pipeline.common import finished
from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.script import EX_TEMPFAIL
from tests.environments import kept
from tests.pipeline.clean.helpers import corpus, files_of, read, stats_of
from tests.pipeline.clean.stand_in import calls, expected, make_environment, use_environment

SOURCE = [f"sentence number {number}" for number in range(23)]
TARGET = [f"frazo numero {number}" for number in range(23)]


class Case(NamedTuple):
    """The files of a corpus and a model, and where the result goes."""

    folder: Path
    lock: Path

    def arguments(self, name: str = "out", src: str = "en", trg: str = "eo") -> list[str]:
        files = {
            "--corpus-src": self.folder / "corpus.src.zst",
            "--corpus-trg": self.folder / "corpus.trg.zst",
            "--model": self.folder / "model",
            "--bicleaner-lock": self.lock,
            "--output": self.folder / name,
        }
        options = [str(word) for pair in files.items() for word in pair]
        return ["--src", src, "--trg", trg, *options]

    def scores(self, name: str = "out", src: str = "en", trg: str = "eo") -> list[str]:
        score_bicleaner.main(self.arguments(name, src, trg))
        return read(self.folder / name / "scores.zst")


def write_corpus(folder: Path, source: list[str], target: list[str]) -> None:
    corpus(folder / "corpus.src.zst", source)
    corpus(folder / "corpus.trg.zst", target)
    (folder / "model").mkdir(exist_ok=True)
    (folder / "model" / "metadata.yaml").write_text("source_lang: en\ntarget_lang: xx\n")


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    write_corpus(tmp_path, SOURCE, TARGET)
    return Case(tmp_path, use_environment(tmp_path, "bicleaner-ai-classify", monkeypatch))


def test_every_pair_has_its_score(case: Case) -> None:
    assert case.scores() == list(map(expected, SOURCE, TARGET))
    stats = stats_of(case.folder / "out")
    assert stats["lines"] == {"in": 23, "kept": 23, "dropped": {}}
    assert sum(stats["scores"].values()) == 23
    assert stats["scores"]["0.3"] == sum(
        expected(*p).startswith("0.3") for p in zip(SOURCE, TARGET, strict=True)
    )
    assert stats["mean"] == pytest.approx(
        sum(float(expected(*p)) for p in zip(SOURCE, TARGET, strict=True)) / 23, abs=1e-4
    )
    assert sorted(files_of(case.folder / "out")) == ["scores.zst", "stats.json"]


@pytest.mark.parametrize("rows", [1, 5, 23, 1000])
def test_the_bytes_do_not_depend_on_the_size_of_blocks(
    case: Case, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    case.scores("whole")
    monkeypatch.setattr(score_bicleaner, "PAIRS", rows)
    case.scores("blocks")
    assert len(calls()) == 1 + -(-23 // rows)
    assert files_of(case.folder / "blocks") == files_of(case.folder / "whole")


def test_white_space_parts_no_columns_and_no_lines(case: Case) -> None:
    write_corpus(case.folder, ["a\tb", "c\rd", "", "x"], ["e", "f\tg", "h", "  "])
    assert case.scores() == [expected("a b", "e"), expected("c d", "f g"), "0", "0"]


def test_columns_are_swapped_where_the_models_source_is_the_target(case: Case) -> None:
    assert case.scores("there", "en", "eo") == list(map(expected, SOURCE, TARGET))
    assert case.scores("back", "eo", "en") == list(map(expected, TARGET, SOURCE))


def test_on_the_cpu_no_gpu_is_asked_for(case: Case) -> None:
    case.scores()
    (call,) = calls()
    assert call["devices"] == ""
    assert not {"--require_gpu", "--fp16"} & set(call["argv"])
    assert call["argv"][-1] == str(case.folder / "model" / "metadata.yaml")


def test_each_gpu_has_a_process(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("TRANSLATIONS_GPUS", "0 3")
    monkeypatch.setattr(score_bicleaner, "PAIRS", 1)  # twenty of them are a block
    assert case.scores() == list(map(expected, SOURCE, TARGET))
    both = sorted(calls(), key=lambda call: len(call["lines"]), reverse=True)
    assert [(call["devices"], len(call["lines"])) for call in both] == [("0", 20), ("3", 3)]
    assert all({"--require_gpu", "--fp16"} <= set(call["argv"]) for call in both)


def test_a_process_takes_the_gpu_that_the_worker_was_given(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,MIG-a3b1-02")
    monkeypatch.setenv("TRANSLATIONS_GPUS", "0 1")
    monkeypatch.setattr(score_bicleaner, "PAIRS", 1)
    case.scores()
    both = sorted(calls(), key=lambda call: len(call["lines"]), reverse=True)
    assert [call["devices"] for call in both] == ["2", "MIG-a3b1-02"]


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ("exit 1", InputError, "bicleaner-ai-classify ended with 1: the program's last words"),
        ("exit 75", TemporaryError, "ended with 75"),
        ("killed", TemporaryError, "ended with -9"),
        ("a line is left out", InputError, "scored 22 of 23 lines"),
        ("words", InputError, "'no score', which is no score from 0 to 1"),
    ],
)
def test_a_program_that_fails(
    case: Case, monkeypatch: pytest.MonkeyPatch, wrong: str, error: type[Exception], says: str
) -> None:
    monkeypatch.setenv("STAND_IN_WRONG", wrong)
    with pytest.raises(error, match=says):
        case.scores()
    assert list((case.folder / "out").iterdir()) == []


def test_sides_of_unequal_length(case: Case) -> None:
    corpus(case.folder / "corpus.trg.zst", TARGET[:-1])
    with pytest.raises(InputError, match="Unequal numbers of lines"):
        case.scores()


def test_an_empty_corpus(case: Case) -> None:
    write_corpus(case.folder, [], [])
    with pytest.raises(InputError, match="The text is empty"):
        case.scores()


def test_a_script_that_is_asked_to_stop_goes_on_where_it_was(tmp_path: Path) -> None:
    """Ended during the third block of five; the next attempt gives the first two to nobody."""
    write_corpus(tmp_path, SOURCE, TARGET)
    lock, variables = make_environment(tmp_path, "bicleaner-ai-classify")
    case = Case(tmp_path, lock)
    code = (
        "from pipeline.clean import score_bicleaner as s; s.PAIRS = 5; from pipeline.common.script import run"
    )
    command = [sys.executable, "-c", f"{code}; run(s.main)"]
    environment = {**os.environ, **variables, "TRANSLATIONS_CHECKPOINTS": str(tmp_path / "checkpoints")}
    waiting = {**environment, "STAND_IN_WRONG": "wait for number 12"}
    with subprocess.Popen([*command, *case.arguments("first")], env=waiting, stderr=subprocess.PIPE) as first:
        until(lambda: len(lines_given(tmp_path)) == 3)
        first.send_signal(signal.SIGTERM)
        assert first.stderr is not None
        said = first.stderr.read().decode()
    assert first.returncode == EX_TEMPFAIL, said
    assert "Stopped by SIGTERM" in said
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["rows-000000000010"]
    assert list((tmp_path / "first").iterdir()) == []
    subprocess.run([*command, *case.arguments("second")], env=environment, check=True, capture_output=True)
    assert [len(lines) for lines in lines_given(tmp_path)] == [5, 5, 5, 5, 5, 3]
    assert lines_given(tmp_path)[3][0].startswith("sentence number 10\t")
    assert read(tmp_path / "second" / "scores.zst") == list(map(expected, SOURCE, TARGET))


def lines_given(folder: Path) -> list[list[str]]:
    """The lines that each call of the stand-in was given."""
    path = folder / "calls"
    return [json.loads(line)["lines"] for line in path.read_text().splitlines()] if path.exists() else []


def until(done: "object") -> None:
    """Wait until a function says that it is so, for a minute at most."""
    assert callable(done)
    for _ in range(600):
        if done():
            return
        time.sleep(0.1)
    pytest.fail("waited for a minute")


def test_of_damaged_sets_what_is_whole_is_used(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = case.folder / "checkpoints"
    monkeypatch.setenv("TRANSLATIONS_CHECKPOINTS", str(kept))
    monkeypatch.setattr(score_bicleaner, "PAIRS", 5)
    monkeypatch.setattr(finished, "SAVE_SECONDS", 0.0)
    whole = case.scores("first")
    names = [f"rows-{rows:012d}" for rows in (5, 10, 15, 20, 23)]
    assert sorted(path.name for path in kept.iterdir()) == names
    torn = kept / names[4] / "000000000015-000000000020.zst"
    torn.unlink()  # the set before has the same file
    torn.write_bytes(b"torn")
    (kept / names[3] / "000000000005-000000000010.zst").unlink()
    before = len(calls())
    assert case.scores("second") == whole
    assert [len(call["lines"]) for call in calls()[before:]] == [5, 3]
    assert sorted(path.name for path in kept.iterdir()) == names
    assert files_of(case.folder / "second") == files_of(case.folder / "first")


def tiny_model(python: Path) -> Path:
    """A model with random weights, made once by each environment's interpreter."""
    maker = Path(__file__).with_name("tiny_bicleaner.py")
    legacy = {**os.environ, "TF_USE_LEGACY_KERAS": "1", "PYTHONPATH": ""}

    def make(folder: Path) -> None:
        subprocess.run([python, maker, folder], env=legacy, check=True, capture_output=True)

    return kept("bicleaner-model", str(python).encode() + maker.read_bytes(), make)


@pytest.mark.slow
@pytest.mark.skipif(
    "BICLEANER_PYTHON" not in os.environ,
    reason="BICLEANER_PYTHON names no interpreter of an environment with Bicleaner-AI",
)
def test_the_program_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model with random weights: scores differ between pairs and directions, not between blocks."""
    python = Path(os.environ["BICLEANER_PYTHON"])
    chance = random.Random(1)
    source, target = [["".join(chance.choices("abcdefgh ", k=30)) for _ in range(12)] for _ in range(2)]
    write_corpus(tmp_path, source + target, target + source)
    shutil.rmtree(tmp_path / "model")
    (tmp_path / "model").symlink_to(tiny_model(python), target_is_directory=True)
    monkeypatch.setattr(score_bicleaner, "interpreter", lambda lock: python)
    case = Case(tmp_path, Path("requirements/bicleaner.lock"))
    there = case.scores("there")
    assert len(there) == 24
    assert there[:12] != there[12:]  # the same pairs, whose sides are exchanged
    assert len(set(there)) > 5
    corpus(tmp_path / "corpus.src.zst", target[:7])
    corpus(tmp_path / "corpus.trg.zst", source[:7])
    assert case.scores("back", "eo", "en") == there[:7]  # as a block of their own
