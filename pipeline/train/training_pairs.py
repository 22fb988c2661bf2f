"""Make the pairs that a training reads of a corpus: checked, short enough, in compressed blocks.

    python -m pipeline.train.training_pairs --corpus-src corpus.tok-icu.en.zst \\
        --corpus-trg corpus.tok-icu.ru.zst --alignments corpus.aln.zst \\
        --source-vocab vocab.en.spm --target-vocab vocab.ru.spm --max-length 200 --link-pieces \\
        --output pairs

Pairs with an empty side, without an alignment (in aligned text), or of more than max-length pieces on a side,
the end of sentence among them, are left out. With --alignments the corpus is tokenised, with ▁ for spaces;
with --link-pieces, for guided alignment, the links of SentencePiece pieces are made of those of tokens. The
output is pairs.zst and blocks.npy, see pipeline.train.pair_blocks, and stats.json: lines read, kept and
dropped, and what training looks up of the pairs. Blocks of lines are worked on in several processes.
"""

import argparse
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pipeline.common.errors import InputError
from pipeline.common.lines import count_lines
from pipeline.common.parallel_blocks import lines_of, read_parallel
from pipeline.common.pool import Texts, map_blocks
from pipeline.common.resources import threads
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.train.pair_blocks import BLOCK, PairBlockWriter, compress_block
from pipeline.train.pair_facts import ALIGNED, LINKED, PLAIN, STATS, PairFacts, digests
from pipeline.train.pairs import MalformedLinks, PairMaker, Tally

Numbered: TypeAlias = tuple[int, Texts]  # a block of the corpus, and the lines before it
Frames: TypeAlias = list[tuple[bytes, int]]  # compressed lines, and how many

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the pairs, their index and stats.json."""
    args = parse_arguments(argv)
    vocabs = [args.source_vocab, args.target_vocab]
    maker = PairMaker(vocabs, args.max_length, bool(args.alignments), args.link_pieces)
    with staged(args.output) as (output, _):
        tally = write_pairs(corpus_files(args), maker, output)
        columns = LINKED if args.link_pieces else ALIGNED if args.alignments else PLAIN
        facts = PairFacts(tally.to_dict(), columns, args.max_length, digests(vocabs))
        write_json(output / STATS, facts.to_dict())
    log.info("Pairs: %s", tally.to_dict())


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--corpus-src", required=True, type=Path, help="source side")
    add("--corpus-trg", required=True, type=Path, help="target side")
    add("--alignments", type=Path, help="links of their tokens; the text is tokenised then")
    add("--source-vocab", required=True, type=Path, help="SentencePiece model of the source")
    add("--target-vocab", required=True, type=Path, help="SentencePiece model of the target")
    add("--max-length", required=True, type=int, help="pieces of a side, the end of sentence included")
    add("--link-pieces", action="store_true", help="add the links of SentencePiece pieces")
    add("--output", required=True, type=Path, help="new folder for the result")
    args = parser.parse_args(argv)
    if args.link_pieces and not args.alignments:
        parser.error("--link-pieces goes with --alignments, of which the links of pieces are made")
    return args


def corpus_files(args: argparse.Namespace) -> list[Path]:
    """The files of the corpus, in the order of a line's columns."""
    return [file for file in (args.corpus_src, args.corpus_trg, args.alignments) if file]


def write_pairs(files: Sequence[Path], maker: PairMaker, output: Path) -> Tally:
    """Write the pairs of parallel files to a folder; returns what was kept and dropped.

    Raises InputError when the files differ in length, are damaged or not UTF-8, when links are malformed or
    point outside their sentence, or no pair is left.
    """
    tally = Tally()
    with PairBlockWriter(output) as writer:
        for frames, counted in map_blocks(_Work(maker, files), _numbered(files), threads()):
            tally.add(counted)
            for frame, lines in frames:
                writer.write_block(frame, lines)
    if not tally.kept:
        raise InputError(f"No pair of {files[0]} and {files[1]} can be trained on: {tally.to_dict()}")
    return tally


def _numbered(files: Sequence[Path]) -> Iterator[Numbered]:
    before = 0
    for texts in read_parallel(*files):
        yield before, texts
        before += texts[0].count(b"\n")


@dataclass(frozen=True)
class _Work:
    """What a process does with a block of the corpus."""

    maker: PairMaker
    files: Sequence[Path]

    def __call__(self, block: Numbered) -> tuple[Frames, Tally]:
        before, texts = block
        try:
            rows = list(zip(*map(lines_of, texts), strict=True))
        except UnicodeDecodeError:
            for file in self.files:
                count_lines(file)  # it tells where the file is not UTF-8
            raise
        try:
            lines, tally = self.maker(rows)
        except MalformedLinks as error:
            place = f"{self.files[-1]}, line {before + error.row + 1}"
            raise InputError(f"{place}: {error.problem}") from error
        parts = [lines[start : start + BLOCK] for start in range(0, len(lines), BLOCK)]
        return [(compress_block(part), len(part)) for part in parts], tally


if __name__ == "__main__":
    run(main)
