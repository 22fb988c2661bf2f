"""Clean text of one language by rules: repair each line, drop what is no sentence of the language.

    python -m pipeline.clean.clean_mono --lang ru --script Cyrillic --text mono.ru.zst --output clean

    clean/mono.ru.zst     the good lines, in the given order
    clean/stats.json      lines in, kept, dropped by reason; samples of what was dropped

The repairs and the rules for one side are those of pipeline.clean.clean_parallel: empty, too_long, long_word,
few_letters, other_script, other_language.
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
    parser = argparse.ArgumentParser(description="Clean text of one language by rules.")
    parser.add_argument("--lang", required=True, help="language, e.g. ru")
    parser.add_argument("--script", required=True, help="Unicode's name of its script, e.g. Cyrillic")
    parser.add_argument("--text", required=True, type=Path, help="the text, one sentence a line")
    parser.add_argument("--unspaced", action="store_true", help="written without spaces (zh, ja, ko, th)")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Clean text of one language; see the module's text."""
    args = parse_arguments(argv)
    language = Language(args.lang, args.script, args.unspaced)
    logger.info("cleaning %s as %s", args.text, language)
    clean(zip_lines(args.text), [language], [f"mono.{args.lang}.zst"], args.output)


if __name__ == "__main__":
    run(main)
