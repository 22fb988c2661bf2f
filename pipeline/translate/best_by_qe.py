"""Of each sentence's n-best translations take the one with the least error, as MetricX-24 estimates it.

    python -m pipeline.translate.best_by_qe --model converted --nbest nbest.zst --text part.1.zst \\
        --output best

Writes best.zst, a line for each line of the text, and stats.json. The model is what
`pipeline.translate.convert_metricx` has written. Of equal translations the first wins, which the translator
found likeliest. What is found is kept in checkpoint sets.
"""

import argparse
import logging
from collections.abc import Generator, Iterator, Sequence
from itertools import islice
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.finished import finished_lines
from pipeline.common.lines import count_lines, read_lines
from pipeline.common.made_from import MadeFrom
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.translate.mbr import lists_of, write_best
from pipeline.translate.metricx import MetricX
from pipeline.translate.nbest import blocks

BLOCK_SENTENCES = 1_000

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write best.zst and stats.json."""
    args = parse_arguments(argv)
    made_from = MadeFrom({"the n-best lists": args.nbest, "the text": args.text, "the model": args.model}, {})
    with staged(args.output) as (output, scratch), finished_lines(scratch, made_from) as finished:
        finished.add_all(find_best(args.model, args.cuda_lock, args.nbest, args.text, finished.number))
        finished.require(count_lines(args.text), args.text)
        stats = write_best(finished.read(), output / "best.zst", "error")
        log.info("%s", stats["lines"])
        write_json(output / "stats.json", stats)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--model", required=True, type=Path, help="folder of the converted model")
    add("--nbest", required=True, type=Path, help="n-best lists as Marian writes them")
    add("--text", required=True, type=Path, help="the text that was translated")
    add("--cuda-lock", type=Path, help="lock of an environment with cuBLAS, for GPUs")
    add("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def find_best(
    model: Path, cuda_lock: Path | None, nbest: Path, text: Path, done: int
) -> Generator[list[str], None, None]:
    """Yield the best translation of each sentence after the first `done`, in blocks.

    Each stands behind its place in the list, its error, and spaces. Raises InputError where a line of the
    text has no list, or a list no line.
    """
    metricx = MetricX(model, cuda_lock)
    pairs = islice(_pairs(nbest, text), done, None)
    for block in blocks(pairs, BLOCK_SENTENCES):
        errors = metricx.errors((source, one) for source, candidates in block for one in candidates)
        yield [_best(candidates, [*islice(errors, len(candidates))]) for _, candidates in block]


def _pairs(nbest: Path, text: Path) -> Iterator[tuple[str, list[str]]]:
    """The sentences and their candidates; an empty sentence has one, which is not scored in vain."""
    lists = lists_of(nbest)
    number = 0
    for number, source in enumerate(read_lines(text), start=1):
        candidates = next(lists, None)
        if candidates is None:
            raise InputError(f"{nbest} has translations of {number - 1:,} sentences only, and {text} more")
        yield source, candidates if source.strip() else candidates[:1]
    if next(lists, None) is not None:
        raise InputError(f"{nbest} goes on after the {number:,} lines of {text}")


def _best(candidates: Sequence[str], errors: Sequence[float]) -> str:
    place = min(range(len(candidates)), key=lambda place: errors[place])
    return f"{place} {errors[place]:.6f} {candidates[place]}"


if __name__ == "__main__":
    run(main)
