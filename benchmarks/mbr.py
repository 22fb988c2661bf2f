"""Minimum Bayes risk by chrF beside sacreBLEU's loop over all pairs of translations, by processors.

    python -m benchmarks.mbr

Sentences of twenty words, 129 characters as real ones have, with eight translations each, of which a quarter
of the words differ; by one process, in turns. sacreBLEU's loop is tried on fewer, since it is slow; also with
the n-grams of each reference counted once. All must choose the same translations.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from sacrebleu.metrics.chrf import CHRF

from benchmarks.extract_best import SENTENCES, TRANSLATIONS, write_texts
from benchmarks.timing import processor_seconds
from pipeline.translate.mbr import choose, lists_of

RUNS = 3
FEW = 100  # sentences

Lists = Sequence[Sequence[str]]


def main() -> None:
    """Measure in turns, and print."""
    with tempfile.TemporaryDirectory() as name:
        nbest, _ = write_texts(Path(name))
        lists, megabytes = list(lists_of(nbest)), nbest.stat().st_size / 1e6
    few = lists[:FEW]
    ways: dict[str, tuple[Callable[[Lists], list[int]], Lists]] = {
        "sacreBLEU's sentence_score": (by_sentence_score, few),
        "sacreBLEU, references counted once": (by_counted_references, few),
        "pipeline.translate.mbr": (lambda given: [choose(texts)[0] for texts in given], lists),
    }
    rates: dict[str, list[float]] = {way: [] for way in ways}
    chosen: dict[str, list[int]] = {}
    for _ in range(RUNS):
        for way, (work, given) in ways.items():
            used = processor_seconds()
            chosen[way] = work(given)
            rates[way].append(len(given) * TRANSLATIONS / (processor_seconds() - used))
    slowest, *_, fastest = (statistics.median(found) for found in rates.values())
    for way, found in rates.items():
        rate = statistics.median(found)
        print(f"{way}: {rate:,.0f} translations a second of a core, {rate / slowest:.1f} ×")
    seconds = SENTENCES * TRANSLATIONS / fastest / megabytes
    print(f"{seconds:.1f} processor seconds for a compressed megabyte of n-best lists")
    print(f"the same choices: {len({tuple(found[:FEW]) for found in chosen.values()}) == 1}")


def by_sentence_score(lists: Lists) -> list[int]:
    """Choices by sacreBLEU's own sentence score."""
    chrf = CHRF()

    def mean(text: str, others: Sequence[str]) -> float:
        return float(np.mean([chrf.sentence_score(text, [other]).score for other in others]))

    return [_first_best([mean(text, texts) for text in texts]) for texts in lists]


def by_counted_references(lists: Lists) -> list[int]:
    """The same, as `pipeline.translate.extract_best` calls sacreBLEU."""
    chrf = CHRF()
    found = []
    for texts in lists:
        counted = [chrf._extract_reference_info([text]) for text in texts]
        scores = [
            [chrf._compute_f_score(chrf._compute_segment_statistics(text, other)) for other in counted]
            for text in texts
        ]
        found.append(_first_best([float(np.mean(row)) for row in scores]))
    return found


def _first_best(means: Sequence[float]) -> int:
    return means.index(max(means))


if __name__ == "__main__":
    main()
