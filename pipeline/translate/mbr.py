"""Of each sentence's n-best translations take the one that is nearest to all others, by chrF.

    python -m pipeline.translate.mbr --nbest nbest.zst --text part.1.zst --output best

Writes best.zst, a line for each line of the text, and stats.json. Minimum Bayes risk decoding (Kumar and
Byrne 2004, "Minimum Bayes-Risk Decoding for Statistical Machine Translation"): the n-best list holds the
candidates, and references of the same weight. It needs no reference of a person's, so it also serves
monolingual text. Among translations of equal mean chrF the first wins, which the model scored highest.
What is found is kept in checkpoint sets.
"""

import argparse
import logging
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.finished import FinishedLines, finished_lines
from pipeline.common.lines import LineWriter, count_lines
from pipeline.common.made_from import MadeFrom
from pipeline.common.pool import map_blocks
from pipeline.common.resources import threads
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.translate.chrf import pairwise_chrf
from pipeline.translate.nbest import blocks, read_entries

BLOCK_SENTENCES = 500
SAMPLES = 10
SAMPLE_CHARACTERS = 200

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write best.zst and stats.json."""
    args = parse_arguments(argv)
    made_from = MadeFrom({"the n-best lists": args.nbest, "the text": args.text}, {})
    with staged(args.output) as (output, scratch), finished_lines(scratch, made_from) as finished:
        find_best(args.nbest, finished)
        finished.require(count_lines(args.text), args.text)
        stats = write_best(finished.read(), output / "best.zst", "chrf")
        log.info("%s", stats["lines"])
        write_json(output / "stats.json", stats)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nbest", required=True, type=Path, help="n-best lists as Marian writes them")
    parser.add_argument("--text", required=True, type=Path, help="the text that was translated")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def find_best(nbest: Path, finished: FinishedLines) -> None:
    """Add the best translation of each sentence, behind its place in the list, its mean chrF, and spaces."""
    left = islice(lists_of(nbest), finished.number, None)
    finished.add_all(map_blocks(_best_of, blocks(left, BLOCK_SENTENCES), threads()))


def write_best(found: Iterable[str], output: Path, measure: str) -> dict[str, object]:
    """Write the best translation of each sentence; returns what stats.json holds.

    Each stands behind its place in the list, its `measure`, a number, and spaces.
    """
    total, others = 0.0, 0
    samples: list[str] = []
    with LineWriter(output) as writer:
        for line in found:
            place, measured, text = line.split(" ", 2)
            writer.write(text)
            total += float(measured)
            others += place != "0"
            if len(samples) < SAMPLES:
                samples.append(text[:SAMPLE_CHARACTERS])
    lines = writer.lines
    return {
        "lines": {"in": lines, "kept": lines, "dropped": {}},
        f"mean-{measure}": round(total / lines, 4) if lines else None,
        "not-the-likeliest": others,
        "samples": samples,
    }


def lists_of(nbest: Path) -> Iterator[list[str]]:
    """The translations of each sentence. Raises InputError where the lists are not those of 0, 1, 2, …"""
    for expected, (sentence, entries) in enumerate(groupby(read_entries(nbest), key=lambda entry: entry[0])):
        if sentence != expected:
            raise InputError(f"{nbest} has translations of sentence {sentence} after {expected} sentences")
        yield [text for _, text in entries]


def choose(translations: Sequence[str]) -> tuple[int, float]:
    """The place of the first translation with the highest mean chrF against all, and that chrF (0 to 100)."""
    means = pairwise_chrf(translations).mean(axis=1)
    best = int(means.argmax())
    return best, float(means[best])


def _best_of(block: Sequence[Sequence[str]]) -> list[str]:
    found = [(translations, *choose(translations)) for translations in block]
    return [f"{place} {chrf!r} {translations[place]}" for translations, place, chrf in found]


if __name__ == "__main__":
    run(main)
