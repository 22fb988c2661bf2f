"""Text that a vocabulary spells in bytes or letters, with and without the languages' letters and upper case.

    python -m benchmarks.vocabulary --langs en fr --corpus corpus.en.gz corpus.fr.gz \\
        [--sample-size 300000] [--vocab-size 32000] [--words où sûr cœur À]

Learns three vocabularies, joint ones, from the same sample by the pipeline's script: of the text alone; the
languages' letters given; and a share of the lines in upper and title case, as in training, which is the
default. Prints which letters need bytes in each, how often, how many lines that concerns, into how many
pieces it cuts the text as it is and in upper case, and how it cuts the words.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipeline.checks.vocabulary import coverage
from pipeline.common.case import upper, with_capitals
from pipeline.common.lines import read_lines
from pipeline.common.vocabulary import load_vocabulary
from pipeline.train.vocab import main as train
from translations_assets.config.languages import language
from translations_assets.stages.languages import letters


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures; see the module's text."""
    args = parse_arguments(argv)
    alphabets = [with_capitals(letters(language(lang)), lang) for lang in args.langs]
    with tempfile.TemporaryDirectory() as folder:
        for name, given, case in (
            ("text alone", ("", ""), []),
            ("letters given", alphabets, []),
            ("letters given, upper and title case", alphabets, ["--bicameral"]),
        ):
            model = Path(folder, name)
            train([*_options(args, given, model), *case])
            print(f"{name}:")
            _report(args, model / f"vocab.{args.langs[1]}.spm", alphabets)


def _options(args: argparse.Namespace, alphabets: Sequence[str], output: Path) -> list[str]:
    options = ["--norm-rule", "nmt_nfkc", "--seed", "1", "--output", str(output)]
    options += ["--curriculum", "pipeline/train/configs/curriculum/teacher.one-stage.yml"]
    options += ["--vocab-size", str(args.vocab_size), "--sample-size", str(args.sample_size)]
    for side, lang, corpus, alphabet in zip(("src", "trg"), args.langs, args.corpus, alphabets, strict=True):
        options += [f"--{side}", lang, f"--corpus-{side}", str(corpus), f"--{side}-letters={alphabet}"]
    return options


def _report(args: argparse.Namespace, model: Path, alphabets: Sequence[str]) -> None:
    vocabulary = load_vocabulary(model)
    for lang, corpus, alphabet in zip(args.langs, args.corpus, alphabets, strict=True):
        text = list(read_lines(corpus))
        found: dict[str, Any] = coverage(text, vocabulary, alphabet)
        capitals: dict[str, Any] = coverage([upper(line, lang) for line in text], vocabulary, alphabet)
        in_bytes = ", ".join(f"{letter} × {times:,}" for letter, times in found["letters_in_bytes"].items())
        lines = f"{found['lines_not_covered']:,} of {found['lines']:,} lines need bytes"
        print(f"  {lang}: letters in bytes: {in_bytes or 'none'}; {lines}")
        print(f"    {found['pieces']:,} pieces; in upper case {capitals['pieces']:,}")
    for word in args.words:
        print(f"  {word}: {' '.join(vocabulary.encode(word, str))}")


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--langs", required=True, nargs=2, help="the two languages")
    parser.add_argument("--corpus", required=True, nargs=2, type=Path, help="their parallel text")
    parser.add_argument("--vocab-size", type=int, default=32_000, help="number of pieces")
    parser.add_argument("--sample-size", type=int, default=300_000, help="sentences to learn from")
    parser.add_argument("--words", nargs="*", default=[], help="to show how they are cut")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
