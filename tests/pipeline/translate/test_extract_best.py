"""Tests of pipeline.translate.extract_best."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.chrf import CHRF

from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines
from pipeline.translate import extract_best
from pipeline.translate.extract_best import main, nearest
from pipeline.translate.nbest import parse_entry
from tests.pipeline.train.tiny import lines_of

NBEST = [
    "0 ||| the dog ||| F0= -0.03 ||| -0.0027",
    "0 ||| the cat ||| F0= -0.09 ||| -0.0127",
    "1 ||| a ||| b ||| F0= -1.5 ||| -0.5",
    "1 ||| a ||| c ||| F0= -1.6 ||| -0.6",
    "2 |||  ||| F0= -7.48994 ||| 0",
    "2 |||  ||| F0= -7.48994 ||| 0",
]
REFERENCES = ["the cat", "a ||| c", ""]


def extract(folder: Path, nbest: list[str], references: list[str]) -> list[str]:
    write_lines(folder / "nbest.zst", nbest)
    write_lines(folder / "ref.zst", references)
    files = ["--nbest", str(folder / "nbest.zst"), "--references", str(folder / "ref.zst")]
    main([*files, "--output", str(folder / "out")])
    return lines_of(folder / "out/best.zst")


def test_the_translation_nearest_to_the_reference_is_taken(tmp_path: Path) -> None:
    assert extract(tmp_path, NBEST, REFERENCES) == ["the cat", "a ||| c", ""]
    stats = json.loads((tmp_path / "out/stats.json").read_text())
    assert stats["lines"] == {"in": 3, "kept": 3, "dropped": {}}


def test_nothing_comes_of_nothing(tmp_path: Path) -> None:
    assert extract(tmp_path, [], []) == []


def test_among_equals_the_first_wins() -> None:
    assert nearest(["xy", "zw", "the cat", "the cat"], "qqq")[0] == "xy"
    assert nearest(["xy", "the  cat", "the cat"], "the cat")[0] == "the  cat"  # chrF leaves spaces out


def test_a_perfect_translation_has_chrf_100() -> None:
    assert nearest(["the dog", "the cat"], "the cat") == ("the cat", 100.0)


@given(st.lists(st.text("ab c.", max_size=12), min_size=1, max_size=4), st.text("ab c.", max_size=12))
def test_the_score_is_sacrebleus(translations: list[str], reference: str) -> None:
    scores = [CHRF().sentence_score(text, [reference]).score for text in translations]
    assert nearest(translations, reference) == (translations[scores.index(max(scores))], max(scores))


def test_processes_leave_the_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract_best, "BLOCK_SENTENCES", 2)
    monkeypatch.setenv("TRANSLATIONS_THREADS", "2")
    sentences = [f"number {number}" for number in range(9)]
    nbest = [
        f"{number} ||| {text} ||| F0= -1 ||| -1"
        for number, sentence in enumerate(sentences)
        for text in ("another", sentence)
    ]
    assert extract(tmp_path, nbest, sentences) == sentences
    assert json.loads((tmp_path / "out/stats.json").read_text())["mean-chrf"] == 100


@given(st.integers(0, 10**9), st.text(st.characters(blacklist_characters="\n", blacklist_categories=["Cs"])))
def test_entries_hold_any_text(number: int, text: str) -> None:
    assert parse_entry(f"{number} ||| {text} ||| F0= -0.5 ||| -0.25") == (number, text)


@pytest.mark.parametrize(
    ("nbest", "references", "message"),
    [
        (NBEST[:4], REFERENCES, "no translations of line 3"),
        (NBEST[2:], REFERENCES, "found sentence 1"),
        (NBEST, REFERENCES[:2], "goes on after the 2 lines"),
        ([*NBEST, "x"], REFERENCES, "line 7: not an n-best entry: 'x'"),
        (["0 ||| a ||| 0.5"], ["a"], "line 1: not an n-best entry"),
    ],
)
def test_lists_that_do_not_belong_to_the_references_are_refused(
    tmp_path: Path, nbest: list[str], references: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        extract(tmp_path, nbest, references)
    assert list((tmp_path / "out").iterdir()) == []
