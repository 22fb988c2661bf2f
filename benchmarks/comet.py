"""Lines that COMET scores a second on a CPU: one process of Marian beside one for each core.

    python -m benchmarks.comet

The model has the architecture of wmt22-comet-da at its full size (24 layers of 1024, without the embeddings
of its 250,000 pieces) and random weights: its scores mean nothing, and take as long. The sentences are of a
small grammar. The start of Marian is taken off by scoring few lines and many.
"""

from __future__ import annotations

import os
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.comet_model import COMET22, write_comet
from pipeline.common.vocabulary import load_vocabulary
from pipeline.eval import comet
from pipeline.train.vocab import learn
from tests.pipeline.train.tiny import pairs

FEW, MANY = 4, 44  # lines
MEMORY_MB = 20_000


def main() -> None:
    """Measure, and print."""
    cores = os.cpu_count() or 1
    os.environ["TRANSLATIONS_MEMORY"] = str(MEMORY_MB)
    rows = [f"{source}\t{reference}\t{reference}" for source, reference in pairs(MANY, seed=2)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = [line for pair in pairs(600, seed=1) for line in pair]
        (folder / "vocab.spm").write_bytes(learn(text, 320, "nfd"))
        pieces = load_vocabulary(folder / "vocab.spm").get_piece_size()
        write_comet(folder / "model.npz", pieces, COMET22, scale=0.02)
        weights = (folder / "model.npz").stat().st_size
        found = {number: measure(folder, rows, number) for number in (1, cores)}
    (before, alone), (after, together) = found[1], found[cores]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(f"one process: {before:.2f} lines a second")
    print(f"{cores} processes: {after:.2f} lines a second, {after / before:.1f} ×")
    print(f"largest difference of a score: {max(abs(a - b) for a, b in zip(alone, together, strict=True)):g}")
    print(f"memory of a process: {peak / 1e6:,.0f} MB, with {weights / 1e6:,.0f} MB of weights")


def measure(folder: Path, rows: Sequence[str], processes: int) -> tuple[float, list[float]]:
    """Lines a second, and the scores of the lines."""
    os.environ["TRANSLATIONS_THREADS"] = str(processes)
    seconds, scores = [], list[float]()
    for number in (FEW, MANY):
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            start = time.perf_counter()
            scores = comet.evaluate(folder / "model.npz", folder / "vocab.spm", rows[:number], Path(scratch))
            seconds.append(time.perf_counter() - start)
    return (MANY - FEW) / (seconds[1] - seconds[0]), scores


if __name__ == "__main__":
    main()
