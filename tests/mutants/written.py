"""The written defects: realistic ones, as reviews and real runs have found them, in `written.yml`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.mutants.draw import Mutant

FILE = Path(__file__).with_name("written.yml")


@dataclass(frozen=True)
class Defect:
    """A defect that somebody might well make.

    file      where, relative to the repository
    kind      what went wrong: a unit, a sign, exchanged sides, a forgotten input of a cache …
    old, new  the text before and after; of several lines each is indented in relation to the first
    harm      what somebody would meet, in a few words
    """

    file: str
    kind: str
    old: str
    new: str
    harm: str

    def planted(self, root: Path) -> Mutant:
        """The file with the defect. Raises ValueError where the old text is not in it exactly once."""
        path = root / self.file
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        found = [*re.finditer(_pattern(self.old), text, re.MULTILINE)]
        if len(found) != 1:
            raise ValueError(
                f"{FILE.name}: a text stands {len(found)} times in {self.file}, not once:\n"
                f"{textwrap.indent(self.old, '    ')}\nWrite the defect anew, for the code as it is now."
            )
        (place,) = found
        new = textwrap.indent(self.new, place["indent"]).removeprefix(place["indent"])
        mutated = text[: place.start("old")] + new + text[place.end() :]
        return Mutant(self.file, self.kind, _shown(self.old), _shown(self.new or "(nothing)"), mutated)


def read_defects() -> list[Defect]:
    """All written defects, in the order of the file."""
    return [Defect(**entry) for entry in yaml.safe_load(FILE.read_text(encoding="utf-8"))]


def evenly(defects: Sequence[Defect], number: int, seed: int) -> list[Defect]:
    """So many of the defects, evenly over the file; the seed says with which to begin."""
    step = len(defects) / min(number, len(defects))
    first = seed % max(1, int(step))
    return [defects[int(first + place * step) % len(defects)] for place in range(min(number, len(defects)))]


def _pattern(old: str) -> str:
    first, *others = map(re.escape, old.splitlines())
    following = "".join(rf"\n(?P=indent){line}" for line in others)
    return rf"^(?P<indent> *)(?:.*?)(?P<old>{first}{following})" if others else _within_a_line(first)


def _within_a_line(old: str) -> str:
    return rf"^(?P<indent> *).*?(?P<old>{old})"


def _shown(text: str) -> str:
    return " ⏎ ".join(line.strip() for line in text.splitlines())
