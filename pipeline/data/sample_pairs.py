"""Draw so many pairs of a corpus at random, each with the same probability, in their order.

    python -m pipeline.data.sample_pairs --src en --trg ru --corpus-src corpus.en.zst \\
        --corpus-trg corpus.ru.zst --max-sentences 1000000 --seed 1 --output sample

A corpus that has no more comes out whole.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.common.lines import read_lines
from pipeline.common.sampling import sample
from pipeline.common.script import new_folder, run
from pipeline.data.imports import publish, scratch_folder
from pipeline.data.parallel import Pair, write_pairs
from pipeline.data.texts import file_pairs


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json."""
    args = _arguments(argv)
    output = new_folder(args.output)
    lines = sum(1 for _ in read_lines(args.corpus_src))
    drawn = sample(range(lines), args.max_sentences, args.seed)
    with scratch_folder(output, args.corpus_src.name) as scratch:
        files = [scratch / f"corpus.{args.src}.zst", scratch / f"corpus.{args.trg}.zst"]
        written, samples = write_pairs(_of(drawn, file_pairs(args.corpus_src, args.corpus_trg)), files)
        counts = {"in": lines, "kept": written, "dropped": {"not drawn": lines - written}}
        publish(files, {"lines": counts, "samples": samples}, output)


def _of(drawn: Sequence[int], pairs: Iterator[Pair]) -> Iterator[Pair]:
    wanted = iter(drawn)
    number = next(wanted, None)
    for place, pair in enumerate(pairs):
        if place == number:
            yield pair
            number = next(wanted, None)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--src", required=True, help="source language")
    add("--trg", required=True, help="target language")
    add("--corpus-src", required=True, type=Path, help="source side")
    add("--corpus-trg", required=True, type=Path, help="target side")
    add("--max-sentences", required=True, type=int, help="pairs to draw")
    add("--seed", required=True, type=int, help="decides which")
    add("--output", required=True, type=Path, help="new folder for the sample")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
