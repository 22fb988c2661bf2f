"""Clean a parallel corpus by the filters of files of OpusCleaner.

    python -m pipeline.clean.clean_parallel --src en --trg ru --src-script Latin --trg-script Cyrillic \\
        --filters default.filters.json --alphabets alphabets.json --words words.json \\
        --currencies currencies.json --patterns remove_frequent_patterns.txt \\
        --corpus-src corpus.en.zst --corpus-trg corpus.ru.zst --output clean

    clean/corpus.en.zst, clean/corpus.ru.zst    the good pairs, in the given order
    clean/stats.json                            lines in, kept, dropped by filter; samples of the dropped;
                                                of each side's lines in its script, how many are identified as
                                                another language, as which, and samples (identified);
                                                whether source and target go together, before anything
                                                is dropped (agreement: see pipeline.clean.agreement)

The filters run in the order of the file, one file after the other, and do what OpusCleaner 0.7.1 does: white
space and entities, lengths, the share of letters, numbers, web addresses, wiki markup, currencies,
substitutions. Lines of more than 25,000 characters are dropped before (too_long); tabs and carriage returns
become spaces.

Languages are told apart, where the file has `fasttext_filter`, by HeLI-OTS, offline, or for each side by
the model of fastText that --src-language-model and --trg-language-model name. A line of fewer than 20
letters (8 of Chinese and Japanese) is never dropped for its language, unless --believe-always is given.

Filters of OpusCleaner that are not made anew here are run by OpusCleaner itself, more slowly, in an
environment that is made from --opuscleaner-lock when it is first needed.

Lines are worked on in TRANSLATIONS_THREADS processes; the result is the same for any number of them.
"""

import argparse
import json
import logging
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pipeline.clean.cleaning import clean
from pipeline.clean.filtering.cleaner import FilterCleaner
from pipeline.clean.filtering.filter_file import FilterStep, read_filter_file
from pipeline.clean.filtering.registry import Resources, make_filters
from pipeline.clean.identification import Identifier, make_identifier, sample_of
from pipeline.common.environments import interpreter
from pipeline.common.lines import read_lines
from pipeline.common.script import run

logger = logging.getLogger(__name__)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Clean a parallel corpus by the filters of files.")
    for side, text in (("src", "source"), ("trg", "target")):
        parser.add_argument(f"--{side}", required=True, help=f"{text} language, e.g. zh_hant")
        parser.add_argument(
            f"--{side}-script", required=True, help=f"Unicode's name of the {text} script, e.g. Han"
        )
        parser.add_argument(
            f"--{side}-code", help=f"{text} language in the filter file, e.g. zh_Hant; --{side} by default"
        )
        parser.add_argument(
            f"--{side}-labels",
            nargs="*",
            default=[],
            help=f"the {text} language's labels in its model, or in HeLI-OTS, e.g. rus",
        )
        parser.add_argument(
            f"--{side}-language-model",
            type=Path,
            help=f"model of fastText that identifies the {text} language",
        )
        parser.add_argument(
            f"--corpus-{side}", required=True, type=Path, help=f"{text} side, a sentence a line"
        )
    parser.add_argument(
        "--filters", required=True, type=Path, nargs="+", help="the filter files (.filters.json)"
    )
    parser.add_argument("--fix-currencies", action="store_true", help="end with the filter currency_mismatch")
    parser.add_argument("--alphabets", required=True, type=Path, help="letters of each language, JSON")
    parser.add_argument("--words", required=True, type=Path, help="words for one of English, JSON")
    parser.add_argument("--currencies", required=True, type=Path, help="codes of each currency sign, JSON")
    parser.add_argument("--patterns", type=Path, nargs="*", default=[], help="files of frequent patterns")
    parser.add_argument(
        "--believe-always",
        action="store_true",
        help="believe the models of short lines, and when they are unsure",
    )
    parser.add_argument(
        "--opuscleaner-lock", type=Path, help="lock of OpusCleaner's environment, for filters that need it"
    )
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Clean a parallel corpus; see the module's text."""
    args = parse_arguments(argv)
    codes = (args.src_code or args.src, args.trg_code or args.trg)
    steps = [step for file in args.filters for step in read_filter_file(file, codes)]
    if args.fix_currencies and "currency_mismatch" not in [step.name for step in steps]:
        steps.append(FilterStep("--fix-currencies", 1, "currency_mismatch", (), {"FIX": True}))
    resources = Resources(
        alphabets=json.loads(args.alphabets.read_text(encoding="utf-8")),
        words_of_english=json.loads(args.words.read_text(encoding="utf-8")),
        currencies=json.loads(args.currencies.read_text(encoding="utf-8")),
        patterns={path.name: list(read_lines(path)) for path in args.patterns},
        identifiers=partial(_identifiers, args),
        codes=codes,
        opuscleaner=partial(interpreter, args.opuscleaner_lock) if args.opuscleaner_lock else None,
    )
    cleaner = FilterCleaner(make_filters(steps, resources))
    logger.info(
        "cleaning %s and %s: %s", args.corpus_src, args.corpus_trg, ", ".join(step.name for step in steps)
    )
    names = (f"corpus.{args.src}.zst", f"corpus.{args.trg}.zst")
    clean((args.corpus_src, args.corpus_trg), cleaner, names, args.output)


def _identifiers(args: argparse.Namespace) -> Sequence[Identifier]:
    always = args.believe_always
    source = make_identifier(args.src_labels, args.src_script, args.src_language_model, always)
    target = make_identifier(args.trg_labels, args.trg_script, args.trg_language_model, always)
    source.learn(sample_of(args.corpus_src))
    target.learn(sample_of(args.corpus_trg))
    return source, target


if __name__ == "__main__":
    run(main)
