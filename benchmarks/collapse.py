"""Verdicts of the gates against collapsed models on translations that are broken on purpose.

    python -m benchmarks.collapse --langs en ru --text flores.en --references flores.ru

takes the references for translations, breaks them in the ways in which models do, and prints the numbers that
`teacher-floor` and `translation-collapse` judge, and what they say. The first row is to pass; references with
half of their words gone show how far the floor is below what is of use.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.checks.models import model_numbers
from pipeline.common.lines import read_lines
from translations_assets.checks.models import teacher_floor
from translations_assets.checks.text import CORPUS, collapse
from translations_assets.config.gates import TeacherFloor, TranslationCollapse

ROW = "{:<24}{:>7}{:>8}{:>7}{:>10}{:>9}{:>8}  {:<15}{}"
Break = Callable[[list[str], random.Random], list[str]]


def _half(lines: list[str], random_: random.Random) -> list[str]:
    return ["".join(part for part in _parts(line) if random_.random() < 0.5) for line in lines]


def _parts(line: str) -> list[str]:
    """Words with their spaces; characters where there are none."""
    words = line.split(" ")
    return [f"{word} " for word in words] if len(words) > 3 else list(line)


def _loop(lines: list[str], random_: random.Random) -> list[str]:
    return [(line[: len(line) // 3] + line[len(line) // 3 :][:12] * 50)[: len(line)] for line in lines]


BREAKS: Mapping[str, Break] = {
    "references": lambda lines, random_: lines,
    "half of the words": _half,
    "other sentences": lambda lines, random_: [*lines[1:], *lines[:1]],
    "a tenth different": lambda lines, random_: random_.choices(lines[: len(lines) // 10], k=len(lines)),
    "one sentence": lambda lines, random_: [lines[0]] * len(lines),
    "loops": _loop,
    "a third of the length": lambda lines, random_: [line[: len(line) // 3] for line in lines],
    "nothing": lambda lines, random_: [""] * len(lines),
}


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    args = parse_arguments(argv)
    sources, references = list(read_lines(args.text)), list(read_lines(args.references))
    titles = ("chrF", "chance", "BLEU", "different", "looping", "length", "floor", "collapse")
    print(ROW.format(f"{args.src}-{args.trg}, {len(sources):,} lines", *titles))
    for name, break_ in BREAKS.items():
        translations = break_(references, random.Random(args.seed))
        _print(name, model_numbers(args, sources, references, translations))


def _print(name: str, numbers: dict[str, Any]) -> None:
    documents: dict[str, dict[str, Any]] = {"check_train_teacher": {"check": numbers}, CORPUS: {}}
    collapsed = collapse(documents, TranslationCollapse())
    floor = teacher_floor({"check_train_teacher": documents["check_train_teacher"]}, TeacherFloor())
    told = [f"{floor.numbers[key]:.1f}" for key in ("chrF", "chrF by chance", "BLEU")]
    told += [f"{collapsed.numbers[key]:.2f}" for key in ("distinct", "looping", "length factor")]
    print(ROW.format(name, *told, *("passes" if found.passed else "fails" for found in (floor, collapsed))))


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--langs", required=True, nargs=2, help="source and target language")
    parser.add_argument("--text", required=True, type=Path, help="source text, a sentence a line")
    parser.add_argument("--references", required=True, type=Path, help="its translations")
    parser.add_argument("--seed", type=int, default=1, help="of what is broken at random")
    args = parser.parse_args(argv)
    args.src, args.trg = args.langs
    return args


if __name__ == "__main__":
    main()
