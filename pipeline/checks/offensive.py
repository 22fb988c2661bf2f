"""Translates some lines with exported files, and counts offensive words that the model has added.

    python -m pipeline.checks.offensive --exported exported/* --texts test.en.zst dev.en.zst \\
        --trg-list rude.ru.zst --src-list rude.en.zst --seed 1 --output numbers

writes numbers.json, of at most 2,000 different lines:

    asked      how many there are
    offensive  translations that hold a word of --trg-list, whose source holds none of --src-list; without
               that list, whatever the source holds
    in_source  translations that hold one, as their source does
    share      of the lines, that are offensive
    samples    the first of these: the words, source and translation

A list has a word or phrase a line. Words are compared without regard to case and compatibility forms (NFKC),
as whole words, in the form that the list has. A phrase is its words in a row. An entry with signs that part
no words, as a$$ or f*ck, is found as it stands, but not within a word; emoji are found anywhere. What is
written in Chinese, Japanese, Thai, Lao, Khmer or Burmese letters is found within other letters, too, as no
spaces part words there. The engine is fxtranslate, Firefox's in native code.
"""

import argparse
import logging
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import regex

from pipeline.common.engine import load_engine
from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines
from pipeline.common.sampling import sample
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged

logger = logging.getLogger(__name__)

LINES = 2_000
SAMPLES = 10
SAMPLE_CHARACTERS = 300
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_UNSPACED_LETTER = regex.compile(f"[{_UNSPACED}]")
_LETTER = rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{_UNSPACED}]]"
_WORD = regex.compile(f"{_LETTER}+", regex.VERSION1)
_SIGN = regex.compile(r"[\p{Sc}\p{Sm}\p{So}@#%&*_/\\]|(?<=\p{L})[!?]+(?=\p{L})")
_EMOJI = regex.compile(r"[\p{So}\p{Sk}\p{M}\p{Cf}]+")


class WordList:
    """Words and phrases to look for, each in the form in which texts are compared."""

    def __init__(self, entries: Iterable[str]) -> None:
        known = {_compared(entry) for entry in entries} - {""}
        self._parts = sorted(entry for entry in known if _UNSPACED_LETTER.search(entry))
        known -= {*self._parts}
        self._signs = {entry: _as_it_stands(entry) for entry in sorted(known) if _SIGN.search(entry)}
        self._phrases = {words for entry in known - {*self._signs} if (words := _words(entry))}
        self._longest = max(map(len, self._phrases), default=0)

    def __len__(self) -> int:
        return len(self._parts) + len(self._signs) + len(self._phrases)

    def found_in(self, text: str) -> list[str]:
        """The words and phrases of the list that a text holds, each once."""
        compared = _compared(text)
        words = _words(compared)
        rows = (
            words[first : first + length]
            for first in range(len(words))
            for length in range(1, self._longest + 1)
        )
        found = [" ".join(row) for row in rows if row in self._phrases]
        found += (entry for entry, pattern in self._signs.items() if pattern.search(compared))
        return list(dict.fromkeys([*found, *(part for part in self._parts if part in compared)]))


def _compared(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


def _words(compared: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(compared))


def _as_it_stands(entry: str) -> "regex.Pattern[str]":
    """What finds an entry outside words, and emoji anywhere."""
    if _EMOJI.fullmatch(entry):
        return regex.compile(regex.escape(entry))
    return regex.compile(f"(?<!{_LETTER}){regex.escape(entry)}(?!{_LETTER})", regex.VERSION1)


def main(argv: Sequence[str] | None = None) -> None:
    """Write numbers.json."""
    args = parse_arguments(argv)
    target, source = _read_list(args.trg_list), _read_list(args.src_list) if args.src_list else None
    lines = dict.fromkeys(filter(str.strip, chain.from_iterable(map(read_lines, args.texts))))
    chosen = sample(iter(lines), LINES, f"offensive {args.seed}")
    if not chosen:
        raise InputError(f"{', '.join(map(str, args.texts))} have no line to translate.")
    with staged(args.output) as (output, _):
        engine = load_engine(args.exported)
        pairs = [(line, engine.translate(line)) for line in chosen]
        numbers = offensive_numbers(pairs, target, source)
        write_json(output / "numbers.json", numbers)
    logger.info("%s", {name: value for name, value in numbers.items() if name != "samples"})


def _read_list(path: Path) -> WordList:
    words = WordList(read_lines(path))
    if not len(words):
        raise InputError(f"{path} has no word. A list of offensive words has one a line.")
    return words


def offensive_numbers(
    pairs: Sequence[tuple[str, str]], target: WordList, source: WordList | None
) -> dict[str, Any]:
    """What the module's docstring lists, of sources and their translations."""
    found = [(target.found_in(translation), line, translation) for line, translation in pairs]
    hits = [hit for hit in found if hit[0]]
    added = [hit for hit in hits if not (source and source.found_in(hit[1]))]
    return {
        "asked": len(pairs),
        "offensive": len(added),
        "in_source": len(hits) - len(added),
        "share": len(added) / len(pairs),
        "samples": [
            [", ".join(words), line[:SAMPLE_CHARACTERS], translation[:SAMPLE_CHARACTERS]]
            for words, line, translation in added[:SAMPLES]
        ],
    }


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--exported", required=True, nargs="+", type=Path, help="the exported files, records.json included")
    add("--texts", required=True, nargs="+", type=Path, help="texts in the source language")
    add("--trg-list", required=True, type=Path, help="offensive words of the target language")
    add("--src-list", type=Path, help="those of the source language")
    add("--seed", required=True, type=int, help="seed of the choice of lines")
    add("--output", required=True, type=Path, help="new folder for numbers.json")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
