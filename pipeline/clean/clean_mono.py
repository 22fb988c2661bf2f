"""Clean text of one language by rules: repair each line, drop what is no sentence of the language.

    python -m pipeline.clean.clean_mono --lang ru --script Cyrillic --text mono.ru.zst --output clean

    clean/mono.ru.zst     the good lines, in the given order
    clean/stats.json      lines in, kept, dropped by reason; samples of what was dropped

Repairs: HTML and Moses entities, markup, control characters, white space. Rules, in this order; the first one
broken is the reason that is counted:

    empty            nothing left
    too_long         150 words (450 characters with --unspaced), 25,000 characters before repairs
    long_word        a word of more than 150 characters
    few_letters      under 40 % of the line are letters (tables, numbers alone)
    other_script     under 40 % of the letters are of the expected script
    other_language   clearly another language; never for fewer than 20 letters, nor for look-alike languages

With --language-model the last rule drops what that model of fastText takes for another language, however
short.

Lines are worked on in TRANSLATIONS_THREADS processes; the result is the same for any number of them.
"""

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path

from pipeline.clean.alphabet import check_script
from pipeline.clean.cleaning import clean
from pipeline.clean.identification import FastText, Identifier, Offline
from pipeline.clean.rules import Language, RuleCleaner
from pipeline.common.script import run

logger = logging.getLogger(__name__)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Clean text of one language by rules.")
    parser.add_argument("--lang", required=True, help="language, e.g. ru")
    parser.add_argument("--script", required=True, help="Unicode's name of its script, e.g. Cyrillic")
    parser.add_argument("--text", required=True, type=Path, help="the text, one sentence a line")
    parser.add_argument("--unspaced", action="store_true", help="written without spaces (zh, ja, ko, th)")
    parser.add_argument("--language-model", type=Path, help="model of fastText that identifies languages")
    parser.add_argument("--labels", nargs="*", default=[], help="its labels for the language, e.g. rus_Cyrl")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Clean text of one language; see the module's text."""
    args = parse_arguments(argv)
    language = Language(args.lang, args.script, args.unspaced)
    logger.info("cleaning %s as %s", args.text, language)
    cleaner = RuleCleaner(language, _identifier(args))
    clean([args.text], cleaner, [f"mono.{args.lang}.zst"], args.output)


def _identifier(args: argparse.Namespace) -> Identifier:
    check_script(args.script)
    if args.language_model:
        return FastText(args.language_model, [args.labels])
    return Offline([(args.lang, args.script)])


if __name__ == "__main__":
    run(main)
