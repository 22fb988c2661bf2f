"""Tests of people's mistakes: one clear message, exit code 1, no traceback."""

import io
from pathlib import Path

import pytest

from tests.cli.conftest import Command, make
from tests.end_to_end.tiny import PARTITION, Place


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plan", "en-eo.tyni"], "there is no training config 'en-eo.tyni'"),
        (["plan", "en-eo.tyni"], "Did you mean 'en-eo.tiny'?"),
        (["plan", "gone.yml"], "gone.yml: there is no such file"),
        (["plan", PARTITION, "--target", "train_studnt"], "'train_studnt' is not a stage"),
        (["plan", PARTITION, "--start", "nothing"], "'nothing' is not a stage"),
        (["graph", PARTITION, "--target", "nothing"], "'nothing' is not a stage"),
        (["train", PARTITION, "--target", "nothing"], "'nothing' is not a stage"),
        (["logs", PARTITION, "nothing"], f"To list the labels: translations graph {PARTITION}"),
        (["artifacts", PARTITION, "train-vocab"], "Did you mean train-vocab-en-eo or"),
        (["logs", PARTITION, "train-vocab-en-eo"], "has not begun: input from merge-corpus-en-eo"),
        (["artifacts", PARTITION, "train-vocab-en-eo"], "--target train_vocab"),
        (["artifacts", PARTITION, "--download", "here"], "Name the step whose files to download"),
        (["results", PARTITION], "not made: no model of en-eo.tiny is evaluated yet"),
        (["translate", PARTITION], f"translations train {PARTITION} --target quantize"),
        (["translate", PARTITION, "--model", "backwards"], "--target train_backwards"),
    ],
)
def test_one_message(command: Command, words: list[str], message: str) -> None:
    said = command(*words)
    assert said.code == 1
    assert said.err.startswith("error: ")
    assert message in said.err
    assert "Traceback" not in said.err
    assert said.out == ""


@pytest.mark.parametrize("verb", ["graph", "plan", "train", "status", "artifacts", "results", "translate"])
def test_a_broken_config_is_named_with_its_line(command: Command, place: Place, verb: str) -> None:
    path = place.root / "configs" / "en-eo.broken.yml"
    path.write_text("experiment:\n  nme: x\n")
    said = command(verb, "en-eo.broken")
    assert said.code == 1
    assert f"{path}:2" in said.err
    assert "nme" in said.err


def test_a_space_that_cannot_be_one(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_SPACE", "Not A Space")
    said = command("results", PARTITION)
    assert said.code == 1
    assert said.err.startswith("error: 'Not A Space', from TRANSLATIONS_SPACE")


def test_a_store_that_cannot_be_written(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("not a folder")
    monkeypatch.setenv("TRANSLATIONS_STORE", str(file))
    said = command("plan", PARTITION)
    assert said.code == 1
    assert said.err.startswith("error: ")
    assert str(file) in said.err


READS = [
    *(["status"], ["status", "1234abcd"], ["status", PARTITION], ["logs", PARTITION, "merge-corpus-en-eo"]),
    *(["results", PARTITION], ["checks", PARTITION], ["artifacts", PARTITION], ["translate", PARTITION]),
    ["report", PARTITION],
    *(["explain", PARTITION, "merge-corpus-en-eo"], ["cancel", PARTITION], ["rerun", "1234abcd"]),
    *(["cache", "pins"], ["cache", "verify"], ["cache", "gc"]),
]


@pytest.mark.parametrize("words", READS, ids=" ".join)
def test_a_mistyped_store_is_no_store(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setenv("TRANSLATIONS_STORE", str(tmp_path / "stroe"))
    said = command(*words)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(
        f"error: There is no store {tmp_path / 'stroe'}. Is TRANSLATIONS_STORE spelled"
    )
    assert not (tmp_path / "stroe").exists()


def test_a_first_store_is_told_before_it_is_made(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_STORE", str(tmp_path / "new"))
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    for words in (["plan", PARTITION], ["plan", "--all"], ["train", PARTITION]):
        said = command(*words)
        assert said.err.startswith(f"note: There is no store {tmp_path / 'new'} yet: nothing is cached, and")
        assert not (tmp_path / "new").exists()
    make("merge_devset")
    assert "There is no store" not in command("plan", PARTITION).err
    assert command("status").code == 0
