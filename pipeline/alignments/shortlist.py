"""Makes the lexical shortlist: for each source piece the target pieces that may stand in its translation.

    python -m pipeline.alignments.shortlist --source-vocab vocab.en.spm --target-vocab vocab.eo.spm \\
        --corpus-src corpus.en.zst --corpus-trg corpus.eo.zst --output shortlist

writes lex.s2t.zst, lines of `target source p(target | source)`, and stats.json.

Both sides are cut into SentencePiece pieces and aligned piece by piece: an alignment of words would not do.
For each source piece, in the order of the vocabulary, the 100 likeliest target pieces are listed, the
likeliest first. A decoder that uses the shortlist computes only these, and the first pieces of the
vocabulary, so it is fast; a piece that is not listed cannot be written. Joint and split vocabularies both
work. Of a corpus longer than ten million pairs, a uniform sample of that size is read.
"""

import argparse
import logging
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from sentencepiece import SentencePieceProcessor

from pipeline.alignments.blocks import Corpus, Pair, align_corpus, sample_pairs
from pipeline.alignments.lexicon import Entry, Lexicon
from pipeline.alignments.symmetrize import parse_links
from pipeline.common.errors import InputError
from pipeline.common.lines import LineWriter, count_lines, write_lines, zip_lines
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.common.vocabulary import load_vocabulary

logger = logging.getLogger(__name__)

BEST = 100
MAX_PAIRS = 10_000_000
BATCH = 10_000
SAMPLES = 10
RESERVED = "NULL"  # a line with this piece is skipped by Marian


def encode_corpus(
    pairs: Iterator[Pair], vocabularies: Sequence[SentencePieceProcessor], files: Sequence[Path]
) -> int:
    """Lines of text → lines of piece ids, joined by spaces; returns the number of lines."""
    with LineWriter(files[0]) as source_ids, LineWriter(files[1]) as target_ids:
        for pair in pairs:
            for text, vocabulary, ids in zip(pair, vocabularies, (source_ids, target_ids), strict=True):
                ids.write(" ".join(map(str, vocabulary.encode(text))))
    return source_ids.lines


def build_lexicon(ids: Sequence[Path], links: Path) -> tuple[Lexicon, int]:
    """Piece ids of both sides and their links → the lexicon, and how many pairs had links."""
    lexicon, aligned = Lexicon(), 0
    for source, target, line in zip_lines(*ids, links):
        if line:
            aligned += 1
            lexicon.add([*map(int, source.split())], [*map(int, target.split())], parse_links(line))
    return lexicon, aligned


def format_entries(
    entries: Iterable[Entry], source: SentencePieceProcessor, target: SentencePieceProcessor
) -> Iterator[str]:
    """Yield the entries as `target source probability`, eight decimals."""
    for entry in entries:
        pieces = target.id_to_piece(entry.target), source.id_to_piece(entry.source)
        if RESERVED not in pieces:
            yield f"{pieces[0]} {pieces[1]} {entry.probability:.8f}"


def main(argv: Sequence[str] | None = None) -> None:
    """Encode, align, count, and write the files named above."""
    args = _parser().parse_args(argv)
    vocabularies = [load_vocabulary(args.source_vocab), load_vocabulary(args.target_vocab)]
    lines = count_lines(args.corpus_src)
    logger.info("Shortlist from %s pairs of %s and %s", f"{lines:,}", args.corpus_src, args.corpus_trg)
    with staged(args.output) as (output, work):
        ids = [work / "source.zst", work / "target.zst"]
        pairs = sample_pairs(Corpus(args.corpus_src, args.corpus_trg, lines), MAX_PAIRS)
        used = encode_corpus(pairs, vocabularies, ids)
        align_corpus(Corpus(ids[0], ids[1], used), work / "links.zst", work)
        lexicon, aligned = build_lexicon(ids, work / "links.zst")
        entries = list(lexicon.best(BEST))
        written = write_lines(output / "lex.s2t.zst", format_entries(entries, *vocabularies))
        if written == 0:
            raise InputError(
                f"No piece of {args.corpus_src} could be aligned. Give a corpus with text in it."
            )
        stats = summarize(entries, vocabularies, {"in": lines, "kept": aligned})
        write_json(output / "stats.json", stats)
    logger.info("Shortlist: %s", stats)


def summarize(
    entries: Sequence[Entry], vocabularies: Sequence[SentencePieceProcessor], lines: dict[str, int]
) -> dict[str, object]:
    """Counts for stats.json; pairs that were not sampled or got no links are the ones not used."""
    sources = {entry.source for entry in entries}
    return {
        "lines": {**lines, "dropped": {"not_aligned_or_not_sampled": lines["in"] - lines["kept"]}},
        "entries": len(entries),
        "source_pieces": len(sources),
        "target_pieces": len({entry.target for entry in entries}),
        "source_vocabulary": vocabularies[0].get_piece_size(),
        "target_vocabulary": vocabularies[1].get_piece_size(),
        "entries_per_source_piece": round(len(entries) / len(sources), 4),
        "samples": [*islice(format_entries(_likeliest(entries), *vocabularies), SAMPLES)],
    }


def _likeliest(entries: Iterable[Entry]) -> list[Entry]:
    """The first entry of each source piece."""
    first: dict[int, Entry] = {}
    for entry in entries:
        first.setdefault(entry.source, entry)
    return [*first.values()]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--source-vocab", type=Path, required=True, help="SentencePiece model of the source side"
    )
    parser.add_argument(
        "--target-vocab", type=Path, required=True, help="SentencePiece model of the target side"
    )
    parser.add_argument("--corpus-src", type=Path, required=True, help="source text, a sentence a line")
    parser.add_argument("--corpus-trg", type=Path, required=True, help="target text, parallel to it")
    parser.add_argument("--output", type=Path, required=True, help="new folder for the results")
    return parser


if __name__ == "__main__":
    run(main)
