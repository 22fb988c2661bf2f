"""Tests of what the merges share: verdicts on lines, in memory and through the disk."""

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.clean.merging import Dataset, Judgement, Policy, Verdict, judge
from pipeline.common.errors import InputError
from pipeline.common.text import normal_form
from tests.pipeline.clean.helpers import corpus

WORDS = st.sampled_from(["one", "two", " two", "three", "cafe\u0301", "café", "", "four"])
LISTS = st.lists(st.lists(WORDS, max_size=8), min_size=1, max_size=3)
SMALL_BUDGET = 64  # two records


def judged(
    folder: Path, texts: Sequence[Sequence[str]], held_out: set[str], known: Sequence[str], budget: int
) -> tuple[Judgement, list[Verdict]]:
    """The verdicts on lines of several data sets."""
    datasets = [Dataset(f"set-{n}", (corpus(folder / f"{n}.txt", lines),)) for n, lines in enumerate(texts)]
    policy = Policy(lambda row: row[0], ((Verdict.HELD_OUT, frozenset(held_out)),))
    judgement = judge(datasets, policy, folder, known, budget)
    return judgement, [Verdict(verdict) for verdict in judgement.verdicts()]


def expected_verdicts(lines: Sequence[str], held_out: set[str], known: Sequence[str]) -> list[Verdict]:
    """The same with plain sets."""
    verdicts, seen = [], set()
    for line in map(normal_form, lines):
        if not line:
            verdicts.append(Verdict.EMPTY)
        elif line in held_out:
            verdicts.append(Verdict.HELD_OUT)
        elif line in set(map(normal_form, known)):
            verdicts.append(Verdict.IN_PARALLEL)
        else:
            verdicts.append(Verdict.DUPLICATE if line in seen else Verdict.KEPT)
            seen.add(line)
    return verdicts


@pytest.mark.parametrize("budget", [SMALL_BUDGET, 1 << 20])
@given(LISTS, st.sets(st.sampled_from(["one", "café"])), st.lists(WORDS, max_size=3))
@settings(max_examples=40, deadline=None)
def test_verdicts_are_those_of_plain_sets(
    budget: int, texts: list[list[str]], held_out: set[str], known: list[str]
) -> None:
    expected = expected_verdicts([line for lines in texts for line in lines], held_out, known)
    with tempfile.TemporaryDirectory() as folder:
        if Verdict.KEPT not in expected:
            with pytest.raises(InputError, match="Merging left none"):
                judged(Path(folder), texts, held_out, known, budget)
            return
        judgement, verdicts = judged(Path(folder), texts, held_out, known, budget)
    assert verdicts == expected
    assert +judgement.counts == Counter(expected)


def test_scores_are_read_with_their_lines(tmp_path: Path) -> None:
    text, scores = corpus(tmp_path / "t", ["a", "b"]), corpus(tmp_path / "s", ["-1.5e-3", " 2 "])
    assert list(Dataset("x", (text,), scores).scored_rows()) == [(-0.0015, ("a",)), (2.0, ("b",))]


@pytest.mark.parametrize("score", ["high", "", "nan", "inf", "1,5"])
def test_a_score_that_is_no_number_names_file_and_line(tmp_path: Path, score: str) -> None:
    text, scores = corpus(tmp_path / "t", ["a", "b"]), corpus(tmp_path / "scores.txt", ["1", score])
    with pytest.raises(InputError, match=r"scores\.txt, line 2"):
        list(Dataset("x", (text,), scores).scored_rows())


def test_tabs_and_carriage_returns_become_spaces(tmp_path: Path) -> None:
    text = corpus(tmp_path / "t", ["a\tb\rc d"])
    assert list(Dataset("x", (text,)).rows()) == [("a b c d",)]
