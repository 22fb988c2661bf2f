"""Numbers of a text, or of a parallel text, that tell whether it is fit to train on.

    python -m pipeline.checks.text --langs en ru --texts corpus.en.zst corpus.ru.zst \\
        --held-out-first dev.en.zst test.en.zst --held-out-second dev.ru.zst test.ru.zst --output numbers

writes numbers.json:

    lines         how many there are
    sides         of each text: empty lines; with --scripts the languages of a sample of 2,000 lines, by
                  HeLI-OTS or --language-model-…, as `pipeline.clean` tells them (--labels-… are the text's
                  own); with --held-out-… lines that are held out, of those with at least five words
                  there: exact (NFC, white space collapsed), with the same letters (case, punctuation,
                  digits, white space aside), or similar (most three-letter sequences agree), the latter
                  two of some length
    held_out_pairs  with --whole-pairs: pairs that are held out as a whole, however short
    duplicates    the share of lines (pairs) whose letters are those of an earlier one
    copied        pairs whose sides have the same letters
    length_ratio  that of the sides' lengths, and pairs in which it is more than three times off the median
    distinct      how many different lines each side has, by their letters
    loops         on each side, the lines of a sample of 20,000 that repeat themselves and whose other side
                  does not

each with a few of the lines. The last four are of parallel texts only. Every line is read, once, about
100,000 pairs a second; memory grows with the held-out files alone. Beyond four million different lines their
number, and that of duplicates, is an estimate, right to a thousandth of it.
"""

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.checks.held_out import HeldOut, Overlap, WholePairs
from pipeline.checks.languages import language_numbers
from pipeline.checks.letters import Letters, read_blocks
from pipeline.checks.pairs import Pairs, add_repetitions
from pipeline.checks.repetitions import Repetitions
from pipeline.clean.identification import Identifier, make_identifier
from pipeline.common.errors import InputError
from pipeline.common.sampling import Reservoir
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged

logger = logging.getLogger(__name__)

LANGUAGE_SAMPLE = 2_000


class Side:
    """The numbers of one text."""

    def __init__(self, lang: str, held_out: Sequence[Path], languages: "Languages | None") -> None:
        self._lang = lang
        self._empty = 0
        self._overlap = Overlap(HeldOut(held_out, lang)) if held_out else None
        self._languages = languages

    def add(self, lines: Sequence[str], letters: Letters) -> None:
        """Add a block of lines."""
        self._empty += sum(not lines[line].strip() for line in np.flatnonzero(letters.lengths == 0).tolist())
        if self._languages:
            self._languages.add(lines)
        if self._overlap:
            self._overlap.add(lines, letters)

    def to_json(self) -> dict[str, Any]:
        """What was found."""
        numbers: dict[str, Any] = {"lang": self._lang, "empty": self._empty}
        if self._languages:
            numbers["language"] = self._languages.to_json()
        if self._overlap:
            numbers["held_out"] = self._overlap.to_json()
        return numbers


class Languages:
    """The languages of a sample of a text's lines."""

    def __init__(self, identifier: Identifier, seed: int) -> None:
        self._identifier = identifier
        self._sample: Reservoir[str] = Reservoir(LANGUAGE_SAMPLE, f"language {seed}")

    def add(self, lines: Sequence[str]) -> None:
        """Add a block of lines."""
        for line in lines:
            self._sample.add(line)

    def to_json(self) -> dict[str, Any]:
        """What was found."""
        return language_numbers(self._sample.items(), self._identifier)


def main(argv: Sequence[str] | None = None) -> None:
    """Write numbers.json."""
    args = parse_arguments(argv)
    if len(args.langs) != len(args.texts) or len(args.texts) > 2:
        raise InputError("Give one text and its language with --texts and --langs, or two of each.")
    if args.whole_pairs and len(args.texts) != 2:
        raise InputError("--whole-pairs is for two parallel texts.")
    if args.scripts and len(args.scripts) != len(args.texts):
        raise InputError("Give the script of each text with --scripts.")
    with staged(args.output) as (output, _):
        numbers = text_numbers(args)
        if not numbers["lines"]:
            raise InputError(f"{args.texts[0]} is empty. There is nothing to judge.")
        write_json(output / "numbers.json", numbers)


def text_numbers(args: argparse.Namespace) -> dict[str, Any]:
    """Read the texts and count."""
    held_out = (args.held_out_first, args.held_out_second)
    sides = [
        Side(lang, files, languages)
        for lang, files, languages in zip(args.langs, held_out, _languages(args), strict=False)
    ]
    repetitions = Repetitions()
    pairs = Pairs(args.seed) if len(args.texts) > 1 else None
    whole_pairs = WholePairs(held_out) if args.whole_pairs else None
    lines = 0
    for block in read_blocks(args.texts):
        letters = [Letters(texts) for texts in block]
        lines += len(block[0])
        for side, texts, found in zip(sides, block, letters, strict=True):
            side.add(texts, found)
        add_repetitions(repetitions, block, letters)
        if pairs:
            pairs.add(block, letters)
        if whole_pairs:
            whole_pairs.add(block, letters)
    logger.info("Read %s lines of %s", f"{lines:,}", ", ".join(map(str, args.texts)))
    return {
        "lines": lines,
        "sides": [side.to_json() for side in sides],
        "duplicates": repetitions.to_json(),
        **(pairs.to_json() if pairs else {}),
        **({"held_out_pairs": whole_pairs.to_json()} if whole_pairs else {}),
    }


def _languages(args: argparse.Namespace) -> "list[Languages | None]":
    """For each text what tells its lines' languages, if that is asked."""
    if not args.scripts:
        return [None] * len(args.texts)
    labels = (args.labels_first, args.labels_second)
    models = (args.language_model_first, args.language_model_second)
    return [
        Languages(make_identifier(own, script, model), args.seed)
        for own, script, model in zip(labels, args.scripts, models, strict=False)
    ]


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
    add("--scripts", nargs="*", default=[], help="Unicode's name of each text's script; identifies languages")
    for text in ("first", "second"):
        add(f"--labels-{text}", nargs="*", default=[], help=f"labels of the {text} text's language, e.g. rus")
        add(f"--language-model-{text}", type=Path, help="model of fastText that has them, not HeLI-OTS")
    add("--seed", required=True, type=int, help="seed of the samples")
    add("--output", required=True, type=Path, help="new folder for numbers.json")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
