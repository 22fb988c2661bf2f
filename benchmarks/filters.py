"""Pairs that the default filters drop of a real corpus and of mismatched sides, beside upstream's.

    python -m benchmarks.filters --src en --trg fr --corpus-src kde.en.gz apps.en.gz \\
        --corpus-trg kde.fr.gz apps.fr.gz [--samples samples] [--seed 1]

Prints for either set of filters how many distinct pairs each filter drops, and how many of the same sources
with targets of others; how many pairs have the same text on both sides, and are kept; how many pairs one set
drops and the other keeps; and, by the number of letters of the source, the shares that are dropped of the
pairs and of the same sources with targets of others. Languages are not identified, in neither.

--samples is a new folder for lines to read: 100 that upstream's filters drop or keep, 100 that the default
ones do, and 100 that only one of them drops; which ones, the seed fixes.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.cleaning import without_language
from pipeline.clean.filtering.block import Block, Column
from pipeline.clean.filtering.cleaner import plain
from pipeline.clean.filtering.filter_file import read_filter_file
from pipeline.clean.filtering.lengths import letter_weights
from pipeline.clean.filtering.opuscleaner import OpusCleaner
from pipeline.clean.filtering.registry import AnyFilter, make_filters
from pipeline.common.lines import write_lines, zip_lines
from tests.pipeline.clean.filtering.opuscleaner import resources
from tests.pipeline.clean.filtering.pairs import Pair

ROWS = 20_000
SAMPLE = 100
SETS = ("upstream/default", "default")
BINS = (0, 8, 15, 25, 40, 80, 160)  # letters of the source, from which on a row of the table counts
KEPT = ""


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures; see the module's text."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for side, text in (("src", "source"), ("trg", "target")):
        parser.add_argument(f"--{side}", required=True, help=f"{text} language, e.g. fr")
        parser.add_argument(f"--corpus-{side}", required=True, type=Path, nargs="+", help=f"{text} sides")
    parser.add_argument("--samples", type=Path, help="new folder for lines to read")
    parser.add_argument("--seed", type=int, default=1, help="of the samples, and of the targets of others")
    args = parser.parse_args(argv)
    files = zip(args.corpus_src, args.corpus_trg, strict=True)
    rows = (tuple(map(plain, row)) for paths in files for row in zip_lines(*paths))
    pairs = list(dict.fromkeys((source, target) for source, target in rows))
    targets = [target for _, target in pairs]
    random.Random(args.seed).shuffle(targets)
    mispaired = list(zip([source for source, _ in pairs], targets, strict=True))
    codes = (args.src, args.trg)
    with tempfile.TemporaryDirectory(prefix="filters-") as folder:
        filters = [_filters(Path(folder), name, codes) for name in SETS]
        found = [reasons(of_set, pairs) for of_set in filters]
        others = [reasons(of_set, mispaired) for of_set in filters]
        _print_counts(len(pairs), found, others)
        _print_identical(pairs, found)
        _print_bins(pairs, found, others)
    if args.samples:
        args.samples.mkdir(parents=True)
        _write_samples(args.samples, pairs, found, args.seed)


def _filters(folder: Path, name: str, codes: Sequence[str]) -> list[tuple[str, AnyFilter]]:
    path = without_language(folder, name)
    return make_filters(read_filter_file(path, codes), resources(codes))


def reasons(filters: Sequence[tuple[str, AnyFilter]], pairs: Sequence[Pair]) -> list[str]:
    """For each pair the filter that drops it, or KEPT."""
    found = [KEPT] * len(pairs)
    for first in range(0, len(pairs), ROWS):
        block = Block([list(side) for side in zip(*pairs[first : first + ROWS], strict=True)])
        for name, work in filters:
            assert not isinstance(work, OpusCleaner)  # none of these needs it
            work(block)
            for row in block.numbers[~block.alive].tolist():
                found[first + row] = name
            edited, kept = block.take_edited(), block.kept()
            sides = [kept.columns[side].lines + edited.columns[side].lines for side in (0, 1)]
            block = Block(sides, np.concatenate([kept.numbers, edited.numbers]))
    return found


def _print_counts(size: int, found: Sequence[Sequence[str]], others: Sequence[Sequence[str]]) -> None:
    counts = [Counter(of_set) for of_set in (*found, *others)]
    dropped = [size - counted[KEPT] for counted in counts]
    print(f"{size:,} distinct pairs; dropped by upstream's filters {dropped[0]:,}, by ours {dropped[1]:,};")
    print(f"of sides of others dropped by upstream's {dropped[2]:,}, by ours {dropped[3]:,}")
    for name in sorted({name for counted in counts for name in counted} - {KEPT}):
        print(f"  {name:24}" + "".join(f" {counted[name]:9,}" for counted in counts))
    only = Counter((theirs != KEPT, ours != KEPT) for theirs, ours in zip(*found, strict=True))
    print(f"dropped by upstream's only: {only[True, False]:,}; by ours only: {only[False, True]:,}")


def _print_identical(pairs: Sequence[Pair], found: Sequence[Sequence[str]]) -> None:
    same = [row for row, (source, target) in enumerate(pairs) if source == target]
    long = [row for row in same if len(pairs[row][0].split()) > 2]
    kept = [[sum(not of_set[row] for row in rows) for rows in (same, long)] for of_set in found]
    print(
        f"the same text on both sides: {len(same):,}, of three words or more {len(long):,}; kept by "
        f"upstream's {kept[0][0]:,}, {kept[0][1]:,}, by ours {kept[1][0]:,}, {kept[1][1]:,}"
    )


def _print_bins(
    pairs: Sequence[Pair], found: Sequence[Sequence[str]], mispaired: Sequence[Sequence[str]]
) -> None:
    letters = Column([source for source, _ in pairs]).sum(letter_weights())
    dropped = [
        np.array([name != KEPT for name in of_set])
        for both in zip(found, mispaired, strict=True)
        for of_set in both
    ]
    print("letters       pairs  dropped: upstream's, ours  of sides of others: upstream's, ours")
    for first, last in zip((*BINS, 0), (*BINS[1:], 1 << 30, 1 << 30), strict=True):
        rows = (letters >= first) & (letters < last)
        shares = [100 * float(of_set[rows].mean()) if rows.any() else 0.0 for of_set in dropped]
        name = "all" if (first, last) == (0, 1 << 30) else f"from {first}"
        print(
            f"{name:9} {int(rows.sum()):9,}  {shares[0]:18.2f} %, {shares[2]:.2f} % "
            f"{shares[1]:29.1f} %, {shares[3]:.1f} %"
        )


def _write_samples(folder: Path, pairs: Sequence[Pair], found: Sequence[Sequence[str]], seed: int) -> None:
    theirs, ours = found
    rows = list(enumerate(zip(theirs, ours, strict=True)))
    chosen = {
        "dropped.upstream": [row for row, (one, _) in rows if one],
        "dropped.ours": [row for row, (_, other) in rows if other],
        "kept.upstream": [row for row, (one, _) in rows if not one],
        "kept.ours": [row for row, (_, other) in rows if not other],
        "dropped.upstream-only": [row for row, (one, other) in rows if one and not other],
        "dropped.ours-only": [row for row, (one, other) in rows if other and not one],
    }
    for name, numbers in chosen.items():
        sample = random.Random(f"{name} {seed}").sample(numbers, min(SAMPLE, len(numbers)))
        lines = ("\t".join((theirs[row] or "-", ours[row] or "-", *pairs[row])) for row in sample)
        write_lines(folder / f"{name}.tsv", lines)


if __name__ == "__main__":
    main()
