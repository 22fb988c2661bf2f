"""Draw so many pairs of a corpus at random, each with the same probability, in their order.

    python -m pipeline.data.sample_pairs --src en --trg ru --corpus-src corpus.en.zst \\
        --corpus-trg corpus.ru.zst --max-sentences 1000000 --seed 1 --output sample

A corpus that has no more comes out whole.
"""

import argparse
from collections.abc import Sequence

from pipeline.common.lines import count_lines
from pipeline.common.script import run
from pipeline.data.corpus_script import corpus_parser, drawn, write_corpus
from pipeline.data.texts import file_pairs


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json."""
    args = _arguments(argv)
    lines = count_lines(args.corpus_src)
    pairs = drawn(file_pairs(args.corpus_src, args.corpus_trg), lines, args.max_sentences, args.seed)

    def stats(written: int) -> dict[str, object]:
        return {"lines": {"in": lines, "kept": written, "dropped": {"not drawn": lines - written}}}

    write_corpus(args, pairs, stats)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = corpus_parser(__doc__)
    parser.add_argument("--max-sentences", required=True, type=int, help="pairs to draw")
    parser.add_argument("--seed", required=True, type=int, help="decides which")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
