"""Rows of the steps that drop what a score speaks against."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipeline.cefilter import filter as cefilter
from pipeline.cefilter.scores import read_scores
from pipeline.clean import filter_mono, filter_parallel
from pipeline.clean.thresholds import REASON
from pipeline.common.selection import STRETCH
from pipeline.samples.drawn import KEPT, READ, Drawn, Wanted, drawn
from pipeline.samples.rows import Text, fetch, lowest_of

LOW_SCORE = "low score"  # as pipeline.cefilter.filter calls it
SCORE = "score"
Scores = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


def of_pairs(options: Sequence[str], made: Path, wanted: Wanted, scratch: Path) -> Drawn:
    """Draw pairs of pipeline.clean.filter_parallel."""
    args = filter_parallel.parse_arguments(options)
    text = Text("", (args.corpus_src, args.corpus_trg), {SCORE: args.scores})
    return _draw(text, wanted, REASON, _above(args.threshold))


def of_lines(options: Sequence[str], made: Path, wanted: Wanted, scratch: Path) -> Drawn:
    """Draw lines of pipeline.clean.filter_mono."""
    args = filter_mono.parse_arguments(options)
    return _draw(Text("", (args.text,), {SCORE: args.scores}), wanted, REASON, _above(args.threshold))


def of_worst(options: Sequence[str], made: Path, wanted: Wanted, scratch: Path) -> Drawn:
    """Draw pairs of pipeline.cefilter.filter; it has written how many it dropped, up to which score."""
    args = cefilter.parse_arguments(options)
    text = Text("", (args.corpus_src, args.corpus_trg), {SCORE: args.scores})
    stats = json.loads((made / "stats.json").read_text(encoding="utf-8"))
    number, limit = stats["lines"]["dropped"][LOW_SCORE], stats["limit"]
    is_kept = _but_worst(args.scores, number, limit) if number else _above(-math.inf)
    return _draw(text, wanted, LOW_SCORE, is_kept)


def _above(threshold: float) -> Callable[[Scores], Mask]:
    def is_kept(scores: Scores) -> Mask:
        above: Mask = scores > threshold
        return above

    return is_kept


def _but_worst(path: Path, number: int, limit: float) -> Callable[[Scores], Mask]:
    """Asked of the scores in their order: all but so many of the lowest, the earlier of equal ones first."""
    ties = number - sum(int(np.count_nonzero(scores < limit)) for scores in _stretches(path))

    def is_kept(scores: Scores) -> Mask:
        nonlocal ties
        tied = np.flatnonzero(scores == limit)[:ties]
        ties -= len(tied)
        kept: Mask = scores >= limit
        kept[tied] = False
        return kept

    return is_kept


def _draw(text: Text, wanted: Wanted, reason: str, is_kept: Callable[[Scores], Mask]) -> Drawn:
    """Draw rows; `is_kept` is asked of the scores of all rows, in their order."""
    lowest, first, reasons = wanted.lowest(), 0, dict[int, str]()
    for scores in _stretches(text.beside[SCORE]):
        kept = is_kept(scores)
        for group, chosen in ((READ, np.ones_like(kept)), (KEPT, kept), (reason, ~kept)):
            numbers = lowest_of(first, chosen, wanted.number, wanted.places)
            lowest.add(group, numbers)
            reasons |= {number: "" if kept[number - first] else reason for number in numbers.tolist()}
        first += len(scores)
    rows = fetch([text], [0, first], lowest.all_numbers())
    for number, row in rows.items():
        row.reason = reasons[number]
        row.result = None if row.reason else row.text
    return drawn(first, first, lowest, rows, wanted)


def _stretches(path: Path) -> Iterator[Scores]:
    """Yield the scores of a file, some at a time."""
    scores = read_scores(path)
    while len(part := np.fromiter(islice(scores, STRETCH), dtype=np.float64)):
        yield part
