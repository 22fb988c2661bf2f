"""The digest of some code, for good."""

from __future__ import annotations

import pytest

from tests.keys.code.package import GUARD, Package

CODE = '''
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipeline.demo import words
from pipeline.demo.words import LIMIT as MOST

@dataclass(frozen=True)
class Text:
    """Lines."""

    lines: tuple[str, ...]
    language: str = "en"

    def longest(self, *others: str, least: int = 0, **more: object) -> str:
        found = sorted((line for line in self.lines if len(line) >= least), key=lambda l: (-len(l), l))
        return next(iter([*found, *others]), f"{least!r:>{MOST}}")

def mean(numbers: Iterable[float], /) -> float:
    total = count = 0
    try:
        for count, number in enumerate(numbers, start=1):
            total += number if number is not None else 0
    except TypeError as error:
        raise ValueError("no numbers") from error
    return np.divide(total, max(count, 1))

def main():
    global STATE
    STATE = {word: [letter for letter in word if (code := ord(letter)) > 96] for word in words.known()}
    with Path("out.json").open("w") as file:
        json.dump(Text(tuple(STATE)).longest(least=MOST), file)
    print(mean(len(word) for word in STATE))
'''
WORDS = "LIMIT = 3\n\ndef known():\n    yield from ('one', 'three')\n"


TAKEN_APART = CODE.replace("    global STATE\n", "").replace("STATE", "state")


@pytest.mark.parametrize(
    ("code", "why", "digest"),
    [
        (
            CODE,
            "pipeline.demo.script, it changes STATE",
            "f47b689a442cbbeb42e950fa3b8a01b6c1722883618004b20bdfd3972a183b6a",
        ),
        (TAKEN_APART, "", "5ad29e767512b0983e203068b317475d48ca9d69c28ca6cffee7be3798de8103"),
    ],
)
def test_it_is_what_it_was(package: Package, code: str, why: str, digest: str) -> None:
    """With another one every step of every store would run again."""
    found = package.fingerprint({"demo.script": code + GUARD, "demo.words": WORDS})
    assert (found.why_whole, found.digest) == (why, digest)
