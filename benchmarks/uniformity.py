"""Evenness of samples: 1, 10 and 50 % of a text of short and long lines, by chi-square over 100 seeds.

    python -m benchmarks.uniformity

Samples by the reservoir (of vocabularies, say), by the monolingual importers and by the merges'
--max-sentences, of zstd and gz; over 20 stretches of the text and over four data sets. With a sound sampler
one figure of a thousand is below 0.001.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pipeline.clean.merge_mono import main as merge_mono
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.sampling import sample
from pipeline.data.limited import write_limited

SIZES = (2_000, 1_200, 600, 200)  # lines of the data sets
SHARES = (0.01, 0.1, 0.5)
SEEDS = 100
STRETCHES = 20

Sampler = Callable[[Sequence[Path], int, int], Iterator[int]]  # files, size, seed → numbers of lines


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        print_uniformity(Path(folder))


def print_uniformity(folder: Path) -> None:
    """Measure and print, with the files in a folder."""
    for suffix in (".zst", ".gz"):
        files = write_texts(folder, suffix)
        for name, sampler in SAMPLERS.items():
            for share in SHARES:
                stretches, datasets = p_values(files, sampler, share)
                print(
                    f"{name}, {share:.0%} of {suffix[1:]}: p = {stretches:.3f} over position, "
                    f"{datasets:.3f} over data sets (bar: > 0.001)"
                )


def write_texts(folder: Path, suffix: str) -> list[Path]:
    """The data sets: numbered lines that grow and shrink from a few bytes to several thousand."""
    files, number = [], 0
    for n, size in enumerate(SIZES):
        files.append(folder / f"even-{n}{suffix}")
        write_lines(files[-1], (_line(number + line) for line in range(size)))
        number += size
    return files


def _line(number: int) -> str:
    return f"{number} " + "word " * (1 + number * number % (1_000 if number % 10 == 0 else 10)) + "."


def by_reservoir(files: Sequence[Path], size: int, seed: int) -> Iterator[int]:
    """Numbers of the lines that a reservoir holds in the end."""
    return map(_number, sample(_lines(files), size, seed))


def by_import(files: Sequence[Path], size: int, seed: int) -> Iterator[int]:
    """Numbers of the lines that a monolingual importer chooses."""
    with tempfile.TemporaryDirectory() as name:
        chosen = Path(name) / f"chosen{files[0].suffix}"
        write_limited(_lines(files), size, str(seed), chosen, Path(name))
        return iter(list(map(_number, read_lines(chosen))))


def by_merge(files: Sequence[Path], size: int, seed: int) -> Iterator[int]:
    """Numbers of the lines that a merge chooses."""
    with tempfile.TemporaryDirectory() as name:
        nothing, output = Path(name) / "nothing", Path(name) / "merged"
        nothing.write_bytes(b"")
        names = [file.name for file in files]
        command = [
            "--lang",
            "en",
            "--datasets",
            *names,
            "--text",
            *map(str, files),
            "--parallel",
            str(nothing),
        ]
        merge_mono([*command, "--max-sentences", str(size), "--seed", str(seed), "--output", str(output)])
        return iter(list(map(_number, read_lines(output / "mono.en.zst"))))


SAMPLERS: dict[str, Sampler] = {"reservoir": by_reservoir, "importers": by_import, "merges": by_merge}


def _lines(files: Sequence[Path]) -> Iterator[str]:
    return (line for file in files for line in read_lines(file))


def _number(line: str) -> int:
    return int(line.split(" ", 1)[0])


def p_values(files: Sequence[Path], sampler: Sampler, share: float) -> tuple[float, float]:
    """Compute the probability of counts as uneven as these, over stretches of text and over data sets."""
    total = sum(SIZES)
    size = round(total * share)
    stretches, datasets = [0] * STRETCHES, [0] * len(SIZES)
    for seed in range(SEEDS):
        for number in sampler(files, size, seed):
            stretches[number * STRETCHES // total] += 1
            datasets[_dataset(number)] += 1
    # A sample without replacement varies less than one with replacement, by this factor.
    factor = (total - 1) / (total - size)
    even = [total / STRETCHES] * STRETCHES
    return p_value(stretches, even, factor), p_value(datasets, SIZES, factor)


def _dataset(number: int) -> int:
    return next(n for n in range(len(SIZES)) if number < sum(SIZES[: n + 1]))


def p_value(counts: Sequence[float], weights: Sequence[float], factor: float) -> float:
    """The chance of counts at least as uneven, by chi-square, where the weights say what is even."""
    expected = [sum(counts) * weight / sum(weights) for weight in weights]
    chi_square = factor * sum((c - e) ** 2 / e for c, e in zip(counts, expected, strict=True))
    # Wilson and Hilferty's approximation (PNAS 17, 1931), good to a few thousandths
    freedom = len(counts) - 1
    mean, variance = 1 - 2 / (9 * freedom), 2 / (9 * freedom)
    return math.erfc(((chi_square / freedom) ** (1 / 3) - mean) / math.sqrt(2 * variance)) / 2


if __name__ == "__main__":
    main()
