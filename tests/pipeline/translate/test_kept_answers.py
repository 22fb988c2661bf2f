"""Answers are kept in sets as they come, and found again."""

import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.lines import write_lines
from pipeline.common.made_from import MadeFrom
from pipeline.translate import asking
from pipeline.translate.kept_answers import KeptAnswers, kept_answers

MADE_FROM = MadeFrom({}, {"--model": "tiny"})


def records(*numbers: int) -> list[dict[str, Any]]:
    return [{"lines": [number], "candidates": [[f"line {number}"]], "failed": ""} for number in numbers]


def kept(folder: Path) -> list[int]:
    return [record["lines"][0] for record in KeptAnswers(folder, MADE_FROM).records]


def test_each_record_is_there_once_it_was_added(tmp_path: Path) -> None:
    answers = KeptAnswers(tmp_path, MADE_FROM)
    for number in range(200):
        answers.add(records(number))
        assert [path.name for path in tmp_path.iterdir()] == [f"requests-{number + 1:012d}"]
        assert len([*next(tmp_path.iterdir()).glob("*.zst")]) <= 8
    assert kept(tmp_path) == [*range(200)]
    again = KeptAnswers(tmp_path, MADE_FROM)
    again.add(records(500, 501))
    assert kept(tmp_path) == [*range(200), 500, 501]
    assert len([*tmp_path.iterdir()]) == 1


@pytest.mark.parametrize("damage", ["torn", "gone", "short"])
def test_what_stands_before_a_damage_is_found(tmp_path: Path, damage: str) -> None:
    answers = KeptAnswers(tmp_path, MADE_FROM)
    answers.add(records(*range(8)))
    answers.add(records(8, 9))
    answers.add(records(10))
    files = sorted(next(tmp_path.iterdir()).glob("*.zst"))
    assert [path.name[7:12] for path in files] == ["00000", "00008", "00010"]
    if damage == "torn":
        files[1].write_bytes(files[1].read_bytes()[:-3])
    elif damage == "gone":
        files[1].unlink()
    else:
        write_lines(files[1], ['{"lines": [8], "candidates": [["line 8"]], "failed": ""}'])
    assert kept(tmp_path) == [*range(8)]
    again = KeptAnswers(tmp_path, MADE_FROM)
    again.add(records(20))
    assert kept(tmp_path) == [*range(8), 20]


@pytest.mark.parametrize("together", [1, 2])
@pytest.mark.parametrize("damage", ["empty", "another", "of nothing"])
def test_a_damaged_set_does_not_keep_a_later_one_from_its_name(
    tmp_path: Path, damage: str, together: int
) -> None:
    answers = KeptAnswers(tmp_path, MADE_FROM)
    for number in range(3):
        answers.add(records(number))
    kept_set = tmp_path / "requests-000000000003"
    files = sorted(kept_set.glob("*.zst"))
    assert [path.name for path in files] == ["000000000000-000000000002.zst", "000000000002-000000000003.zst"]
    if damage == "of nothing":
        (kept_set / "made-from.json").unlink()
    else:
        files[damage == "another"].write_bytes(b"")
    again = KeptAnswers(tmp_path, MADE_FROM)
    begin = len(again.records)
    for number in range(begin, begin + 4, together):
        again.add(records(*range(number, number + together)))
    assert kept(tmp_path) == [*range(begin + 4)]
    assert len([*tmp_path.iterdir()]) == 1


def test_a_damaged_set_is_removed_where_another_has_more(tmp_path: Path) -> None:
    answers = KeptAnswers(tmp_path, MADE_FROM)
    answers.add(records(*range(4)))
    shutil.copytree(tmp_path / "requests-000000000004", tmp_path / "kept")
    answers.add(records(4))
    (tmp_path / "kept").rename(tmp_path / "requests-000000000004")
    (tmp_path / "requests-000000000005" / "000000000000-000000000004.zst").write_bytes(b"")
    assert kept(tmp_path) == [0, 1, 2, 3]
    assert [path.name for path in tmp_path.iterdir()] == ["requests-000000000004"]


def test_sets_of_an_earlier_version_are_taken_and_those_of_another_input_refused(tmp_path: Path) -> None:
    """The earlier version did not tell the languages."""
    KeptAnswers(tmp_path, MADE_FROM).add(records(0))
    for_french, for_breton = (MadeFrom({}, {"--model": "tiny", "--trg": trg}) for trg in ("French", "Breton"))
    with pytest.raises(InputError, match="--trg is"):
        KeptAnswers(tmp_path, for_french)
    with pytest.raises(InputError, match="--trg is"):
        KeptAnswers(tmp_path, for_french, MadeFrom({}, {"--model": "other"}))
    again = KeptAnswers(tmp_path, for_french, MADE_FROM)
    again.add(records(1))
    assert [record["lines"] for record in again.records] == [[0], [1]]
    with pytest.raises(InputError, match='--trg is "Breton", and was "French"'):
        KeptAnswers(tmp_path, for_breton, MADE_FROM)


def test_a_script_that_is_told_to_stop_keeps_what_it_saves_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_CHECKPOINTS", str(tmp_path))

    def told_while_it_saves(made_from: MadeFrom, folder: Path) -> Path:
        signal.raise_signal(signal.SIGTERM)
        return write(made_from, folder)

    write = MadeFrom.write
    with kept_answers(tmp_path, MADE_FROM) as answers:
        monkeypatch.setattr(MadeFrom, "write", told_while_it_saves)
        with pytest.raises(TemporaryError, match="Stopped by SIGTERM"):
            answers.add(records(1, 2))
    monkeypatch.undo()
    assert kept(tmp_path) == [1, 2]


def test_another_attempt_asks_for_what_is_left() -> None:
    wanted = [0, 1, 3, 4, 5, 6, 7, 8]
    done = [
        {"lines": [0, 1], "candidates": [["A"], ["B"]], "failed": ""},
        {"lines": [3, 4, 5], "candidates": [["C"], [], []], "failed": "malformed"},
        {"lines": [4], "candidates": [[]], "failed": "malformed"},  # alone: that is its end
    ]
    assert [*asking.requests_of(wanted, done, 2)] == [(5,), (6, 7), (8,)]
