"""Letters of real text in each language that the filters' tables lack, and words a sentence.

    python -m benchmarks.alphabets --work DIR [--langs ar tr …]

For messages of programs that people translated (benchmarks.debian_text; fetched into DIR once) prints, for
each language, the letters of its script that its alphabet in pipeline/clean/filters/alphabets.json lacks,
with their number in 100,000 letters; and the words of the translations for each word of English, over lines
of eight English words and more, with the standard error: what pipeline/clean/filters/words.json is made of.
"""

from __future__ import annotations

import argparse
import json
import math
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import regex

from benchmarks.debian_text import read_pairs
from pipeline.clean.filtering.block import Column
from pipeline.clean.filtering.lengths import count_words, letter_table
from translations_assets.config.languages import language, languages
from translations_assets.stages.languages import TABLE, opuscleaner_code

LEAST_WORDS = 8
LEAST_LINES = 100
RARE = 3  # in 100,000 letters
SHOWN = 14
IDEOGRAPHIC = ("Han", "Japanese", "Korean")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures; see the module's text."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", required=True, type=Path, help="folder of what is fetched")
    parser.add_argument("--langs", nargs="*", help="languages of the pipeline; all of them by default")
    args = parser.parse_args(argv)
    langs = args.langs or [*languages()]
    alphabets: Mapping[str, str] = json.loads(TABLE.read_text(encoding="utf-8"))
    for lang, pairs in sorted(read_pairs(args.work, langs).items()):
        spoken = language(lang)
        targets = [unicodedata.normalize("NFC", target) for _, target in pairs]
        alphabet = alphabets.get(opuscleaner_code(spoken), "")
        asked = alphabet and spoken.script not in IDEOGRAPHIC
        lacking = missing_letters(targets, alphabet, spoken.script) if asked else "not asked"
        print(f"{lang:8} {len(pairs):7,} lines  {words_of_english(pairs):22}  {lacking}")


def missing_letters(lines: Sequence[str], alphabet: str, script: str) -> str:
    """The letters of a script that an alphabet lacks, the most frequent first, each in 100,000 letters."""
    letters = Counter("".join(lines).replace("İ", "i").lower())  # whose small letter has a mark of its own
    table = letter_table(alphabet)
    own = regex.compile(rf"[\p{{L}}\p{{M}}&&[\p{{Script={script}}}\p{{Inherited}}]]", regex.V1)
    counted = {letter: number for letter, number in letters.items() if own.match(letter)}
    total = sum(counted.values())
    shares = {letter: 1e5 * number / total for letter, number in counted.items() if not table[ord(letter)]}
    frequent = sorted(filter(lambda it: shares[it] >= RARE, shares), key=lambda it: -shares[it])
    return " ".join(f"{letter} {shares[letter]:.0f}" for letter in frequent[:SHOWN])


def words_of_english(pairs: Sequence[tuple[str, str]]) -> str:
    """Words of the translations for each of English, with the standard error of the ratio of sums."""
    english, other = (count_words(Column([pair[side] for pair in pairs])) for side in (0, 1))
    long = english >= LEAST_WORDS
    if long.sum() < LEAST_LINES:
        return "too few long lines"
    ratio = float(other[long].sum() / english[long].sum())
    residuals = other[long] - ratio * english[long]
    error = float(np.std(residuals)) * math.sqrt(int(long.sum())) / float(english[long].sum())
    return f"{ratio:.2f} ± {error:.3f} words"


if __name__ == "__main__":
    main()
