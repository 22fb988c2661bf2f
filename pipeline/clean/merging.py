"""The mechanics that the merges share: judge every row in a first reading, write the good ones in a second.

Between the readings stands one byte a row on disk, the verdict. Duplicates are found over the keys of lines
(pipeline.clean.keys), in the memory that the worker grants and beyond it through the scratch folder.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pipeline.clean.columns import Dataset, Rows, Scores, read_datasets
from pipeline.clean.held_out import HeldOut, HeldOutKeys
from pipeline.clean.keys import Keys, empty_key, pair_keys
from pipeline.clean.tasks import PROCESS_MB
from pipeline.common.errors import InputError
from pipeline.common.external import BYTES_A_RECORD, RECORD, BestRecords, Dealt, Lines, Records
from pipeline.common.resources import memory_mb, threads
from pipeline.common.threads import in_threads

Verdicts: TypeAlias = "np.memmap[tuple[int], np.dtype[np.uint8]]"
# Keys of the sides of some rows, and scores; their data set's number, that of the first row, the verdicts.
Stretch: TypeAlias = "tuple[tuple[list[Keys], Scores], tuple[int, int, npt.NDArray[np.uint8]]]"

STRETCH = 1 << 17  # rows that are looked at together; more would not fit into a processor's cache
JUDGES = 4  # threads that look at rows; each takes some 20 MB, and one thread writes what they find
KNOWN = -1  # line number of texts that belong to another corpus


class Verdict(IntEnum):
    """What becomes of a row; all but the first are reasons to drop it."""

    KEPT = 0
    EMPTY = 1
    HELD_OUT_PAIR = 2
    HELD_OUT_SRC = 3
    HELD_OUT_TRG = 4
    HELD_OUT = 5
    IN_PARALLEL = 6
    DUPLICATE = 7
    SAMPLED_OUT = 8

    @property
    def reason(self) -> str:
        """Its name in stats.json."""
        return self.name.lower()


HELD_OUT_LINES = {
    1: (Verdict.HELD_OUT,),
    2: (Verdict.HELD_OUT_SRC, Verdict.HELD_OUT_TRG),
}  # of rows with so many sides: the verdict for a held-out line on each of them


@dataclass(frozen=True)
class Policy:
    """What makes rows the same, and which lines are held out.

    key       the keys of rows, given the keys of their sides
    held_out  the dev and test sets
    known     text of another corpus, whose rows are dropped as in_parallel
    near      whether near-duplicates count as the same
    """

    key: Callable[[Sequence[Keys]], Keys]
    held_out: HeldOut
    known: Path | None = None
    near: bool = False


def last_side(sides: Sequence[Keys]) -> Keys:
    """Rows with the same target are the same; rows of one side are when they have the same text."""
    return sides[-1]


def both_sides(sides: Sequence[Keys]) -> Keys:
    """Pairs are the same when they agree on both sides."""
    return pair_keys(*sides)


@dataclass(frozen=True)
class Judgement:
    """The verdicts on all rows of all data sets, in order, one byte each.

    sizes  the number of rows of each data set
    bytes  of the text of each side
    """

    path: Path
    sizes: Sequence[int]
    bytes: Sequence[int]

    @cached_property
    def verdicts(self) -> Verdicts:
        """The file in which they stand, mapped to memory: the kernel may drop what is not in use."""
        return np.memmap(self.path, dtype=np.uint8, mode="r+", shape=(sum(self.sizes),))

    def stretches(self) -> Iterator[tuple[int, int, "npt.NDArray[np.uint8]"]]:
        """A data set's number, a row's, and the verdicts on rows from that one on, as a view; in order."""
        first = 0
        for dataset, size in enumerate(self.sizes):
            for start in range(first, first + size, STRETCH):
                yield dataset, start, self.verdicts[start : min(start + STRETCH, first + size)]
            first += size

    def counts(self) -> list[Counter[Verdict]]:
        """How many rows of each data set got which verdict."""
        counts: list[Counter[Verdict]] = [Counter() for _ in self.sizes]
        for dataset, _, verdicts in self.stretches():
            for verdict in Verdict:
                if number := int(np.count_nonzero(verdicts == verdict)):
                    counts[dataset][verdict] += number
        return counts


def judge(datasets: Sequence[Dataset], policy: Policy, scratch: Path) -> Judgement:
    """Read all rows once and say which to keep: of each key the best score, then the first in order.

    Raises InputError for files that cannot be read or do not match, and when nothing is left.
    """
    known = [Dataset("known", (policy.known,))] if policy.known else []
    read = read_datasets([*known, *datasets], scratch, near=policy.near)
    rows = read[len(known) :]
    judgement = _unjudged(scratch / "verdicts", rows)
    if sum(judgement.sizes):
        best = BestRecords(scratch, sum(part.number for part in read), _record_limit(), threads())
        for part in read[: len(known)]:
            _add_known(part, best)
        _judge_alone(judgement, rows, policy, best)
        for losers, winners in best.losers():
            _drop_losers(judgement.verdicts, losers, winners)
    _refuse_empty(judgement, datasets)
    return judgement


def _record_limit() -> int:
    """How many records there is memory for, in what the worker grants."""
    return max(1_000, (memory_mb() - PROCESS_MB) * 1_000_000 * 3 // 4 // BYTES_A_RECORD)


def _unjudged(path: Path, rows: Sequence[Rows]) -> Judgement:
    """All verdicts KEPT."""
    sizes = [part.number for part in rows]
    with path.open("wb") as file:
        file.truncate(sum(sizes))
    sides = zip(*(part.sides for part in rows), strict=True)
    return Judgement(path, sizes, [sum(column.size for column in side) for side in sides])


def _add_known(rows: Rows, best: BestRecords) -> None:
    """Let rows of another corpus win their keys."""
    for (keys,), _ in rows.stretches(STRETCH):
        best.add(best.dealt(_records(keys, np.full(len(keys), np.inf), np.full(len(keys), KNOWN))))


def _judge_alone(judgement: Judgement, rows: Sequence[Rows], policy: Policy, best: BestRecords) -> None:
    """Judge every row by itself, and let those that may be kept compete for their keys."""
    held_out = policy.held_out.keys(near=policy.near)

    def judged(stretch: Stretch) -> Dealt:
        (sides, scores), (_, first, verdicts) = stretch
        _judge_stretch(verdicts, sides, held_out)
        kept = np.flatnonzero(verdicts == Verdict.KEPT)
        return best.dealt(_records(policy.key(sides).take(kept, axis=0), scores[kept], first + kept))

    stretches = (stretch for part in rows for stretch in part.stretches(STRETCH))
    numbered = zip(stretches, judgement.stretches(), strict=True)
    for dealt in in_threads(judged, numbered, min(threads(), JUDGES)):
        best.add(dealt)


def _judge_stretch(verdicts: npt.NDArray[np.uint8], sides: Sequence[Keys], held_out: HeldOutKeys) -> None:
    # The first reason counts, so it is written last.
    for side, verdict in reversed(list(enumerate(HELD_OUT_LINES[len(sides)]))):
        verdicts[held_out.has_line(side, sides[side])] = verdict
    verdicts[held_out.has_pair(sides)] = Verdict.HELD_OUT_PAIR
    empty = empty_key()
    for keys in sides:
        verdicts[(keys[:, 0] == empty[0]) & (keys[:, 1] == empty[1])] = Verdict.EMPTY


def _records(keys: Keys, scores: Scores, lines: Lines) -> Records:
    records = np.empty(len(keys), dtype=RECORD)
    records["high"], records["low"] = keys[:, 0], keys[:, 1]
    records["score"], records["line"] = scores, lines
    return records


def _drop_losers(verdicts: Verdicts, losers: Lines, winners: Lines) -> None:
    rows = losers != KNOWN
    verdicts[losers[rows]] = np.where(winners[rows] == KNOWN, Verdict.IN_PARALLEL, Verdict.DUPLICATE)


def _refuse_empty(judgement: Judgement, datasets: Sequence[Dataset]) -> None:
    counts = sum(judgement.counts(), Counter[Verdict]())
    if counts[Verdict.KEPT]:
        return
    reasons = ", ".join(f"{verdict.reason} {n:,}" for verdict, n in counts.most_common())
    names = ", ".join(dataset.name for dataset in datasets)
    raise InputError(
        f"Merging left none of {counts.total():,} lines of {names}; "
        f"dropped: {reasons or 'nothing, there were none'}. "
        "Check that the data sets are not empty and do not consist of lines of the dev and test sets."
    )
