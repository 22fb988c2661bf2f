"""Merge the student's training text: the parallel corpus and the mono text, both translated by the teacher.

    python -m pipeline.clean.merge_translated --src en --trg ru \\
        --corpus-src corpus.en.zst --corpus-trg distilled.ru.zst \\
        --mono-src mono.en.zst --mono-trg mono.ru.zst \\
        --held-out-src dev.en.zst test.en.zst --held-out-trg dev.ru.zst test.ru.zst --seed 1 --output merged

    merged/corpus.en.zst, merged/corpus.ru.zst   the pairs, shuffled
    merged/sample.txt                            10,000 of them, uniformly chosen: source, tab, target
    merged/stats.json                            lines in, kept, dropped by reason, in all and of each part

Without --mono-src and --mono-trg the parallel part alone is taken. With --backtranslated-src and
--backtranslated-trg target text and its back-translation come to it. Pairs count as the same when both sides
agree in NFC with white space collapsed. The reasons to drop a pair, in this order: empty (a side is),
held_out_src and held_out_trg (it stands in a file of that option, and there has at least five words),
duplicate (the pair came before).

Order, memory and scratch space are as for pipeline.clean.merge_parallel.
"""

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path

from pipeline.clean.arguments import add_files, add_output
from pipeline.clean.columns import Dataset
from pipeline.clean.held_out import HeldOut
from pipeline.clean.merged import write_merged
from pipeline.clean.merging import Policy, both_sides, judge
from pipeline.common.errors import InputError
from pipeline.common.script import run
from pipeline.common.staging import staged

logger = logging.getLogger(__name__)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Merge and shuffle the text that the teacher translated.")
    parser.add_argument("--src", required=True, help="source language, e.g. en")
    parser.add_argument("--trg", required=True, help="target language, e.g. ru")
    parser.add_argument("--corpus-src", required=True, type=Path, help="source side of the parallel corpus")
    parser.add_argument("--corpus-trg", required=True, type=Path, help="its translation")
    parser.add_argument("--mono-src", type=Path, help="source text without a reference")
    parser.add_argument("--mono-trg", type=Path, help="its translation")
    parser.add_argument("--backtranslated-src", type=Path, help="back-translations of target text")
    parser.add_argument("--backtranslated-trg", type=Path, help="that text")
    add_files(parser, "--held-out-src", "source sides of the sets whose sentences must not be in the result")
    add_files(parser, "--held-out-trg", "target sides of these sets")
    add_output(parser)
    return parser.parse_args(argv)


def datasets_of(args: argparse.Namespace) -> list[Dataset]:
    """The parallel part and, when they are given, the mono part and the back-translated one."""
    datasets = [Dataset("corpus", (args.corpus_src, args.corpus_trg))]
    others = {
        "mono": (args.mono_src, args.mono_trg),
        "backtranslated": (args.backtranslated_src, args.backtranslated_trg),
    }
    for name, (src, trg) in others.items():
        if (src is None) != (trg is None):
            raise InputError(f"Of --{name}-src and --{name}-trg only one is given. Give both, or neither.")
        if src is not None:
            datasets.append(Dataset(name, (src, trg)))
    return datasets


def main(argv: Sequence[str] | None = None) -> None:
    """Merge and shuffle translated text; see the module's text."""
    args = parse_arguments(argv)
    datasets = datasets_of(args)
    logger.info("merging %s, seed %d", ", ".join(dataset.name for dataset in datasets), args.seed)
    held_out = HeldOut((args.src, args.trg), (args.held_out_src, args.held_out_trg))
    with staged(args.output) as (folder, scratch):
        judgement = judge(datasets, Policy(both_sides, held_out), scratch)
        names = (f"corpus.{args.src}.zst", f"corpus.{args.trg}.zst")
        write_merged(datasets, judgement, folder, names, args.seed, scratch)


if __name__ == "__main__":
    run(main)
