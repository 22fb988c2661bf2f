"""Bring the Chinese of a parallel corpus into one variant: convert the source, filter pairs by the target.

    python -m pipeline.data.chinese_parallel --src en --trg zh --filter-trg simplified \\
        --corpus-src corpus.en.zst --corpus-trg corpus.zh.zst --output simplified
"""

import argparse
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pipeline.common.script import run
from pipeline.data.chinese import VARIANTS, Variant
from pipeline.data.corpus_script import corpus_parser, write_corpus
from pipeline.data.imports import Origin, refuse_empty
from pipeline.data.parallel import Pair
from pipeline.data.texts import file_pairs

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json with what was converted and dropped."""
    args = _arguments(argv)
    source = Variant(args.convert_src) if args.convert_src else None
    target = Variant(args.filter_trg) if args.filter_trg else None
    dropped: Counter[str] = Counter()
    pairs = _in_variant(file_pairs(args.corpus_src, args.corpus_trg), source, target, dropped)

    def stats(written: int) -> dict[str, object]:
        refuse_empty(written, Origin(dropped=dropped))
        lines = {"in": written + dropped.total(), "kept": written, "dropped": dict(dropped)}
        return {"lines": lines, "converted": source.converted if source else 0}

    write_corpus(args, pairs, stats)
    log.info("Converted %s, dropped %s", f"{source.converted if source else 0:,}", f"{dropped.total():,}")


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
    parser = corpus_parser(__doc__)
    add = parser.add_argument
    add("--convert-src", choices=VARIANTS, help="variant that the Chinese source is converted to")
    add("--filter-trg", choices=VARIANTS, help="variant that the Chinese target must be in")
    args = parser.parse_args(argv)
    if not (args.convert_src or args.filter_trg):
        parser.error("give --convert-src, --filter-trg or both")
    return args


if __name__ == "__main__":
    run(main)
