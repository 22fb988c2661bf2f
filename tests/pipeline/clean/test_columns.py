"""Tests of the first reading of the merges."""

from pathlib import Path

import pytest

from pipeline.clean.columns import Dataset, read_datasets, write_scores
from pipeline.clean.keys import keys_of
from pipeline.common.errors import InputError
from tests.pipeline.clean.helpers import corpus


def test_rows_have_the_keys_of_their_sides_and_their_scores(tmp_path: Path) -> None:
    src, trg = corpus(tmp_path / "s.zst", ["a", " b", "c"]), corpus(tmp_path / "t.gz", ["x", "y\u00a0y", "z"])
    scores = corpus(tmp_path / "scores.zst", ["-1.5e-3", " 2 ", "0"])
    unscored = Dataset("second", (trg, src))
    first, second = read_datasets([Dataset("first", (src, trg), scores), unscored], tmp_path)
    (part, rest) = first.stretches(2)
    assert (part[0][0] == keys_of([b"a", b"b"])).all()
    assert (part[0][1] == keys_of([b"x", b"y y"])).all()
    assert part[1].tolist() == [-0.0015, 2.0]
    assert rest[1].tolist() == [0.0]
    ((sides, scores_of_none),) = second.stretches(10)
    assert (sides[1] == keys_of([b"a", b"b", b"c"])).all()
    assert scores_of_none.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("score", ["high", "", "nan", "inf", "1,5", "\ufffd"])
def test_a_score_that_is_no_number_names_file_and_line(tmp_path: Path, score: str) -> None:
    scores = corpus(tmp_path / "scores.txt", ["1", score])
    with pytest.raises(InputError, match=r"scores\.txt, line 2"):
        write_scores(scores, tmp_path / "column")


def test_scores_that_are_too_few_are_refused(tmp_path: Path) -> None:
    text, scores = corpus(tmp_path / "t", ["a", "b"]), corpus(tmp_path / "s", ["1"])
    with pytest.raises(InputError, match="Unequal numbers of lines"):
        read_datasets([Dataset("x", (text,), scores)], tmp_path)
