"""Problems in a training config, for people: file, line, key, the mistake, the allowed values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice

from translations_assets.common.listing import some

MOST_COMPARED = 500  # names, each of which takes a tenth of a millisecond
LONGEST_COMPARED = 200  # characters


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong; `file`, `line` (from 1) and `key` (dotted) are given where they are known."""

    message: str
    file: str = ""
    line: int | None = None
    key: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.file and self.line else self.file
        return ": ".join(part for part in (place, self.key, self.message) if part)


class ConfigError(ValueError):
    """A config, or a name that belongs to one, cannot be used. Reads as one line for each problem."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(map(str, self.problems)))

    @classmethod
    def of(cls, message: str, file: str = "", line: int | None = None, key: str = "") -> ConfigError:
        """An error with a single problem."""
        return cls([Problem(message, file, line, key)])


def nearest(word: str, allowed: Iterable[str]) -> str | None:
    """The name that is nearest to the word, among as many as can be compared; None when none is near."""
    if len(word) > LONGEST_COMPARED:
        return None
    names = (name for name in allowed if len(name) <= LONGEST_COMPARED)
    return next(iter(get_close_matches(word, list(islice(names, MOST_COMPARED)), n=1)), None)


def suggestion(word: str, allowed: Iterable[str]) -> str:
    """` Did you mean 'x'?` with the name that is nearest to the word, or nothing when none is near."""
    near = nearest(word, allowed)
    return f" Did you mean {near!r}?" if near else ""


def among(word: str, names: Iterable[str], *, most: int = 20) -> str:
    """` Did you mean 'x'? Names: x, y, z`, the nearest first; of many only so many, and how many more."""
    allowed = list(names)
    near = nearest(word, allowed)
    ordered = sorted(allowed, key=lambda name: name != near)
    said = f" Did you mean {near!r}?" if near else ""
    return f"{said} Names: {some(ordered, most)}" if allowed else " It lists none"
