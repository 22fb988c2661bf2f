"""The first reading of the merges: the key and the score of every line, in files of the scratch folder."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pipeline.clean.keys import KEY_BYTES, Keys, read_keys
from pipeline.clean.tasks import processes, run_all
from pipeline.common.errors import InputError
from pipeline.common.line_blocks import read_blocks
from pipeline.common.lines import zip_lines

Scores: TypeAlias = npt.NDArray[np.float64]
SCORE_BYTES = 8


@dataclass(frozen=True)
class Dataset:
    """One or two parallel files of text, and perhaps a file with a score a line."""

    name: str
    files: tuple[Path, ...]
    scores: Path | None = None


@dataclass(frozen=True)
class Column:
    """The keys or the scores of the lines of a text, which has `size` bytes."""

    path: Path
    lines: int
    size: int

    def keys(self, first: int, count: int) -> Keys:
        """The keys of `count` lines from number `first` on."""
        values = np.fromfile(self.path, dtype="<u8", count=2 * count, offset=KEY_BYTES * first)
        return values.reshape(-1, 2)

    def scores(self, first: int, count: int) -> Scores:
        """The scores of `count` lines from number `first` on."""
        return np.fromfile(self.path, dtype="<f8", count=count, offset=SCORE_BYTES * first)


@dataclass(frozen=True)
class Rows:
    """The rows of a data set: the columns of their sides, and of their scores."""

    sides: tuple[Column, ...]
    scored: Column | None = None

    @property
    def number(self) -> int:
        """How many there are."""
        return self.sides[0].lines

    def stretches(self, length: int) -> Iterator[tuple[list[Keys], Scores]]:
        """Keys of each side, and scores (1 where there are none), of at most `length` rows at a time."""
        for first in range(0, self.number, length):
            count = min(length, self.number - first)
            scores = self.scored.scores(first, count) if self.scored else np.ones(count)
            yield [side.keys(first, count) for side in self.sides], scores


def read_datasets(datasets: Sequence[Dataset], scratch: Path, *, near: bool = False) -> list[Rows]:
    """Read all data sets, several files at a time; `near` gives near-duplicates the same key.

    Raises InputError for damaged files, for files of a data set that differ in length, and for scores that
    are no numbers.
    """
    texts = [file for dataset in datasets for file in dataset.files]
    scores = [dataset.scores for dataset in datasets if dataset.scores]
    key_tasks = [partial(write_keys, text, scratch / f"keys.{n}", near) for n, text in enumerate(texts)]
    score_tasks = [partial(write_scores, text, scratch / f"scores.{n}") for n, text in enumerate(scores)]
    columns = iter(run_all([*key_tasks, *score_tasks], processes([*texts, *scores])))
    sides = [tuple(next(columns) for _ in dataset.files) for dataset in datasets]
    scored = [next(columns) if dataset.scores else None for dataset in datasets]
    for dataset, parallel, score in zip(datasets, sides, scored, strict=True):
        if len({column.lines for column in (*parallel, score) if column}) > 1:
            _refuse_unequal(dataset)
    return list(map(Rows, sides, scored))


def write_keys(text: Path, path: Path, near: bool) -> Column:
    """Read a text and write the keys of its lines to `path`."""
    lines = size = 0
    with path.open("wb") as file:
        for block_size, keys in read_keys(text, near=near):
            file.write(keys.data)
            lines, size = lines + len(keys), size + block_size
    return Column(path, lines, size)


def write_scores(text: Path, path: Path) -> Column:
    """Read scores, one a line, and write them to `path`; raises InputError for what is no finite number."""
    lines = size = 0
    with path.open("wb") as file:
        for block in read_blocks(text):
            texts = block.split(b"\n")[:-1]
            scores = np.fromiter(map(_score, texts), dtype=np.float64, count=len(texts))
            wrong = np.flatnonzero(~np.isfinite(scores))
            if len(wrong):
                shown = texts[wrong[0]][:40].decode("utf-8", "replace")
                raise InputError(
                    f"{text}, line {lines + int(wrong[0]) + 1}: {shown!r} is not a number. "
                    "A score file has one a line."
                )
            file.write(scores.data)
            lines, size = lines + len(texts), size + len(block)
    return Column(path, lines, size)


def _score(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _refuse_unequal(dataset: Dataset) -> None:
    """Raise the InputError of `zip_lines`, which names the file that ends first."""
    for _ in zip_lines(*dataset.files, *([dataset.scores] if dataset.scores else [])):
        pass
