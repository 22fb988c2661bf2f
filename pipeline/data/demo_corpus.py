"""The synthetic demo corpus: which sentence belongs to which part, and how many there are of each.

A sentence's part follows from a hash of its letters and digits, in each language by itself. A pair is taken
for a part only when both its sides belong there, so no sentence of dev or test, on either side, can stand in
another part, whatever the grammar yields; nor can one that differs in case or punctuation only.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from random import Random
from typing import NamedTuple, TypeVar

from pipeline.data.demo_grammar import Text, sentence
from pipeline.data.demo_noise import LINE_NOISE, PAIR_NOISE, noisy_line, noisy_pair

Item = TypeVar("Item")


class Part(NamedTuple):
    """A part of the corpus: number of sentences, and of lines of noise of each kind, and its own seed."""

    size: int
    noise_of_each_kind: int
    seed: int


PAIR_PARTS = {"train": Part(20_000, 90, 1), "dev": Part(500, 0, 2), "test": Part(500, 0, 3)}
MONO_PARTS = {"mono": Part(10_000, 80, 4)}
BUCKETS = 5
RESERVED = {"dev": 3, "test": 4}  # the other buckets are for training text
SIDES = {"en": 0, "eo": 1}


def bucket(text: str) -> int:
    """The hash bucket of a sentence, 0 to BUCKETS - 1, by its letters and digits without regard to case."""
    letters = "".join(filter(str.isalnum, text.casefold()))
    return hashlib.sha256(letters.encode("utf-8")).digest()[0] % BUCKETS


def belongs(part: str, *texts: str) -> bool:
    """Whether all the sentences may stand in the part; "train" and "mono" share their buckets."""
    wanted = RESERVED.get(part)
    if wanted is None:
        return not any(bucket(text) in RESERVED.values() for text in texts)
    return all(bucket(text) == wanted for text in texts)


def parallel_part(name: str) -> tuple[list[Text], dict[str, int]]:
    """The pairs of a part, noise among them, and how much noise there is of each kind. Seeded."""
    part = PAIR_PARTS[name]
    rng = Random(part.seed)
    pairs = _distinct(_sentences(rng), part.size, lambda pair: belongs(name, *pair))
    noise = dict.fromkeys(PAIR_NOISE, part.noise_of_each_kind) if part.noise_of_each_kind else {}
    noisy = [
        _drawn(partial(noisy_pair, kind, rng, pairs), lambda pair: belongs(name, *pair))
        for kind, count in noise.items()
        for _ in range(count)
    ]
    return _mixed(rng, pairs, noisy), noise


def mono_part(name: str, language: str) -> tuple[list[str], dict[str, int]]:
    """The lines of a monolingual part, noise among them, and how much noise there is of each kind.

    The two languages' texts are drawn apart and are no translations of each other.
    """
    part, side = MONO_PARTS[name], SIDES[language]
    rng = Random(part.seed + side)
    lines = _distinct((text[side] for text in _sentences(rng)), part.size, lambda line: belongs(name, line))
    noise = dict.fromkeys(LINE_NOISE, part.noise_of_each_kind)
    noisy = [
        _drawn(partial(noisy_line, kind, rng, lines), lambda line: belongs(name, line))
        for kind, count in noise.items()
        for _ in range(count)
    ]
    return _mixed(rng, lines, noisy), noise


def _sentences(rng: Random) -> Iterator[Text]:
    while True:
        yield sentence(rng)


def _distinct(items: Iterator[Item], size: int, fits: Callable[[Item], bool]) -> list[Item]:
    found: dict[Item, None] = {}
    while len(found) < size:
        item = next(items)
        if fits(item):
            found[item] = None
    return list(found)


def _drawn(draw: Callable[[], Item], fits: Callable[[Item], bool]) -> Item:
    while not fits(item := draw()):
        pass
    return item


def _mixed(rng: Random, clean: Sequence[Item], noisy: Sequence[Item]) -> list[Item]:
    """Noise at random places among the clean items; a duplicate may so stand before or after its original."""
    mixed = [*clean, *noisy]
    rng.shuffle(mixed)
    return mixed
