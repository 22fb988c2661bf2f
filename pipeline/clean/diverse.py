"""A choice among rows that takes less of what repeats itself than a uniform one would: by clusters of lines.

Each cluster gives by the number of different runs of bytes in its lines, however many lines it has; within it
the choice is uniform. Equal shares, or such by the root of a cluster's size, are of no use: what is like
nothing else makes one large cluster, of which they take too little (benchmarks.diverse_sampling).
"""

import logging
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import compress
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pipeline.clean.clusters import Clusters, Numbers, find_clusters
from pipeline.clean.columns import Dataset
from pipeline.clean.merging import JUDGES, Judgement, Verdict
from pipeline.clean.quotas import quotas
from pipeline.common.line_blocks import kept_lines, line_ends, read_blocks
from pipeline.common.resources import threads
from pipeline.common.selection import Selection
from pipeline.common.threads import in_threads

logger = logging.getLogger(__name__)

SAMPLE = 16_384  # lines from which clusters are learned; 100 MB of memory
Rows: TypeAlias = npt.NDArray[np.int64]
Clustered: TypeAlias = "np.memmap[tuple[int], np.dtype[np.uint8]]"


def limit_diverse(
    datasets: Sequence[Dataset],
    judgement: Judgement,
    size: int,
    seed: int,
    weights: Sequence[Fraction] | None,
    scratch: Path,
) -> None:
    """Drop all but `size` of the rows to keep, which are of one side.

    With weights, each data set gives as many as `limit_rows` would have it give.
    """
    kept = [counts[Verdict.KEPT] for counts in judgement.counts()]
    if sum(kept) <= size:
        return
    sample = _sample(datasets, judgement, Selection(sum(kept), SAMPLE, f"clusters {seed}"))
    clusters = find_clusters(sample, f"centres {seed}")
    clustered = _cluster(datasets, judgement, clusters, scratch / "clusters")
    # Rows among which `limit_rows` would choose uniformly
    groups = [0] * len(kept) if weights is None else list(range(len(kept)))
    given = [size] if weights is None else quotas(kept, weights, size)
    sizes = _sizes(judgement, clustered, groups, clusters.number)
    logger.info("%d clusters of %d to %d lines", clusters.number, sizes.sum(0).min(), sizes.sum(0).max())
    selections = [
        [Selection(*part, f"max-sentences {seed} {n} {number}") for number, part in enumerate(parts)]
        for n, parts in enumerate(map(partial(_parts, clusters.richness), sizes.tolist(), given))
    ]
    _drop(judgement, clustered, groups, selections)


def _parts(richness: Sequence[int], sizes: list[int], size: int) -> list[tuple[int, int]]:
    """The rows of each cluster, and how many it gives."""
    weights = [Fraction(runs, max(rows, 1)) for runs, rows in zip(richness, sizes, strict=True)]
    return list(zip(sizes, quotas(sizes, weights, size), strict=True))


def _kept_text(datasets: Sequence[Dataset], judgement: Judgement) -> Iterator[tuple[Rows, bytes]]:
    """Yield the numbers and the text of rows to keep, a block at a time."""
    first = 0
    for block in (block for dataset in datasets for block in read_blocks(dataset.files[0])):
        ends = line_ends(block)
        kept = judgement.verdicts[first : first + len(ends)] == Verdict.KEPT
        yield first + np.flatnonzero(kept), kept_lines(block, ends, kept)
        first += len(ends)


def _sample(datasets: Sequence[Dataset], judgement: Judgement, selection: Selection) -> list[bytes]:
    sample: list[bytes] = []
    seen = 0
    for rows, text in _kept_text(datasets, judgement):
        sample += compress(text.split(b"\n"), selection.chosen(seen, len(rows)).tolist())
        seen += len(rows)
    return sample


def _cluster(datasets: Sequence[Dataset], judgement: Judgement, clusters: Clusters, path: Path) -> Clustered:
    """The cluster of each row, one byte each; only those of rows to keep are of use."""
    clustered: Clustered = np.memmap(path, dtype=np.uint8, mode="w+", shape=(sum(judgement.sizes),))

    def found(kept: tuple[Rows, bytes]) -> tuple[Rows, Numbers]:
        return kept[0], clusters.of(kept[1])

    for rows, numbers in in_threads(found, _kept_text(datasets, judgement), min(threads(), JUDGES)):
        clustered[rows] = numbers
    return clustered


def _sizes(
    judgement: Judgement, clustered: Clustered, groups: Sequence[int], clusters: int
) -> npt.NDArray[np.int64]:
    """The rows to keep of each group and cluster."""
    sizes = np.zeros((max(groups) + 1, clusters), dtype=np.int64)
    for dataset, first, verdicts in judgement.stretches():
        numbers = clustered[first + np.flatnonzero(verdicts == Verdict.KEPT)]
        sizes[groups[dataset]] += np.bincount(numbers, minlength=clusters)
    return sizes


def _drop(
    judgement: Judgement,
    clustered: Clustered,
    groups: Sequence[int],
    selections: Sequence[Sequence[Selection]],
) -> None:
    """Drop what the selection of its group and cluster does not choose."""
    seen = np.zeros((len(selections), len(selections[0])), dtype=np.int64)
    for dataset, first, verdicts in judgement.stretches():
        group, rows = groups[dataset], np.flatnonzero(verdicts == Verdict.KEPT)
        numbers = clustered[first + rows]
        for number in np.unique(numbers).tolist():
            own = rows[numbers == number]
            chosen = selections[group][number].chosen(int(seen[group, number]), len(own))
            seen[group, number] += len(own)
            verdicts[own[~chosen]] = Verdict.SAMPLED_OUT
