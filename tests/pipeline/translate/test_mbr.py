"""Tests of pipeline.translate.mbr and of the chrF by which it chooses."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.chrf import CHRF

from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines
from pipeline.translate.chrf import Matrix, pairwise_chrf
from pipeline.translate.mbr import choose, main
from tests.pipeline.train.tiny import lines_of

NBEST = [
    "0 ||| the dog ||| F0= -0.03 ||| -0.0027",
    "0 ||| the cat sat ||| F0= -0.09 ||| -0.0127",
    "0 ||| the cat sits ||| F0= -0.2 ||| -0.0227",
    "1 ||| a ||| b ||| F0= -1.5 ||| -0.5",
    "2 |||  ||| F0= -7.48994 ||| 0",
    "2 |||  ||| F0= -7.48994 ||| 0",
]
TEXTS = st.lists(st.text("ab c.ñ猫\u00a0", max_size=14), min_size=1, max_size=6)


def best(folder: Path, nbest: list[str], lines: int = 3) -> list[str]:
    write_lines(folder / "nbest.zst", nbest)
    write_lines(folder / "text.zst", ["line"] * lines)
    files = ["--nbest", str(folder / "nbest.zst"), "--text", str(folder / "text.zst")]
    main([*files, "--output", str(folder / "out")])
    return lines_of(folder / "out/best.zst")


def test_the_translation_that_is_nearest_to_the_others_is_taken(tmp_path: Path) -> None:
    assert best(tmp_path, NBEST) == ["the cat sits", "a ||| b", ""]
    stats = json.loads((tmp_path / "out/stats.json").read_text())
    assert stats["lines"] == {"in": 3, "kept": 3, "dropped": {}}
    assert stats["not-the-likeliest"] == 1
    means = [choose(["the dog", "the cat sat", "the cat sits"])[1], 100.0, 0.0]
    assert stats["mean-chrf"] == round(sum(means) / 3, 4)


def test_nothing_comes_of_nothing(tmp_path: Path) -> None:
    assert best(tmp_path, [], 0) == []


def test_among_equals_the_first_wins() -> None:
    assert choose(["xy", "zw"])[0] == 0
    assert choose(["zw", "the  cat", "the cat", "the cat"])[0] == 1  # chrF leaves spaces out


@pytest.mark.parametrize(
    ("nbest", "said"),
    [
        (NBEST[:4], "2 lines were made of .*, which wants 3"),
        ([*NBEST, "3 ||| a ||| F0= -1 ||| -1"], "4 lines were made of .*, which wants 3"),
        ([NBEST[0], NBEST[4]], "sentence 2 after 1 sentences"),
        ([NBEST[3]], "sentence 1 after 0 sentences"),
        ([NBEST[0], "no entry"], "line 2: not an n-best entry: 'no entry'"),
    ],
)
def test_lists_that_are_not_those_of_a_text(tmp_path: Path, nbest: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        best(tmp_path, nbest)
    assert not (tmp_path / "out/best.zst").exists()


def by_sacrebleu(texts: list[str]) -> Matrix:
    chrf = CHRF()
    return np.array([[chrf.sentence_score(text, [other]).score for other in texts] for text in texts])


@given(TEXTS)
def test_the_scores_are_sacrebleus(texts: list[str]) -> None:
    assert np.array_equal(pairwise_chrf(texts), by_sacrebleu(texts))


def test_letters_of_many_alphabets_and_words_that_are_repeated() -> None:
    letters = "".join(map(chr, range(0x4E00, 0x4E00 + 1500)))
    texts = [letters, letters[::-1], "la " * 300, "la" * 299 + "l", "𝒳 \ud800 x", ""]
    assert np.array_equal(pairwise_chrf(texts), by_sacrebleu(texts))
