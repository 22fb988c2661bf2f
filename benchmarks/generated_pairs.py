"""Parallel text for benchmarks: four data sets with scores, 30 % of the pairs duplicates."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import numpy.typing as npt

from pipeline.common.lines import write_lines
from pipeline.common.selection import places

SHARES = (0.5, 0.3, 0.15, 0.05)  # of the pairs, by data set
DUPLICATES = 0.3
WORDS = 30_000
LONGEST = 12  # words
ALPHABETS = {"en": "etaoinshrdlucmfwygpbvkxjqz", "ru": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфё"}
BLOCK = 100_000

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """One side of one data set: its lines from `first` to `last` of `pairs`."""

    language: str
    first: int
    last: int
    pairs: int
    path: Path


def words_of(language: str) -> list[str]:
    """A vocabulary, the frequent words first and shorter."""
    random = Random(language)
    letters = ALPHABETS[language]
    weights = [1 / rank for rank in range(1, len(letters) + 1)]
    return [
        "".join(random.choices(letters, weights, k=1 + min(11, random.randrange(2 + rank.bit_length()))))
        for rank in range(WORDS)
    ]


def sentence_ids(pairs: int) -> tuple[Numbers, Numbers]:
    """For each pair the number of its source sentence and of its target sentence; 30 % have been before."""
    place = places(0, pairs, "pairs")
    repeated = place % np.uint64(1000) < 1000 * DUPLICATES
    repeated[:1] = False
    distinct = np.cumsum(~repeated)
    earlier = (place >> np.uint64(20)).astype(np.int64) % np.maximum(distinct, 1)
    target = np.where(repeated, earlier, distinct - 1)
    other_source = repeated & (place >> np.uint64(63) == 1)
    return np.where(other_source, pairs + np.arange(pairs), target), target


def sentences(language: str, ids: Numbers) -> Iterator[str]:
    """A sentence for each number, of 3 to 12 words that are as unevenly frequent as those of a language."""
    words = words_of(language)
    for start in range(0, len(ids), BLOCK):
        random = _mixed(ids[start : start + BLOCK, None] * LONGEST + np.arange(LONGEST))
        ranks = (WORDS ** ((random >> np.uint64(11)) / 2.0**53)).astype(np.int64) - 1
        lengths = 3 + (random[:, :2] % np.uint64(LONGEST - 2)).min(axis=1)
        for row, length in zip(ranks.tolist(), lengths.tolist(), strict=True):
            yield " ".join([words[rank] for rank in row[:length]]).capitalize() + "."


def _mixed(numbers: Numbers) -> npt.NDArray[np.uint64]:
    bits = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return bits ^ (bits >> np.uint64(32))


def generate(folder: Path, pairs: int) -> list[Part]:
    """Write the data sets, one process a side of each."""
    ends = [round(pairs * sum(SHARES[: n + 1])) for n in range(len(SHARES))]
    parts = [
        Part(language, first, last, pairs, folder / f"{n}.{language}.zst")
        for n, (first, last) in enumerate(zip([0, *ends], ends, strict=False))
        for language in ALPHABETS
    ]
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(write_part, parts))
    return parts


def write_part(part: Part) -> None:
    """Write one side of a data set."""
    sources, targets = sentence_ids(part.pairs)
    ids = sources if part.language == "en" else targets
    write_lines(part.path, sentences(part.language, ids[part.first : part.last]))


def write_scores(folder: Path, pairs: int) -> list[Path]:
    """A score for each line of each data set."""
    paths, random = [], Random(1)
    for n, share in enumerate(SHARES):
        paths.append(folder / f"{n}.scores.zst")
        write_lines(paths[-1], (f"{random.random():.3f}" for _ in range(round(pairs * share))))
    return paths
