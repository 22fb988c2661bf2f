"""Of each sentence's n-best translations take the one nearest to its reference, by sentence chrF (sacreBLEU).

    python -m pipeline.translate.extract_best --nbest nbest.zst --references part.1.ref.zst --output best

Writes best.zst, a line for each reference, and stats.json. Among translations of equal chrF the first wins,
which Marian scored highest. The interpolation of Kim and Rush 2016, "Sequence-Level Knowledge Distillation".
What is found is kept in checkpoint sets.
"""

import argparse
import logging
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import TypeAlias

from sacrebleu.metrics.chrf import CHRF

from pipeline.common.errors import InputError
from pipeline.common.finished import FinishedLines, finished_lines
from pipeline.common.lines import LineWriter, count_lines, read_lines
from pipeline.common.made_from import MadeFrom
from pipeline.common.pool import map_blocks
from pipeline.common.resources import threads
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.translate.nbest import blocks, read_entries

# A reference and its sentence's translations
Sentence: TypeAlias = tuple[str, list[str]]

BLOCK_SENTENCES = 500
SAMPLES = 10
SAMPLE_CHARACTERS = 200

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write best.zst and stats.json."""
    args = parse_arguments(argv)
    made_from = MadeFrom({"the n-best lists": args.nbest, "the references": args.references}, {})
    with staged(args.output) as (output, scratch), finished_lines(scratch, made_from) as finished:
        find_best(args.nbest, args.references, finished)
        finished.require(count_lines(args.references), args.references)
        stats = write_best(finished.read(), args.references, output / "best.zst")
        log.info("%s", stats["lines"])
        write_json(output / "stats.json", stats)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nbest", required=True, type=Path, help="n-best lists as Marian writes them")
    parser.add_argument("--references", required=True, type=Path, help="a reference for each sentence")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def find_best(nbest: Path, references: Path, finished: FinishedLines) -> None:
    """Add the best translation of each sentence, behind its chrF and a space."""
    left = islice(with_references(nbest, references), finished.number, None)
    finished.add_all(map_blocks(_nearest_of, blocks(left, BLOCK_SENTENCES), threads()))


def write_best(found: Iterable[str], references: Path, output: Path) -> dict[str, object]:
    """Write the best translation of each sentence; returns what stats.json holds."""
    total = 0.0
    best: list[str] = []
    with LineWriter(output) as writer:
        for line in found:
            chrf, text = line.split(" ", 1)
            writer.write(text)
            total += float(chrf)
            if len(best) < SAMPLES:
                best.append(text)
    lines = writer.lines
    samples = [
        [text[:SAMPLE_CHARACTERS] for text in pair]
        for pair in zip(best, read_lines(references), strict=False)
    ]
    return {
        "lines": {"in": lines, "kept": lines, "dropped": {}},
        "mean-chrf": round(total / lines, 4) if lines else None,
        "samples": samples,
    }


def with_references(nbest: Path, references: Path) -> Iterator[Sentence]:
    """Yield each reference with its sentence's translations. Raises InputError when either has more."""
    groups = groupby(read_entries(nbest), key=lambda entry: entry[0])
    number = -1
    for number, reference in enumerate(read_lines(references)):
        sentence, entries = next(groups, (None, iter(())))
        if sentence != number:
            raise InputError(
                f"{nbest} has no translations of line {number + 1} of {references} where they should be "
                f"(found sentence {sentence}). Were both made from the same text?"
            )
        yield reference, [text for _, text in entries]
    if next(groups, None):
        raise InputError(f"{nbest} goes on after the {number + 1:,} lines of {references}")


def nearest(translations: Iterable[str], reference: str) -> tuple[str, float]:
    """The first translation with the highest chrF against the reference, and that chrF (0 to 100)."""
    chrf = CHRF()
    # As `sentence_score` does it, which would count the reference's n-grams again for each translation
    counted = chrf._extract_reference_info([chrf._preprocess_segment(reference)])

    def score(text: str) -> float:
        statistics = chrf._compute_segment_statistics(chrf._preprocess_segment(text), counted)
        return chrf._compute_f_score(statistics)

    return max(((text, score(text)) for text in translations), key=lambda pair: pair[1])


def _nearest_of(block: Sequence[Sentence]) -> list[str]:
    """The translation that is nearest to each reference, behind its chrF."""
    found = (nearest(translations, reference) for reference, translations in block)
    return [f"{chrf!r} {best}" for best, chrf in found]


if __name__ == "__main__":
    run(main)
