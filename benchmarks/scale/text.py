"""Text of any length for runs at 1/N: English and its Russian, as long and as repetitive as what the web has.

Half of a sentence are a language's frequent words, so that languages are told apart; the rest are made up, of
as uneven frequency as real ones. A target sentence has the same words in another order, but for a seventh. So
aligners find what they find in real text, and a dictionary translates it.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.generated_words import words_of

FREQUENT = {
    "en": "the of and to in is that for it was on with as be by at are this from have or an had not but "
    "which were been their has there would when what will more no if out so said about up into than them "
    "can only other new some could time these two may then do first any my now such like our over man",
    "ru": "это и в не на что он с как то по к у из за но его для же от о так мы вы был бы она ты все "
    "меня мне еще было только уже когда есть нет если или до их ни быть вот нас кто один при том после под "
    "чтобы может где чем там во сейчас здесь даже этот день год время человек дело жизнь рука раз слово",
}
MEDIAN, SPREAD, SHORTEST, LONGEST = 15, 0.65, 3, 120  # words of a line: lognormal, 19 on the average
REPEATED = 0.2  # of the lines have been before
BLOCK = 10_000


@dataclass(frozen=True)
class Text:
    """Lines from `first` to `last` of a text of that seed."""

    seed: int
    first: int
    last: int


@cache
def vocabulary(language: str) -> list[str]:
    """Its words: frequent ones at even places, made-up ones at odd places."""
    frequent, rare = FREQUENT[language].split(), words_of(language)
    return [word for pair in zip((frequent * len(rare))[: len(rare)], rare, strict=True) for word in pair]


@cache
def dictionary() -> dict[str, str]:
    """English word → its Russian; of several the most frequent."""
    return dict(reversed(list(zip(vocabulary("en"), vocabulary("ru"), strict=True))))


def pairs(text: Text) -> Iterator[tuple[str, str]]:
    """The pairs of a text, the same whatever part of it is asked for."""
    for start in range(text.first - text.first % BLOCK, text.last, BLOCK):
        for number, pair in enumerate(_block(text.seed, start), start=start):
            if text.first <= number < text.last:
                yield pair


def _block(seed: int, start: int) -> Iterator[tuple[str, str]]:
    random = np.random.Generator(np.random.Philox(key=[seed, start]))
    source, target = vocabulary("en"), vocabulary("ru")
    lengths = np.exp(random.normal(np.log(MEDIAN), SPREAD, BLOCK)).clip(SHORTEST, LONGEST).astype(int)
    made: list[tuple[str, str]] = []
    for number, length in enumerate(lengths.tolist()):
        if number and random.random() < REPEATED:
            yield made[int(random.integers(number))]
            made.append(made[-1])
            continue
        ranks = ((len(source) // 2) ** random.random(length)).astype(int) - 1
        words = 2 * ranks + (random.random(length) < 0.5)
        turned, even = words.copy(), length - length % 2
        turned[:even] = words[:even].reshape(-1, 2)[:, ::-1].ravel()
        kept = turned[random.random(length) > 1 / 7] if length > 6 else turned
        made.append((_sentence(source, words.tolist()), _sentence(target, kept.tolist())))
        yield made[-1]


def _sentence(words: list[str], numbers: list[int]) -> str:
    return " ".join(words[number] for number in numbers).capitalize() + "."


def translated(line: str) -> str:
    """A line, word by word by the dictionary; from Russian it is given back as it is."""
    words = dictionary()
    return " ".join(words.get(word.lower().strip("."), word.lower()) for word in line.split()).capitalize()


def write_sides(text: Text, files: dict[str, Path]) -> None:
    """Write the sides of a text, language → gzip file, the same bytes each time."""
    writers = {side: gzip.GzipFile(file, "wb", 1, mtime=0) for side, file in files.items()}
    for source, target in pairs(text):
        for side, line in (("en", source), ("ru", target)):
            if side in writers:
                writers[side].write(line.encode() + b"\n")
    for writer in writers.values():
        writer.close()
