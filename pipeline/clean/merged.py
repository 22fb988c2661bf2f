"""What the merges leave: the rows that were judged good, a sample of them, and the numbers."""

import logging
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np

from pipeline.clean.columns import Dataset
from pipeline.clean.merging import Judgement, Verdict
from pipeline.clean.quotas import quotas
from pipeline.clean.shuffling import BYTES_A_BYTE, Shuffle
from pipeline.clean.tally import MAX_SAMPLES, SAMPLE_CHARACTERS, Tally
from pipeline.clean.tasks import PROCESS_MB, processes, run_all
from pipeline.clean.writing import write_side
from pipeline.common.lines import write_lines
from pipeline.common.resources import memory_mb
from pipeline.common.script import write_json
from pipeline.common.selection import Selection

logger = logging.getLogger(__name__)

Row = tuple[str, ...]

SAMPLE_ROWS = 10_000


def limit_rows(judgement: Judgement, size: int, seed: int, weights: Sequence[Fraction] | None = None) -> None:
    """Drop all but `size` of the rows to keep, uniformly chosen.

    With weights, each data set gives in proportion to its weight times its rows, uniformly chosen among them.
    """
    kept = [counts[Verdict.KEPT] for counts in judgement.counts()]
    if weights is None:
        selections = [Selection(sum(kept), size, f"max-sentences {seed}")] * len(kept)
    else:
        sizes = enumerate(zip(kept, quotas(kept, weights, size), strict=True))
        selections = [Selection(rows, quota, f"max-sentences {seed} {n}") for n, (rows, quota) in sizes]
    seen: Counter[Selection] = Counter()
    for dataset, _, verdicts in judgement.stretches():
        selection, rows = selections[dataset], np.flatnonzero(verdicts == Verdict.KEPT)
        chosen = selection.chosen(seen[selection], len(rows))
        seen[selection] += len(rows)
        verdicts[rows[~chosen]] = Verdict.SAMPLED_OUT


def write_merged(
    datasets: Sequence[Dataset],
    judgement: Judgement,
    folder: Path,
    names: Sequence[str],
    seed: int,
    scratch: Path,
) -> None:
    """Write the rows to keep to folder/<name>, one name a side, 10,000 of them to sample.txt, and stats.json.

    Both sides are in the same random order, which the seed and the number of rows kept fix. What does not
    fit in memory is shuffled in the folder `scratch`.
    """
    tallies = list(map(_tally, judgement.counts()))
    kept = sum(tally.kept for tally in tallies)
    sample = Selection(kept, SAMPLE_ROWS, f"sample {seed}").numbers()
    judgement.verdicts.flush()
    tasks = [
        partial(
            write_side,
            [dataset.files[side] for dataset in datasets],
            judgement.path,
            size,
            folder / name,
            sample,
            Shuffle(f"order {seed}", scratch / name, _shuffle_limit()),
        )
        for side, (name, size) in enumerate(zip(names, judgement.bytes, strict=True))
    ]
    sides = run_all(tasks, processes([file for dataset in datasets for file in dataset.files]))
    rows: list[Row] = list(zip(*sides, strict=True))
    write_lines(folder / "sample.txt", map("\t".join, rows))
    few = Selection(len(rows), MAX_SAMPLES, f"few {seed}").numbers()
    _write_stats(folder / "stats.json", datasets, tallies, [rows[number] for number in few])


def _shuffle_limit() -> int:
    """Bytes of a side's text that are sorted in memory, both sides at the same time."""
    return max(1_000_000, (memory_mb() - PROCESS_MB) * 1_000_000 // (2 * BYTES_A_BYTE))


def _tally(counts: Counter[Verdict]) -> Tally:
    dropped = {verdict.reason: number for verdict, number in counts.items() if verdict != Verdict.KEPT}
    return Tally(kept=counts[Verdict.KEPT], dropped=Counter(dropped))


def _write_stats(
    path: Path, datasets: Sequence[Dataset], tallies: Sequence[Tally], samples: Sequence[Row]
) -> None:
    """Write the numbers of all rows and of each data set's, and a few of the rows kept."""
    whole = Tally()
    for dataset, tally in zip(datasets, tallies, strict=True):
        whole.add(tally)
        logger.info(
            "%s: %d lines, kept %d; dropped: %s", dataset.name, tally.total, tally.kept, tally.reasons()
        )
    logger.info("wrote %d of %d lines; dropped: %s", whole.kept, whole.total, whole.reasons())
    stats = {
        "lines": whole.lines(),
        "datasets": [
            {"dataset": dataset.name, **tally.lines()}
            for dataset, tally in zip(datasets, tallies, strict=True)
        ],
        "samples": [_shown(row) for row in samples],
    }
    write_json(path, stats)


def _shown(row: Row) -> str | list[str]:
    """A row as stats.json shows it: a string, or source and target."""
    sides = [side[:SAMPLE_CHARACTERS] for side in row]
    return sides if len(sides) > 1 else sides[0]
