"""False alarms between equal systems: the share of p-values below 0.05, which should be 5 %.

    python -m benchmarks.significance
    python -m benchmarks.significance --references test.fr.gz --translations one.fr.gz other.fr.gz \\
        [--spbleu-model flores200.spm] [--comet-segments one.segments.zst other.segments.zst] \\
        [--lines 400] [--comparisons 1000]

Two systems' translations of a test set are exchanged at random, line by line, so that what is compared is
equal in distribution; each comparison takes other lines of the set. Without --translations the systems are
the references with words lost, doubled and swapped, without --references these are the demo's Esperanto.
Printed is the share by sacreBLEU's rule, which takes the absolute value of the differences before their mean
is subtracted, and by pipeline.checks.differences, of the same resamples. COMET is compared by what it gives
to each line; without --comet-segments by the lines' chrF.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import TypeAlias

import numpy as np
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import _compute_p_value

from pipeline.checks.differences import (
    Numbers,
    Sampled,
    line_means,
    p_value,
    resampled,
    resamples,
    statistics,
)
from pipeline.common.lines import read_lines
from pipeline.data.demo_corpus import parallel_part
from pipeline.eval.metrics import evaluation_metrics
from pipeline.eval.spbleu import spbleu

LEVEL = 0.05
DEMO = 2_000  # lines
Scoring: TypeAlias = Callable[[Numbers, Numbers], Sampled]  # of statistics of lines and resamples


def main(argv: Sequence[str] | None = None) -> None:
    """Print the shares; see the module's text."""
    args = parse_arguments(argv)
    references = references_of(args)
    systems = [list(read_lines(file)) for file in args.translations] or [
        garbled(references, seed) for seed in (1, 2)
    ]
    lines = min(args.lines, len(references))
    print(
        f"{args.comparisons:,} comparisons of {lines:,} of {len(references):,} lines; p < {LEVEL}:",
        flush=True,
    )
    counts = resamples(lines)
    for name, (scoring, counted) in measured(args, systems, references).items():
        random, begin = np.random.default_rng(1), time.process_time()
        found = [compare(scoring, exchanged(counted, lines, random), counts) for _ in range(args.comparisons)]
        before, after = (np.array(column) < LEVEL for column in zip(*found, strict=True))
        print(
            f"  {name:8} by sacreBLEU's rule {before.mean():6.1%}, centred first {after.mean():6.1%} "
            f"({(time.process_time() - begin) / args.comparisons * 1e3:.0f} ms a comparison)",
            flush=True,
        )


def references_of(args: argparse.Namespace) -> list[str]:
    """The references that are given, or the demo's."""
    if args.references:
        return list(read_lines(args.references))
    return [target for _, target in islice(parallel_part("train")[0], DEMO)]


def garbled(lines: Sequence[str], seed: int) -> list[str]:
    """Sentences of which one word in eight is lost, one is doubled and one changes places with the next."""
    chance = Random(seed)
    return [" ".join(_garble(line.split(), chance)) for line in lines]


def _garble(words: list[str], chance: Random) -> list[str]:
    made: list[str] = []
    for word in words:
        what = chance.randrange(8)
        if what == 0:
            continue
        made.insert(len(made) - (what == 1 and bool(made)), word)
        made += [word] * (what == 2)
    return made or words


def measured(
    args: argparse.Namespace, systems: Sequence[Sequence[str]], references: Sequence[str]
) -> Mapping[str, tuple[Scoring, Sequence[Numbers]]]:
    """For each metric how it is scored, and its statistics of all lines of both systems."""
    metrics = evaluation_metrics(args.trg)
    if args.spbleu_model:
        metrics["spbleu"] = spbleu(args.spbleu_model)
    found: dict[str, tuple[Scoring, Sequence[Numbers]]] = {
        name: (partial(resampled, metric), [statistics(metric, system, references) for system in systems])
        for name, metric in metrics.items()
    }
    found["comet"] = (partial(line_means, scale=100), segments_of(args, systems, references))
    return found


def segments_of(
    args: argparse.Namespace, systems: Sequence[Sequence[str]], references: Sequence[str]
) -> list[Numbers]:
    """Return the score of each line of both systems: COMET's, or its chrF."""
    if args.comet_segments:
        return [np.array(list(map(float, read_lines(file)))) for file in args.comet_segments]
    metric = CHRF()
    return [
        np.array(
            [
                metric.sentence_score(line, [reference]).score / 100
                for line, reference in zip(system, references, strict=True)
            ]
        )
        for system in systems
    ]


def exchanged(counted: Sequence[Numbers], lines: int, random: np.random.Generator) -> list[Numbers]:
    """Some lines of both systems, each line with the system that tossing a coin says."""
    chosen = random.choice(len(counted[0]), size=lines, replace=False)
    first = random.integers(0, 2, size=lines)
    both = np.stack(counted)
    return [both[first, chosen], both[1 - first, chosen]]


def compare(scoring: Scoring, pair: Sequence[Numbers], counts: Numbers) -> tuple[float, float]:
    """The p-values of a pair of systems by sacreBLEU's rule and by ours."""
    one, other = (scoring(counted, counts) for counted in pair)
    difference, differences = other.score - one.score, other.resampled - one.resampled
    absolute = np.abs(differences)
    before = _compute_p_value(absolute - absolute.mean(), abs(difference))
    return before, p_value(difference, differences)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--references", type=Path, help="a test set's reference translations")
    add("--translations", nargs=2, type=Path, default=[], help="those of two systems")
    add("--trg", default="en", help="target language; BLEU's words depend on it")
    add("--spbleu-model", type=Path, help="FLORES-200's SentencePiece model, or another one")
    add("--comet-segments", nargs=2, type=Path, help="what COMET gives to each line of both")
    add("--lines", type=int, default=400, help="of each comparison")
    add("--comparisons", type=int, default=1_000, help="of each metric")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
