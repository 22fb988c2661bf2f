"""Clean a parallel corpus by rules: repair each line, drop the pairs that teach nothing or the wrong thing.

    python -m pipeline.clean.clean_parallel --src en --trg ru --src-script Latin --trg-script Cyrillic \\
        --corpus-src corpus.en.zst --corpus-trg corpus.ru.zst --output clean

    clean/corpus.en.zst, clean/corpus.ru.zst    the good pairs, in the given order
    clean/stats.json                            lines in, kept, dropped by reason; samples of what was dropped

Repairs: HTML and Moses entities, markup, control characters, white space. Rules, in this order; the first one
broken is the reason that is counted:

    empty            a side with nothing left
    too_long         150 words (450 characters with --unspaced-…), 25,000 characters before repairs
    long_word        a word of more than 150 characters
    few_letters      under 40 % of a side are letters (tables, numbers alone)
    other_script     under 40 % of a side's letters are of the expected script
    length_mismatch  one side 2.2 times as long as the other, 3 with --unspaced-…; short sides with some slack
    copied           both sides the same, four words or more
    url_mismatch     different numbers of web addresses, or other digits in them
    number_mismatch  other numbers, allowing for each language's way of writing and for numbers in words
    other_language   clearly another language; never for fewer than 20 letters, nor for look-alike languages

Lines are worked on in TRANSLATIONS_THREADS processes; the result is the same for any number of them.
"""

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path

from pipeline.clean.cleaning import clean
from pipeline.clean.rules import Language
from pipeline.common.lines import zip_lines
from pipeline.common.script import run

logger = logging.getLogger(__name__)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Clean a parallel corpus by rules.")
    parser.add_argument("--src", required=True, help="source language, e.g. en")
    parser.add_argument("--trg", required=True, help="target language, e.g. ru")
    parser.add_argument("--src-script", required=True, help="Unicode's name of the source script, e.g. Latin")
    parser.add_argument("--trg-script", required=True, help="Unicode's name of the target script")
    parser.add_argument("--corpus-src", required=True, type=Path, help="source side, one sentence a line")
    parser.add_argument("--corpus-trg", required=True, type=Path, help="target side, parallel to it")
    parser.add_argument("--unspaced-src", action="store_true", help="source without spaces (zh, ja, ko, th)")
    parser.add_argument("--unspaced-trg", action="store_true", help="target without spaces")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Clean a parallel corpus; see the module's text."""
    args = parse_arguments(argv)
    languages = (
        Language(args.src, args.src_script, args.unspaced_src),
        Language(args.trg, args.trg_script, args.unspaced_trg),
    )
    logger.info("cleaning %s and %s as %s", args.corpus_src, args.corpus_trg, languages)
    names = (f"corpus.{args.src}.zst", f"corpus.{args.trg}.zst")
    clean(zip_lines(args.corpus_src, args.corpus_trg), languages, names, args.output)


if __name__ == "__main__":
    run(main)
