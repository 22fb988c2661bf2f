"""The mechanics that the merges share: judge every line in a first pass, write the good ones in a second.

Between the passes stands one byte a line on disk, the verdict. Duplicates are found over 128-bit hashes of
normal forms, in memory up to a budget, else partitioned on disk. Memory grows with the held-out sets alone.
"""

import logging
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import chain, count
from pathlib import Path
from typing import TypeAlias

import numpy as np

from pipeline.common.errors import InputError
from pipeline.common.external import BUDGET, KeyedRecords, Records, best_of_each_key, text_key
from pipeline.common.lines import zip_lines
from pipeline.common.text import normal_form

logger = logging.getLogger(__name__)

Row = tuple[str, ...]
Verdicts: TypeAlias = "np.memmap[tuple[int], np.dtype[np.uint8]]"


class Verdict(IntEnum):
    """What becomes of a line; all but the first are reasons to drop it."""

    KEPT = 0
    EMPTY = 1
    HELD_OUT_SRC = 2
    HELD_OUT_TRG = 3
    HELD_OUT = 4
    IN_PARALLEL = 5
    DUPLICATE = 6
    SAMPLED_OUT = 7

    @property
    def reason(self) -> str:
        """Its name in stats.json."""
        return self.name.lower()


KNOWN = -1  # line number of texts that belong to another corpus


@dataclass(frozen=True)
class Dataset:
    """One or two parallel files of text, and perhaps a file with a score a line."""

    name: str
    files: tuple[Path, ...]
    scores: Path | None = None

    def rows(self) -> Iterator[Row]:
        """The lines, side by side, with tabs and carriage returns made spaces (they part columns later)."""
        for row in zip_lines(*self.files):
            yield tuple(line.replace("\t", " ").replace("\r", " ") for line in row)

    def scored_rows(self) -> Iterator[tuple[float, Row]]:
        """The rows with their scores, 0 without a score file."""
        if self.scores is None:
            yield from ((0.0, row) for row in self.rows())
            return
        files = replace(self, files=(*self.files, self.scores))
        for number, (*row, score) in enumerate(files.rows(), start=1):
            yield _parse_score(score, self.scores, number), tuple(row)


def _parse_score(text: str, path: Path, number: int) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise InputError(
            f"{path}, line {number}: {text[:40]!r} is not a number. A score file has one a line."
        )
    return score


@dataclass(frozen=True)
class Policy:
    """What makes two rows the same, and which lines are held out, per side, with the verdict for each."""

    key: Callable[[Row], str]  # of a row in normal form
    held_out: tuple[tuple[Verdict, frozenset[str]], ...]

    def verdict(self, normal: Row) -> Verdict:
        """KEPT unless the row, given in normal form, is empty or held out."""
        if not all(normal):
            return Verdict.EMPTY
        for side, (verdict, lines) in zip(normal, self.held_out, strict=True):
            if side in lines:
                return verdict
        return Verdict.KEPT


@dataclass(frozen=True)
class Judgement:
    """The verdicts on all lines of all data sets, in order, one byte each."""

    path: Path
    counts: Counter[Verdict]
    characters: int  # of the rows kept, both sides, duplicates included

    @property
    def kept(self) -> int:
        """Number of lines to keep."""
        return self.counts[Verdict.KEPT]

    def verdicts(self) -> Iterator[int]:
        """The verdict on each line."""
        with self.path.open("rb") as file:
            while block := file.read(1 << 20):
                yield from block


def judge(
    datasets: Sequence[Dataset],
    policy: Policy,
    scratch: Path,
    known: Iterable[str] = (),
    budget: int = BUDGET,
) -> Judgement:
    """Read all lines once and say which to keep: of each key the best score, then the first in order.

    A row whose key is among the texts of `known` is dropped as `in_parallel`. Raises InputError when
    nothing is left.
    """
    records = KeyedRecords(scratch, budget)
    for text in known:
        records.add(text_key(normal_form(text)), math.inf, KNOWN)
    judgement = _first_pass(datasets, policy, records, scratch / "verdicts")
    if judgement.kept:
        verdicts = np.memmap(judgement.path, dtype=np.uint8, mode="r+")
        for group in records.groups():
            _mark_duplicates(group, verdicts, judgement.counts)
        verdicts.flush()
    _refuse_empty(judgement, datasets)
    return judgement


def _first_pass(datasets: Sequence[Dataset], policy: Policy, records: KeyedRecords, path: Path) -> Judgement:
    counts: Counter[Verdict] = Counter()
    characters = 0
    numbers = count()
    with path.open("wb") as file:
        for score, row in chain.from_iterable(dataset.scored_rows() for dataset in datasets):
            number = next(numbers)
            normal = tuple(map(normal_form, row))
            verdict = policy.verdict(normal)
            counts[verdict] += 1
            file.write(verdict.to_bytes(1, "big"))
            if verdict == Verdict.KEPT:
                records.add(text_key(policy.key(normal)), score, number)
                characters += sum(map(len, row))
    return Judgement(path, counts, characters)


def _mark_duplicates(records: Records, verdicts: Verdicts, counts: Counter[Verdict]) -> None:
    lines, winners = best_of_each_key(records)
    for verdict, losers in (
        (Verdict.IN_PARALLEL, lines[(winners == KNOWN) & (lines != KNOWN)]),
        (Verdict.DUPLICATE, lines[(winners != KNOWN) & (lines != winners)]),
    ):
        verdicts[losers] = verdict
        counts[verdict] += len(losers)
        counts[Verdict.KEPT] -= len(losers)


def _refuse_empty(judgement: Judgement, datasets: Sequence[Dataset]) -> None:
    if judgement.kept:
        return
    total = judgement.counts.total()
    reasons = ", ".join(f"{verdict.reason} {n:,}" for verdict, n in judgement.counts.most_common() if n)
    names = ", ".join(dataset.name for dataset in datasets)
    raise InputError(
        f"Merging left none of {total:,} lines of {names}; dropped: {reasons or 'nothing, there were none'}. "
        "Check that the data sets are not empty and do not consist of lines of the dev and test sets."
    )
