"""Merging generated parallel text, 30 % of it duplicates, beside other ways to do it: speed and memory.

    python -m benchmarks.merging [--pairs N]

Four data sets are merged in three ways: by scores; the same with held-out sets and a limit; as translated
text. All are shuffled. This project's merges run with two threads in 2,000 MB and in 500 MB, and with one
thread; beside them those of benchmarks.merging_alternatives, and `sort -u` of the target side. All must give
the same text, and the same numbers of dropped lines. Bars: 10,000,000 pairs in at most 2,000 MB, 1,000,000
pairs a second on two free processors. On a machine with other work compare the processor seconds; what two
processes gain over one at present is printed first. At the end: how even samples are.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.generated_pairs import ALPHABETS, SHARES, Part, generate, write_scores
from benchmarks.memory import Peak
from benchmarks.uniformity import print_uniformity
from pipeline.common.lines import open_bytes, read_lines, write_lines

HELD_OUT = 2_000  # pairs of a test set
LOOP = "sum(range(40_000_000))"
OURS = {"2 threads, 2,000 MB": (2, 2_000), "2 threads, 500 MB": (2, 500), "1 thread": (1, 2_000)}
OTHERS = ("upstream", "duckdb", "polars")


@dataclass(frozen=True)
class Merge:
    """A merge to measure: a script of pipeline.clean and its options; the other ways that can do it."""

    name: str
    script: str
    options: Sequence[str]
    pairs: int
    others: Sequence[str] = OTHERS[1:]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=1_000_000, help="how many pairs to merge")
    pairs = parser.parse_args().pairs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = generate(folder, pairs)
        print_sizes(parts, pairs)
        print_gain()
        measure_sort([part.path for part in parts if part.language == "ru"], pairs)
        for merge in merges(folder, parts, pairs):
            compare(merge, folder)
        print_uniformity(folder)


def merges(folder: Path, parts: Sequence[Part], pairs: int) -> list[Merge]:
    """Make the list of merges to measure."""
    src, trg = ([str(part.path) for part in parts if part.language == language] for language in ALPHABETS)
    held_out = [option for language in ALPHABETS for option in _held_out(folder, parts, language)]
    scores = ["--scores", *map(str, write_scores(folder, pairs))]
    names = [f"made_{n}" for n in range(len(SHARES))]
    common = ["--src", "en", "--trg", "ru", "--seed", "1"]
    all_sets = [*common, "--datasets", *names, "--corpus-src", *src, "--corpus-trg", *trg, *scores]
    limited = [*all_sets, *held_out, "--max-sentences", str(pairs // 3)]
    corpus = ["--corpus-src", src[0], "--corpus-trg", trg[0], "--mono-src", src[1], "--mono-trg", trg[1]]
    translated = [*common, *corpus, *held_out]
    return [
        Merge("by scores", "merge_parallel", all_sets, pairs, OTHERS),
        Merge("by scores, with held-out sets and a limit", "merge_parallel", limited, pairs),
        Merge("two of them as translated text", "merge_translated", translated, parts[3].last),
    ]


def _held_out(folder: Path, parts: Sequence[Part], language: str) -> list[str]:
    """Every n-th line of the third data set, as a test set; the option that names it."""
    text = [part for part in parts if part.language == language][2]
    every = max(1, (text.last - text.first) // HELD_OUT)
    file = folder / f"test.{language}.zst"
    write_lines(file, (line for n, line in enumerate(read_lines(text.path)) if n % every == 0))
    return [f"--held-out-{'src' if language == 'en' else 'trg'}", str(file)]


def compare(merge: Merge, folder: Path) -> None:
    """Merge in all ways, and print the figures."""
    print(f"{merge.name}:")
    results = set()
    for name, (threads, memory) in OURS.items():
        command = ["-m", f"pipeline.clean.{merge.script}", *merge.options]
        results.add(measure(f"this, {name}", command, folder / "merged", threads, memory, merge.pairs))
    for way in merge.others:
        if way in ("duckdb", "polars") and importlib.util.find_spec(way) is None:
            print(f"  {way} is not installed: uv pip install --group merging")
            continue
        command = ["-m", "benchmarks.merging_alternatives", way, merge.script, *merge.options]
        results.add(measure(way, command, folder / "merged", 2, 2_000, merge.pairs))
    print(f"  {'all results are the same' if len(results) == 1 else 'THE RESULTS DIFFER'}")


def print_gain() -> None:
    """Print the gain of two processes of Python over one; next to nothing on a busy machine."""
    walls = []
    for number in (1, 2):
        start = time.perf_counter()
        loops = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(number)]
        assert not any(loop.wait() for loop in loops)
        walls.append(time.perf_counter() - start)
    print(f"two busy processes do {2 * walls[0] / walls[1]:.2f} times the work of one")


def print_sizes(parts: Sequence[Part], pairs: int) -> None:
    """Print the lengths of the lines."""
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


def measure(name: str, command: Sequence[str], output: Path, threads: int, memory: int, pairs: int) -> str:
    """Merge with so many threads in so much memory, print the figures; a digest of what came out."""
    environment = {**os.environ, "TRANSLATIONS_THREADS": str(threads), "TRANSLATIONS_MEMORY": str(memory)}
    before, start = _child_seconds(), time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *command, "--output", str(output)], env=environment, stderr=subprocess.PIPE
    )
    peak = Peak(process.pid)
    _, errors = process.communicate()
    peak.stop()
    if process.returncode:
        sys.exit(errors.decode())
    _print_figures(name, pairs, time.perf_counter() - start, _child_seconds() - before, peak.megabytes)
    digest = _digest(output)
    shutil.rmtree(output)
    return digest


def _digest(output: Path) -> str:
    """A digest of the text and of the numbers of lines by data set and reason."""
    digest = hashlib.sha256()
    for file in sorted(output.glob("corpus.*.zst")):
        with open_bytes(file) as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    numbers = json.loads((output / "stats.json").read_text())["datasets"]
    digest.update(json.dumps(numbers, sort_keys=True).encode())
    return digest.hexdigest()


def _child_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _print_figures(name: str, pairs: int, wall: float, cpu: float, megabytes: float | None = None) -> None:
    memory = f", at most {megabytes:,.0f} MB" if megabytes else ""
    print(
        f"  {name + ':':28}{pairs / wall:12,.0f} pairs/s ({wall:.1f} s; {cpu:.1f} s of processors, "
        f"{pairs / cpu * 2:,.0f} pairs/s were 2 of them free){memory}"
    )


if __name__ == "__main__":
    main()
