"""Merging generated parallel text, 30 % of it duplicates: pairs a second, memory, evenness of samples.

    python -m benchmarks.merging [--pairs N]

Merges four data sets, without and with scores, with 2 threads, in 2,000 MB and in 500 MB; all must give the
same bytes. Beside them: the target side alone, sorted by `sort -u`. On a machine with other work, compare the
processor seconds. Then samples of 1, 10 and 50 % of a text, 100 seeds each, over position and over data set.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import numpy.typing as npt

from benchmarks.memory import Peak
from benchmarks.uniformity import print_uniformity
from pipeline.common.lines import open_bytes, write_lines
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=1_000_000, help="how many pairs to merge")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = generate(folder, options.pairs)
        command = merge_command(parts)
        scored = [*command, "--scores", *map(str, write_scores(folder, options.pairs))]
        print_sizes(parts, options.pairs)
        measure_sort([part.path for part in parts if part.language == "ru"], options.pairs)
        for what, words in (("without scores", command), ("with scores", scored)):
            digests = {
                measure(f"{what}, {memory} MB", words, folder / f"{what} {memory}", memory, options.pairs)
                for memory in (2_000, 500)
            }
            print(f"{'':28}bytes: {'the same' if len(digests) == 1 else 'DIFFERENT'}")
        print_uniformity(folder)


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


def merge_command(parts: Sequence[Part]) -> list[str]:
    """The command that merges them, but for its output."""
    names = [f"made_{n}" for n in range(len(SHARES))]
    files = {
        language: [str(part.path) for part in parts if part.language == language] for language in ALPHABETS
    }
    command = [
        sys.executable,
        "-m",
        "pipeline.clean.merge_parallel",
        "--src",
        "en",
        "--trg",
        "ru",
        "--seed",
        "1",
    ]
    return [*command, "--datasets", *names, "--corpus-src", *files["en"], "--corpus-trg", *files["ru"]]


def print_sizes(parts: Sequence[Part], pairs: int) -> None:
    """How long the lines are."""
    sizes = {
        language: sum(_text_size(part.path) for part in parts if part.language == language) / pairs
        for language in ALPHABETS
    }
    print(
        f"{pairs:,} pairs; bytes a line: " + ", ".join(f"{name} {size:.0f}" for name, size in sizes.items())
    )


def _text_size(path: Path) -> int:
    with open_bytes(path) as stream:
        return sum(map(len, iter(lambda: stream.read(1 << 20), b"")))


def measure_sort(files: Sequence[Path], pairs: int) -> None:
    """Time `sort -u` of the target side, in the same memory."""
    before, start = _child_seconds(), time.perf_counter()
    command = ["sort", "-u", "-S", "1000M", "--parallel=2", "-o", os.devnull]
    with subprocess.Popen(command, stdin=subprocess.PIPE, env={**os.environ, "LC_ALL": "C"}) as sort:
        assert sort.stdin is not None
        for path in files:
            with open_bytes(path) as stream:
                while block := stream.read(1 << 20):
                    sort.stdin.write(block)
        sort.stdin.close()
    _print_figures(
        "sort -u of the target side", pairs, time.perf_counter() - start, _child_seconds() - before
    )


def measure(name: str, command: Sequence[str], output: Path, memory: int, pairs: int) -> str:
    """Merge in so much memory, print the figures; a digest of the merged text."""
    environment = {**os.environ, "TRANSLATIONS_THREADS": "2", "TRANSLATIONS_MEMORY": str(memory)}
    before, start = _child_seconds(), time.perf_counter()
    process = subprocess.Popen([*command, "--output", str(output)], env=environment, stderr=subprocess.PIPE)
    peak = Peak(process.pid)
    _, errors = process.communicate()
    peak.stop()
    if process.returncode:
        sys.exit(errors.decode())
    _print_figures(name, pairs, time.perf_counter() - start, _child_seconds() - before, peak.megabytes)
    digest = hashlib.sha256()
    for path in sorted(output.iterdir()):
        digest.update(path.read_bytes())
        path.unlink()
    return digest.hexdigest()


def _child_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _print_figures(name: str, pairs: int, wall: float, cpu: float, megabytes: float | None = None) -> None:
    memory = f", at most {megabytes:,.0f} MB" if megabytes else ""
    print(
        f"{name + ':':28}{pairs / wall:12,.0f} pairs/s ({wall:.1f} s; {cpu:.1f} s of processors, "
        f"{pairs / cpu * 2:,.0f} pairs/s were 2 of them free){memory}"
    )


if __name__ == "__main__":
    main()
