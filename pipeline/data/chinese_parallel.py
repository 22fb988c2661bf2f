"""Bring the Chinese of a parallel corpus into one variant: convert the source, filter pairs by the target.

    python -m pipeline.data.chinese_parallel --src en --trg zh --filter-trg simplified \\
        --corpus-src corpus.en.zst --corpus-trg corpus.zh.zst --output simplified
"""

import argparse
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pipeline.common.script import new_folder, run
from pipeline.data.chinese import VARIANTS, Variant
from pipeline.data.imports import Origin, publish, refuse_empty, scratch_folder
from pipeline.data.parallel import Pair, write_pairs
from pipeline.data.texts import file_pairs

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json with what was converted and dropped."""
    args = _arguments(argv)
    output = new_folder(args.output)
    source = Variant(args.convert_src) if args.convert_src else None
    target = Variant(args.filter_trg) if args.filter_trg else None
    dropped: Counter[str] = Counter()
    with scratch_folder(output, args.corpus_src.name) as scratch:
        files = [scratch / f"corpus.{args.src}.zst", scratch / f"corpus.{args.trg}.zst"]
        pairs = _in_variant(file_pairs(args.corpus_src, args.corpus_trg), source, target, dropped)
        written, samples = write_pairs(pairs, files)
        refuse_empty(written, Origin(dropped=dropped))
        stats: dict[str, object] = {
            "lines": {"in": written + dropped.total(), "kept": written, "dropped": dict(dropped)},
            "converted": source.converted if source else 0,
            "samples": samples,
        }
        publish(files, stats, output)
    log.info("Converted %s, dropped %s", f"{stats['converted']:,}", f"{dropped.total():,}")


def _in_variant(
    pairs: Iterable[Pair], source: Variant | None, target: Variant | None, dropped: Counter[str]
) -> Iterator[Pair]:
    for src, trg in pairs:
        reason = target.why_not(trg) if target else ""
        if reason:
            dropped[reason] += 1
        else:
            yield source.convert(src) if source else src, trg


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--src", required=True, help="source language, as it stands in file names")
    add("--trg", required=True, help="target language, as it stands in file names")
    add("--convert-src", choices=VARIANTS, help="variant that the Chinese source is converted to")
    add("--filter-trg", choices=VARIANTS, help="variant that the Chinese target must be in")
    add("--corpus-src", required=True, type=Path, help="source side (.zst, .gz or plain)")
    add("--corpus-trg", required=True, type=Path, help="target side")
    add("--output", required=True, type=Path, help="new folder for the corpus")
    args = parser.parse_args(argv)
    if not (args.convert_src or args.filter_trg):
        parser.error("give --convert-src, --filter-trg or both")
    return args


if __name__ == "__main__":
    run(main)
