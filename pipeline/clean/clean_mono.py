"""Clean text of one language by rules: repair each line, drop what is no sentence of the language.

    python -m pipeline.clean.clean_mono --lang ru --script Cyrillic --alphabets alphabets.json \\
        --max-tokens 200 --text mono.ru.zst --output clean

    clean/mono.ru.zst     the good lines, in the given order
    clean/stats.json      lines in, kept, dropped by reason; samples of what was dropped; of lines in
                          the script, how many are identified as another language, as which, samples

Repairs: HTML and Moses entities, markup, control characters, white space. Then the rules, in this order; the
first one broken is the reason that is counted. A token is a word, or a character with --unspaced:

    empty            nothing left
    too_short        fewer than 2 tokens
    too_long         more than --max-tokens, or 25,000 characters before repairs
    long_word        a word of more than 150 characters; not with --unspaced
    ratio_alpha      under 40 % of the tokens begin with a letter of the language
    ratio_chars      under 50 % of the characters that are not spaces are letters of the language
    other_language   another language, as HeLI-OTS sees it, offline, or the model of fastText that
                     --language-model names; never for fewer than 20 letters (8 of Chinese and Japanese).
                     HeLI-OTS is slower to see one that few of the text's longer lines are in

The two ratios are asked of languages of which --alphabets knows the letters.

Lines are worked on in TRANSLATIONS_THREADS processes; the result is the same for any number of them.
"""

import argparse
import json
import logging
from collections.abc import Sequence
from pathlib import Path

from pipeline.clean.arguments import positive
from pipeline.clean.cleaning import clean
from pipeline.clean.filtering.block import Table
from pipeline.clean.filtering.cleaner import FilterCleaner
from pipeline.clean.filtering.lengths import letter_table
from pipeline.clean.identification import make_identifier, sample_of
from pipeline.clean.rules import Tokens, mono_filters
from pipeline.common.script import run

logger = logging.getLogger(__name__)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Clean text of one language by rules.")
    parser.add_argument("--lang", required=True, help="language, e.g. ru")
    parser.add_argument("--script", required=True, help="Unicode's name of its script, e.g. Cyrillic")
    parser.add_argument("--text", required=True, type=Path, help="the text, one sentence a line")
    parser.add_argument("--alphabets", required=True, type=Path, help="letters of each language, JSON")
    parser.add_argument("--alphabet", help="the language in it, e.g. zh_Hant; --lang by default")
    parser.add_argument(
        "--unspaced", action="store_true", help="tokens are characters (zh, ja, ko, th), not words"
    )
    parser.add_argument("--max-tokens", required=True, type=positive, help="most tokens of a line")
    parser.add_argument("--language-model", type=Path, help="model of fastText that identifies languages")
    parser.add_argument(
        "--labels", nargs="*", default=[], help="the language's labels in it, or in HeLI-OTS, e.g. rus"
    )
    parser.add_argument(
        "--believe-always",
        action="store_true",
        help="believe the model of short lines, and when it is unsure",
    )
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Clean text of one language; see the module's text."""
    args = parse_arguments(argv)
    tokens = Tokens(args.unspaced, args.max_tokens)
    logger.info("cleaning %s as %s, %s", args.text, args.lang, tokens)
    identifier = make_identifier(args.labels, args.script, args.language_model, args.believe_always)
    identifier.learn(sample_of(args.text))
    cleaner = FilterCleaner(mono_filters(tokens, _letters(args), identifier))
    clean([args.text], cleaner, [f"mono.{args.lang}.zst"], args.output)


def _letters(args: argparse.Namespace) -> Table | None:
    alphabets = json.loads(args.alphabets.read_text(encoding="utf-8"))
    alphabet = args.alphabet or args.lang
    if alphabet in alphabets:
        return letter_table(alphabets[alphabet])
    logger.warning("the letters of %r are not known, so their share is not asked", alphabet)
    return None


if __name__ == "__main__":
    run(main)
