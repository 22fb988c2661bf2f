"""Tests of what the merges share: verdicts on rows, in memory and through the disk."""

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.clean import merging
from pipeline.clean.columns import Dataset
from pipeline.clean.held_out import HeldOut
from pipeline.clean.merging import Judgement, Policy, Verdict, judge, last_side
from pipeline.clean.tasks import PROCESS_MB
from pipeline.common.errors import InputError
from pipeline.common.external import BYTES_A_RECORD
from pipeline.common.text import normal_form
from tests.pipeline.clean.helpers import corpus

FIVE = "the café is far away"
WORDS = st.sampled_from(
    ["one", "two", " two", "Two!", FIVE, FIVE.replace("é", "e\u0301"), f"{FIVE.capitalize()}!", "", "four"]
)
LISTS = st.lists(st.lists(WORDS, max_size=8), min_size=1, max_size=3)


def judged(
    folder: Path, texts: Sequence[Sequence[str]], held_out: set[str], known: Sequence[str], near: bool
) -> tuple[Judgement, list[Verdict]]:
    """The verdicts on lines of several data sets."""
    datasets = [Dataset(f"set-{n}", (corpus(folder / f"{n}.txt", lines),)) for n, lines in enumerate(texts)]
    files = corpus(folder / "held-out", sorted(held_out)), corpus(folder / "known", known)
    policy = Policy(last_side, HeldOut(("en",), (files[:1],)), known=files[1], near=near)
    judgement = judge(datasets, policy, folder)
    return judgement, list(map(Verdict, judgement.verdicts.tolist()))


def letters(line: str) -> str:
    """Key that near-duplicates among the words share."""
    return normal_form(line).lower().removesuffix("!")


def expected_verdicts(
    lines: Sequence[str], held_out: set[str], known: Sequence[str], form: Callable[[str], str]
) -> list[Verdict]:
    """The same with plain sets."""
    verdicts, seen = [], set()
    for line in map(form, lines):
        if not line:
            verdicts.append(Verdict.EMPTY)
        elif line in {form(known) for known in held_out if len(known.split()) >= 5}:
            verdicts.append(Verdict.HELD_OUT)
        elif line in set(map(form, known)):
            verdicts.append(Verdict.IN_PARALLEL)
        else:
            verdicts.append(Verdict.DUPLICATE if line in seen else Verdict.KEPT)
            seen.add(line)
    return verdicts


@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize("limit", [4, 1_000])
@given(LISTS, st.sets(st.sampled_from(["one", "four", FIVE])), st.lists(WORDS, max_size=6))
@settings(max_examples=40, deadline=None)
def test_verdicts_are_those_of_plain_sets(
    limit: int, near: bool, texts: list[list[str]], held_out: set[str], known: list[str]
) -> None:
    lines = [line for text in texts for line in text]
    expected = expected_verdicts(lines, held_out, known, letters if near else normal_form)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "_record_limit", lambda: limit)
        patch.setattr(merging, "STRETCH", limit - 1)
        if Verdict.KEPT not in expected:
            with pytest.raises(InputError, match="Merging left none"):
                judged(Path(folder), texts, held_out, known, near)
            return
        judgement, verdicts = judged(Path(folder), texts, held_out, known, near)
        counts = judgement.counts()
    assert verdicts == expected
    assert sum(counts, Counter[Verdict]()) == Counter(expected)
    assert [counted.total() for counted in counts] == list(map(len, texts))


def test_of_two_held_out_lines_the_sources_is_told(tmp_path: Path) -> None:
    held = "a dog ran to the gate"
    texts = corpus(tmp_path / "src", [FIVE, "x", FIVE, "x"]), corpus(tmp_path / "trg", ["y", held, held, "y"])
    tests = corpus(tmp_path / "s", [FIVE]), corpus(tmp_path / "t", [held])
    policy = Policy(last_side, HeldOut(("en", "en"), (tests[:1], tests[1:])))
    judgement = judge([Dataset("set", texts)], policy, tmp_path)
    source, target = Verdict.HELD_OUT_SRC, Verdict.HELD_OUT_TRG
    assert judgement.verdicts.tolist() == [source, target, source, Verdict.KEPT]


def test_records_fill_three_quarters_of_the_memory_in_mb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_MEMORY", "9000")
    bytes_of_all = merging._record_limit() * BYTES_A_RECORD
    assert 0 <= 0.75 * (9_000 - PROCESS_MB) * 10**6 - bytes_of_all < BYTES_A_RECORD
