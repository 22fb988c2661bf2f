"""Variants of test sets, as OpusTrainer's modifiers make them."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines
from pipeline.data.augment import main
from tests.pipeline.data.conftest import Written

SRC = ["Did the girl buy the ñandú house?", "The quick brown fox jumps over it.", "", "Wait...", "No end"]
TRG = ["Ĉu la knabino aĉetis la domon?", "La rapida vulpo saltas!", "", "Atendu...", "Sen fino"]
Augment = Callable[..., Written]


@pytest.fixture
def augment(tmp_path: Path) -> Augment:
    write_lines(tmp_path / "src.zst", SRC)
    write_lines(tmp_path / "trg.gz", TRG)

    def run(modifier: str, name: str = "out", trg: str = "trg.gz") -> Written:
        output = tmp_path / "work" / name
        files = ["--corpus-src", str(tmp_path / "src.zst"), "--corpus-trg", str(tmp_path / trg)]
        main(["--modifier", modifier, "--src", "en", "--trg", "eo", *files, "--output", str(output)])
        return Written(output)

    return run


def test_upper(augment: Augment) -> None:
    written = augment("upper")
    assert written.lines("corpus.en.zst") == [line.upper() for line in SRC]
    assert written.lines("corpus.eo.zst") == [line.upper() for line in TRG]
    assert written.stats["changed"] == 4
    assert written.stats["lines"] == {"in": 5, "kept": 5, "dropped": {}}


def test_title(augment: Augment) -> None:
    written = augment("title")
    assert written.lines("corpus.en.zst")[0] == "Did The Girl Buy The Ñandú House?"
    assert written.lines("corpus.eo.zst")[0] == "Ĉu La Knabino Aĉetis La Domon?"


def test_punct_drops_only_what_both_sides_end_with(augment: Augment) -> None:
    written = augment("punct")
    assert written.lines("corpus.en.zst") == [SRC[0].rstrip("?"), *SRC[1:]]
    assert written.lines("corpus.eo.zst") == [TRG[0].rstrip("?"), *TRG[1:]]
    assert written.stats["changed"] == 1


def test_typos_change_the_source_only(augment: Augment) -> None:
    written = augment("typos")
    assert written.lines("corpus.eo.zst") == TRG
    changed = written.lines("corpus.en.zst")
    assert changed[2] == ""
    for before, after in zip(SRC[:2], changed[:2], strict=True):
        assert before != after
        assert abs(len(before) - len(after)) <= 4
    assert written.stats["changed"] >= 2


def test_typos_are_drawn_anew_for_each_line(augment: Augment, tmp_path: Path) -> None:
    write_lines(tmp_path / "src.zst", ["The quick brown fox jumps over it."] * 5)
    assert len(set(augment("typos").lines("corpus.en.zst"))) > 2


@pytest.mark.parametrize("modifier", ["upper", "title", "typos", "punct"])
def test_two_runs_give_the_same_bytes(modifier: str, augment: Augment) -> None:
    first, second = augment(modifier, "a"), augment(modifier, "b")
    for name in first.files:
        assert (first.output / name).read_bytes() == (second.output / name).read_bytes()


def test_typos_do_not_depend_on_the_hash_seed(tmp_path: Path, augment: Augment) -> None:
    expected = augment("typos").lines("corpus.en.zst")
    output = tmp_path / "other" / "out"
    files = ["--corpus-src", str(tmp_path / "src.zst"), "--corpus-trg", str(tmp_path / "trg.gz")]
    options = ["--modifier", "typos", "--src", "en", "--trg", "eo", *files, "--output", str(output)]
    command = [sys.executable, "-m", "pipeline.data.augment", *options]
    subprocess.run(command, check=True, timeout=120, env=os.environ | {"PYTHONHASHSEED": "42"})
    assert Written(output).lines("corpus.en.zst") == expected


def test_unequal_sides(augment: Augment, tmp_path: Path) -> None:
    write_lines(tmp_path / "short.txt", TRG[:3])
    with pytest.raises(InputError, match=r"short\.txt ends after 3 lines"):
        augment("upper", trg="short.txt")
    assert list((tmp_path / "work" / "out").iterdir()) == []


def test_an_empty_corpus(augment: Augment, tmp_path: Path) -> None:
    write_lines(tmp_path / "src.zst", [])
    write_lines(tmp_path / "trg.gz", [])
    with pytest.raises(InputError, match="empty"):
        augment("upper")


def test_an_unknown_modifier(augment: Augment, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        augment("lower")
    assert "invalid choice: 'lower'" in capsys.readouterr().err
