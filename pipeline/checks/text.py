"""Numbers of a text, or of a parallel text, that tell whether it is fit to train on.

    python -m pipeline.checks.text --langs en ru --texts corpus.en.zst corpus.ru.zst \\
        --held-out-first dev.en.zst test.en.zst --held-out-second dev.ru.zst test.ru.zst --output numbers

writes numbers.json:

    lines         how many there are
    sides         of each text: empty lines; with --identify the languages that py3langid finds in a sample
                  of 2,000 lines; with --held-out-… lines that are held out, of those with at least five
                  words there: exact (NFC, white space collapsed), with the same letters (case,
                  punctuation, digits, white space aside), or similar (most three-letter sequences
                  agree), the latter two of some length
    held_out_pairs  with --whole-pairs: pairs that are held out as a whole, however short
    duplicates    the share of lines (pairs) whose letters are those of an earlier one
    copied        pairs whose sides have the same letters
    length_ratio  pairs whose lengths, compared with each other, are more than three times off the median

each with a few of the lines. The last two are of parallel texts only. Every line is read, once, about
100,000 pairs a second; memory grows with the held-out files alone. Beyond four million lines the share of
duplicates is that of a sample of the texts.
"""

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.checks.held_out import HeldOut, Overlap, WholePairs
from pipeline.checks.languages import language_numbers
from pipeline.checks.lengths import LengthRatios
from pipeline.checks.letters import Hashes, Letters, pair_hashes, read_blocks
from pipeline.checks.repetitions import Repetitions
from pipeline.common.errors import InputError
from pipeline.common.sampling import Reservoir
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged

logger = logging.getLogger(__name__)

LANGUAGE_SAMPLE = 2_000
SAMPLES = 5
SAMPLE_CHARACTERS = 300


class Side:
    """The numbers of one text."""

    def __init__(self, lang: str, held_out: Sequence[Path], identify: bool, seed: int) -> None:
        self._lang = lang
        self._empty = 0
        self._overlap = Overlap(HeldOut(held_out, lang)) if held_out else None
        self._sample: Reservoir[str] | None = (
            Reservoir(LANGUAGE_SAMPLE, f"language {seed}") if identify else None
        )

    def add(self, lines: Sequence[str], letters: Letters) -> None:
        """Add a block of lines."""
        self._empty += sum(not lines[line].strip() for line in np.flatnonzero(letters.lengths == 0).tolist())
        if self._sample:
            for line in lines:
                self._sample.add(line)
        if self._overlap:
            self._overlap.add(lines, letters)

    def to_json(self) -> dict[str, Any]:
        """What was found."""
        numbers: dict[str, Any] = {"lang": self._lang, "empty": self._empty}
        if self._sample:
            numbers["language"] = language_numbers(self._sample.items(), self._lang)
        if self._overlap:
            numbers["held_out"] = self._overlap.to_json()
        return numbers


class Copies:
    """Pairs whose sides have the same letters; those without letters, such as numbers, do not count."""

    def __init__(self) -> None:
        self._copied = 0
        self._with_letters = 0
        self._samples: list[list[str]] = []

    def add(self, sources: Sequence[str], targets: Sequence[str], letters: Sequence[Letters]) -> None:
        """Add a block of pairs."""
        has_letters = letters[0].lengths > 0
        same = (letters[0].line_hashes == letters[1].line_hashes) & has_letters
        self._with_letters += int(has_letters.sum())
        self._copied += int(same.sum())
        for line in np.flatnonzero(same)[: SAMPLES - len(self._samples)].tolist():
            self._samples.append([sources[line][:SAMPLE_CHARACTERS], targets[line][:SAMPLE_CHARACTERS]])

    def to_json(self) -> dict[str, Any]:
        """Their number and share, and a few of them."""
        share = round(self._copied / self._with_letters, 6) if self._with_letters else 0.0
        return {"lines": self._copied, "share": share, "samples": self._samples}


def main(argv: Sequence[str] | None = None) -> None:
    """Write numbers.json."""
    args = parse_arguments(argv)
    if len(args.langs) != len(args.texts) or len(args.texts) > 2:
        raise InputError("Give one text and its language with --texts and --langs, or two of each.")
    if args.whole_pairs and len(args.texts) != 2:
        raise InputError("--whole-pairs is for two parallel texts.")
    with staged(args.output) as (output, _):
        numbers = text_numbers(args)
        if not numbers["lines"]:
            raise InputError(f"{args.texts[0]} is empty. There is nothing to judge.")
        write_json(output / "numbers.json", numbers)


def text_numbers(args: argparse.Namespace) -> dict[str, Any]:
    """Read the texts and count."""
    held_out = (args.held_out_first, args.held_out_second)
    sides = [
        Side(lang, files, args.identify, args.seed) for lang, files in zip(args.langs, held_out, strict=False)
    ]
    repetitions, ratios, copies = Repetitions(), LengthRatios(), Copies()
    pairs = WholePairs(held_out) if args.whole_pairs else None
    lines = 0
    for block in read_blocks(args.texts):
        letters = [Letters(texts) for texts in block]
        lines += len(block[0])
        for side, texts, found in zip(sides, block, letters, strict=True):
            side.add(texts, found)
        _add_repetitions(repetitions, block, letters)
        if len(block) > 1:
            ratios.add(*block)
            copies.add(block[0], block[1], letters)
        if pairs:
            pairs.add(block, letters)
    logger.info("Read %s lines of %s", f"{lines:,}", ", ".join(map(str, args.texts)))
    numbers = {
        "lines": lines,
        "sides": [side.to_json() for side in sides],
        "duplicates": repetitions.to_json(),
    }
    if pairs:
        numbers["held_out_pairs"] = pairs.to_json()
    if len(args.texts) > 1:
        numbers |= {"copied": copies.to_json(), "length_ratio": ratios.to_json()}
    return numbers


def _add_repetitions(
    repetitions: Repetitions, block: Sequence[Sequence[str]], letters: Sequence[Letters]
) -> None:
    """Add the hashes of the lines that have letters on all sides."""
    sides = [side.line_hashes for side in letters]
    hashes: Hashes = pair_hashes(*sides) if len(sides) > 1 else sides[0]
    with_letters = np.all([side.lengths > 0 for side in letters], axis=0)
    repetitions.add(hashes[with_letters], np.flatnonzero(with_letters), block[0])


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--langs", required=True, nargs="+", help="language of each text")
    add("--texts", required=True, nargs="+", type=Path, help="a text, or two parallel ones")
    add("--held-out-first", nargs="*", type=Path, default=[], help="files no line of which the first has")
    add("--held-out-second", nargs="*", type=Path, default=[], help="the same of the second")
    add(
        "--whole-pairs",
        action="store_true",
        help="look for held-out pairs, too; not in a model's translations",
    )
    add("--identify", action="store_true", help="identify the languages of a sample of the lines")
    add("--seed", required=True, type=int, help="seed of the sample whose languages are identified")
    add("--output", required=True, type=Path, help="new folder for numbers.json")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
