"""The choice among n-best translations beside sacreBLEU's own sentence score, by processors.

    python -m benchmarks.extract_best

4,000 sentences of twenty words, 129 characters as real ones have, with eight translations each, by one
process and by one a processor. What is used of processors grows with the characters, and hardly depends on
what else the machine does.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sacrebleu.metrics.chrf import CHRF

from benchmarks.timing import processor_seconds
from pipeline.common.finished import finished_lines
from pipeline.common.lines import write_lines
from pipeline.common.made_from import MadeFrom
from pipeline.translate.extract_best import find_best, with_references, write_best

SENTENCES = 4_000
TRANSLATIONS = 8
RUNS = 3
PART = 15_000_000  # sentences of a part of a large pair


def main() -> None:
    """Measure in turns, and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        nbest, references = write_texts(folder)
        cores = os.cpu_count() or 1
        ways: dict[str, Callable[[], object]] = {
            "sacreBLEU's sentence_score": lambda: by_sacrebleu(nbest, references),
            "one process": lambda: extract(nbest, references, folder, 1),
            f"{cores} processes": lambda: extract(nbest, references, folder, cores),
        }
        taken: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
        for _ in range(RUNS):
            for way, work in ways.items():
                used, start = processor_seconds(), time.perf_counter()
                work()
                taken[way].append((time.perf_counter() - start, processor_seconds() - used))
    medians = {
        way: [statistics.median(values) for values in zip(*runs, strict=True)] for way, runs in taken.items()
    }
    slowest, _ = medians["sacreBLEU's sentence_score"]
    for way, (seconds, used) in medians.items():
        print(
            f"{way}: {seconds:.2f} s, {slowest / seconds:.2f} ×; of a core {used / SENTENCES * 1e6:,.0f} µs "
            f"for a sentence, {used / SENTENCES * PART / 3600:.1f} h for a part of 15 million"
        )


def by_sacrebleu(nbest: Path, references: Path) -> list[str]:
    """The best translations, each scored by itself."""
    chrf = CHRF()
    return [
        max(translations, key=lambda text: chrf.sentence_score(text, [reference]).score)
        for reference, translations in with_references(nbest, references)
    ]


def extract(nbest: Path, references: Path, folder: Path, processes: int) -> None:
    """The same by the script, with so many processes."""
    os.environ["TRANSLATIONS_THREADS"] = str(processes)
    with (
        tempfile.TemporaryDirectory(dir=folder) as scratch,
        finished_lines(Path(scratch), MadeFrom({}, {})) as finished,
    ):
        find_best(nbest, references, finished)
        write_best(finished.read(), references, folder / "best.zst")


def write_texts(folder: Path) -> tuple[Path, Path]:
    """References, and translations that differ from them in a quarter of their words."""
    rng = random.Random(1)
    words = ["".join(rng.choices("etaoinshrdlucmfw", k=rng.randint(2, 9))) for _ in range(5_000)]
    sentences = [rng.choices(words, k=20) for _ in range(SENTENCES)]
    entries = (
        f"{number} ||| {' '.join(rng.choice(words) if rng.random() < 0.25 else word for word in sentence)}"
        " ||| F0= -1 ||| -1"
        for number, sentence in enumerate(sentences)
        for _ in range(TRANSLATIONS)
    )
    nbest, references = folder / "nbest.zst", folder / "references.zst"
    write_lines(nbest, entries)
    write_lines(references, map(" ".join, sentences))
    return nbest, references


if __name__ == "__main__":
    main()
