"""Looks for a sentence in texts of the store, by their indexes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from translations_assets.common.scripts import run_script
from translations_assets.records.checked import Number, Record
from translations_assets.records.manifest import Blob
from translations_assets.running.protocols import Reading
from translations_assets.trace.indexes import FILES

SCRIPT = "pipeline.data.find_text"
MOST = 1_000  # lines of each text that are given back


@dataclass(frozen=True)
class FoundLine(Record):
    """A line of a text, counted from 1, that is like a sentence, and how.

    kind   exact, inside (it holds the sentence) or near
    side   of the text, that is alike: 0 or 1
    sides  of the text, both if there are two
    """

    line: int
    kind: str
    chrf: Number
    side: int
    sides: tuple[str, ...]

    @property
    def alike(self) -> str:
        """The side that is like the sentence, with single spaces."""
        return " ".join(self.sides[self.side].split())


@dataclass(frozen=True)
class SearchAnswer(Record):
    """The lines of a text that are like a sentence.

    lines    of the text
    exact    how many are the sentence; so for those that hold it (inside) and those that are near
    nearest  the highest chrF of lines that are not near, as far as it was computed; 0 where it was not
    found    some of them: exact ones first, then by chrF
    """

    lines: int
    exact: int
    inside: int
    near: int
    nearest: Number
    found: tuple[FoundLine, ...]

    @property
    def number(self) -> int:
        """How many lines are like the sentence."""
        return self.exact + self.inside + self.near


@dataclass(frozen=True)
class Indexed:
    """A file of a text and the files of its index, in the store."""

    text: Blob
    index: Mapping[str, Blob]


def search(
    store: Reading, sentence: str, texts: Sequence[Sequence[Indexed]], work: Path
) -> list[SearchAnswer]:
    """Look for a sentence in texts, each of one or two sides; files are placed in the folder `work`.

    Raises StoreError, and TranslationsError with what the script says.
    """
    for one in {one.text.digest: one for sides in texts for one in sides}.values():
        folder = _folder(work, one)
        folder.mkdir(parents=True)
        store.place_blob(one.text, folder / "text.zst")
        for name in FILES:
            store.place_blob(one.index[name], folder / name)
    options = [f"--sentence={sentence}", f"--most={MOST}", "--output", str(work / "found")]
    for sides in texts:
        options += ["--text", *_words(sides, work)]
    run_script(SCRIPT, options)
    found = json.loads((work / "found" / "found.json").read_text(encoding="utf-8"))
    return [SearchAnswer.from_dict(answer) for answer in found]


def _words(sides: Iterable[Indexed], work: Path) -> list[str]:
    folders = [_folder(work, side) for side in sides]
    return [str(path) for folder in folders for path in (folder / "text.zst", folder)]


def _folder(work: Path, one: Indexed) -> Path:
    return work / one.text.digest
