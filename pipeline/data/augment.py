"""Make a variant of a test or dev set, as models meet such lines in training, by the same modifiers.

upper         both sides in upper case, each by the rules of its language
title         both sides With Each Word Capitalised, likewise
typos         four kinds of typing errors in each source line, drawn anew for each line; the target as it is
punct         the final punctuation dropped from both sides where it is of the same kind
noise         before each pair a pair of noise, the same random words on both sides
inline-noise  random words put into both sides, after 5 % of the words that are aligned one to one
mix           a few of all these: each changes 5 % of the lines (inline noise 1 % of the words); title and
              upper for scripts with two cases, typos for scripts that spell sounds
mix-nocase    the mix without title and upper
mix-cjk       the mix without title, upper and typos
short         400 pairs with one or two words a side, unchanged

A modifier changes the target where training does, so that the reference is what a model learns to produce.
Noise inside lines needs the corpus's tokens and word alignments.

    python -m pipeline.data.augment --modifier upper --src en --trg eo \\
        --corpus-src test/corpus.en.zst --corpus-trg test/corpus.eo.zst --output test-upper
"""

import argparse
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.common.lines import zip_lines
from pipeline.common.script import run
from pipeline.data.corpus_script import corpus_parser, write_corpus
from pipeline.data.imports import Origin, refuse_empty
from pipeline.data.modifiers import ALIGNED, MODIFIERS, Languages, modify
from pipeline.data.parallel import Pair
from pipeline.data.short_pairs import short_pairs
from pipeline.data.texts import file_pairs
from pipeline.data.word_links import word_links

log = logging.getLogger(__name__)

SHORT = "short"
COUNTS = ("changed", "noise pairs added")


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json with the numbers of changed and added pairs."""
    args = _arguments(argv)
    log.info("Applying %s to %s and %s", args.modifier, args.corpus_src, args.corpus_trg)
    counts: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    dropped: Counter[str] = Counter()
    if args.modifier == SHORT:
        pairs = file_pairs(args.corpus_src, args.corpus_trg)
        variant = iter(short_pairs(pairs, (args.src, args.trg), dropped))
    else:
        variant = _modified(args, counts)

    def stats(written: int) -> dict[str, object]:
        refuse_empty(written, Origin(dropped=dropped))
        lines = {"in": written + dropped.total(), "kept": written, "dropped": dict(+dropped)}
        return {"lines": lines, **counts}

    write_corpus(args, variant, stats)
    log.info("%s", counts)


def _modified(args: argparse.Namespace, counts: Counter[str]) -> Iterator[Pair]:
    aligned = (args.tokens_src, args.tokens_trg, args.alignments) if args.modifier in ALIGNED else ()
    languages = Languages(args.src, args.trg, args.bicameral, args.phonemic)
    for number, (src, trg, *tokens) in enumerate(zip_lines(args.corpus_src, args.corpus_trg, *aligned)):
        links = word_links(*tokens) if tokens else ""
        *added, variant = modify((src, trg), args.modifier, number, languages, links)
        counts["changed"] += variant != (src, trg)
        counts["noise pairs added"] += len(added)
        yield from (*added, variant)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = corpus_parser(__doc__)
    add = parser.add_argument
    add("--modifier", required=True, choices=sorted((*MODIFIERS, SHORT)), help="what to do to the lines")
    add("--bicameral", action="store_true", help="the source's script has upper and lower case, for mix")
    add("--phonemic", action="store_true", help="the source's script spells sounds, for mix")
    add("--tokens-src", type=Path, help="source side as tokens, for noise inside lines")
    add("--tokens-trg", type=Path, help="target side as tokens")
    add("--alignments", type=Path, help="links between the tokens, a line a pair")
    args = parser.parse_args(argv)
    if args.modifier in ALIGNED and not (args.tokens_src and args.tokens_trg and args.alignments):
        parser.error(f"{args.modifier} needs --tokens-src, --tokens-trg and --alignments")
    return args


if __name__ == "__main__":
    run(main)
