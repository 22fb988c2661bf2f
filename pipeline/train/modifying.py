"""Modifies a batch as OpusTrainer's modifiers do, and touches no line that they leave as it is.

OpusTrainer passes every line through every modifier. Here each modifier's lines are drawn first, by the same
probabilities, and only these pass through it: its own function, told to do it for certain. Of the others the
result is known: text put together again, with the links of pieces that were prepared. A curriculum with a
modifier that looks at several lines, or that changes all of them, goes through OpusTrainer as it is.
"""

import logging
import random
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from hashlib import blake2b
from itertools import islice
from typing import Any

import numpy as np
from opustrainer.modifiers import Modifier
from opustrainer.modifiers.noise import NoiseModifier
from opustrainer.modifiers.prefix import PrefixModifier
from opustrainer.modifiers.punctuation import RemoveEndPunctuationModifier
from opustrainer.modifiers.typos import TypoModifier

from pipeline.train import typos
from pipeline.train.casing import CaseModifier
from pipeline.train.curriculum import load
from pipeline.train.piece_links import SPACE, without_ends
from pipeline.train.tagging import Tagging

# Modifiers that draw for each line whether it is theirs, and then look at that line alone.
BY_LINE = (CaseModifier, RemoveEndPunctuationModifier, TypoModifier, PrefixModifier, NoiseModifier)
_PART = 1024  # lines that are worked on at a time: they stay in a processor's cache
_NEVER = 1 << 40  # places for made-up words: more than a line has

log = logging.getLogger(__name__)


class Modifying:
    """The modifiers of one stage."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        """`config` is OpusTrainer's configuration; see `Curriculum.stage_config`."""
        typos.install()
        self._columns = int(config["num_fields"])
        self._modifiers: list[Modifier] = load(config).modifiers
        tags = [Tagging(modifier) for modifier in self._modifiers[-1:] if Tagging.suits(modifier)]
        self._tagging = tags[0] if tags else None
        self._drawn = self._modifiers[:-1] if tags else self._modifiers
        self.by_line = all(isinstance(modifier, BY_LINE) for modifier in self._drawn)

    def batch(self, lines: Iterable[str], seed: str) -> list[str]:
        """A batch's lines, modified and in a random order; the lines and the seed decide all of it.

        Noise adds lines. As OpusTrainer's Tags does, leaves out lines at which a modifier fails.
        """
        random.seed(seed)
        rng = np.random.default_rng(int.from_bytes(blake2b(seed.encode(), digest_size=16).digest(), "big"))
        if self.by_line:
            rest = iter(lines)
            modified: list[str] = []
            while part := list(islice(rest, _PART)):
                modified += self._by_line(part, rng)
        else:
            modified = self._all_lines(lines)
        return [modified[number] for number in rng.permutation(len(modified)).tolist()]

    def _all_lines(self, lines: Iterable[str]) -> list[str]:
        batch = [self._cut(line) for line in lines]
        for modifier in self._modifiers:
            batch = list(modifier(batch))
        return batch

    def _by_line(self, lines: Sequence[str], rng: np.random.Generator) -> list[str]:
        changed, shortened = self._changed(lines, rng)
        number_of_all = max(len(lines), 1 + max(changed, default=0))
        finished = []
        for number, gap in enumerate(self._gaps(number_of_all, rng)):
            try:
                if number not in changed:
                    finished.append(self._untouched(lines[number], gap))
                elif number in shortened:
                    finished.append(self._untouched(lines[number], gap, shortened[number]))
                elif (line := changed[number]) is not None:
                    finished.append(self._touched(line, gap))
            except Exception as error:
                log.warning("A line is left out: Tags failed (%r)", error)
        return finished

    def _changed(
        self, lines: Sequence[str], rng: np.random.Generator
    ) -> tuple[dict[int, str | None], dict[int, str]]:
        """By number the lines that modifiers before Tags change, with those that they add; None: left out.

        And those of them that have lost their end alone.
        """
        changed: dict[int, str | None] = {}
        shortened: dict[int, str] = {}
        count = len(lines)
        for modifier in self._drawn:
            certain = copy(modifier)
            certain.probability = 1.0
            for number in np.flatnonzero(rng.random(count) < modifier.probability).tolist():
                before = changed[number] if number in changed else self._cut(lines[number])
                if before is None:
                    continue
                try:
                    *more, after = certain([before])
                except Exception as error:
                    log.warning("A line is left out: %s failed (%r)", type(modifier).__name__, error)
                    changed[number] = None
                    continue
                if after != before:
                    shortened.pop(number, None)
                    if number not in changed and isinstance(modifier, RemoveEndPunctuationModifier):
                        shortened[number] = after
                    changed[number] = after
                for line in more:
                    changed[count] = line
                    count += 1
        return changed, shortened

    def _gaps(self, count: int, rng: np.random.Generator) -> list[int]:
        """For each line how many places for made-up words pass before one is taken."""
        if self._tagging and self._tagging.probability:
            gaps: list[int] = (rng.geometric(self._tagging.probability, count) - 1).tolist()
            return gaps
        return [_NEVER] * count

    def _untouched(self, line: str, gap: int, shortened: str = "") -> str:
        """A line as Marian reads it that no modifier before Tags has changed, but for its end, where
        `shortened` is given: the columns without that.
        """
        if not self._tagging:
            return shortened or self._cut(line)
        source, target, links, *pieces = line.split("\t")
        result = None
        if not shortened.endswith("\t"):  # Tags leaves out lines without any links
            result = self._result((source, target), pieces, bool(shortened))
        if result is not None and links.count("-") <= gap:  # there are no more places than links
            return result
        return self._tagging.apply(shortened or self._cut(line), self._tagging.after(gap), result)

    def _result(self, sides: Iterable[str], pieces: Sequence[str], shortened: bool) -> str | None:
        """What Tags makes of a line that gets no words; None where that was not prepared."""
        assert self._tagging
        texts = [side.replace(" ", "").replace(SPACE, " ") for side in sides]
        if shortened:
            texts = [text[:-1] for text in texts]
        if not self._tagging.links_pieces:
            return "\t".join(texts)
        if not pieces:
            return None
        links, last = pieces
        if shortened and not last:
            return None
        if shortened:
            links = without_ends(links, last)
        return "\t".join((*texts, links))

    def _touched(self, line: str, gap: int) -> str:
        return self._tagging.apply(line, self._tagging.after(gap)) if self._tagging else line

    def _cut(self, line: str) -> str:
        """The columns that modifiers know."""
        return "\t".join(line.split("\t", self._columns)[: self._columns])
