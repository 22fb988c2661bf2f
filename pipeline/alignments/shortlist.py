"""Makes the lexical shortlist: for each source piece the target pieces that may stand in its translation.

    python -m pipeline.alignments.shortlist --source-vocab vocab.en.spm --target-vocab vocab.eo.spm \\
        --corpus-src corpus.en.zst --corpus-trg corpus.eo.zst --src en --trg eo \\
        --curriculum student.yml --bicameral --phonemic --output shortlist

writes lex.s2t.zst, lines of `target source p(target | source)`, and stats.json.

The corpus is read as the student reads it: with the upper case, the typing errors and all else that its
curriculum puts in. Both sides are cut into SentencePiece pieces and aligned piece by piece. A piece may then
be translated by each piece of the words that its word is linked with: one link would leave out the rest of a
rare or misspelt word. For each source piece, in the order of the vocabulary, the 200 likeliest target pieces
are listed, the likeliest first. A decoder that uses the shortlist computes only these, and the first pieces
of the vocabulary, so it is fast; a piece that is not listed cannot be written. Joint and split vocabularies
both work. Of a corpus longer than ten million pairs, a uniform sample of that size is read.
"""

import argparse
import logging
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise, product
from pathlib import Path

from sentencepiece import SentencePieceProcessor

from pipeline.alignments.blocks import SAMPLE_SEED, Corpus, Pair, align_corpus, sample_pairs
from pipeline.alignments.lexicon import Entry, Lexicon
from pipeline.alignments.symmetrize import Link, parse_links
from pipeline.common.errors import InputError
from pipeline.common.lines import LineWriter, count_lines, write_lines, zip_lines
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.common.vocabulary import load_vocabulary
from pipeline.train.curriculum import add_curriculum_arguments, given_curriculum
from pipeline.train.reading import Modifier, as_read, modifiers_of

logger = logging.getLogger(__name__)

BEST = 200
MAX_PAIRS = 10_000_000
SAMPLES = 10
RESERVED = "NULL"  # a line with this piece is skipped by Marian
WORD_START = "\u2581"
LONGEST_WORD = 16  # pieces; where no spaces part words, whole clauses are longer


def encode_corpus(
    pairs: Iterator[Pair], vocabularies: Sequence[SentencePieceProcessor], files: Sequence[Path]
) -> int:
    """Lines of text → lines of piece ids, joined by spaces; returns the number of lines."""
    with LineWriter(files[0]) as source_ids, LineWriter(files[1]) as target_ids:
        for pair in pairs:
            for text, vocabulary, ids in zip(pair, vocabularies, (source_ids, target_ids), strict=True):
                ids.write(" ".join(map(str, vocabulary.encode(text))))
    return source_ids.lines


def build_lexicon(
    ids: Sequence[Path], links: Path, vocabularies: Sequence[SentencePieceProcessor]
) -> tuple[Lexicon, int]:
    """Piece ids of both sides and their links → the lexicon, and how many pairs had links."""
    lexicon, aligned = Lexicon(), 0
    begins = [_begins_word(vocabulary) for vocabulary in vocabularies]
    for *sides, line in zip_lines(*ids, links):
        if line:
            aligned += 1
            source, target = ([*map(int, side.split())] for side in sides)
            links_of_words = spread(parse_links(line), words(source, begins[0]), words(target, begins[1]))
            lexicon.add(source, target, links_of_words)
    return lexicon, aligned


def words(ids: Sequence[int], begins: Sequence[bool]) -> list[range]:
    """For each piece the positions of its word's pieces; its own where that is too long to be a word."""
    starts = [at for at, piece in enumerate(ids) if not at or begins[piece]]
    spans = [range(*ends) for ends in pairwise([*starts, len(ids)])]
    return [span if len(span) <= LONGEST_WORD else range(at, at + 1) for span in spans for at in span]


def spread(links: Sequence[Link], source: Sequence[range], target: Sequence[range]) -> list[Link]:
    """Links between pieces → links between all pieces of the words that they belong to."""
    return sorted({link for one, other in links for link in product(source[one], target[other])})


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
        used = encode_corpus(as_read(pairs, read_modifiers(args), SAMPLE_SEED), vocabularies, ids)
        align_corpus(Corpus(ids[0], ids[1], used), work / "links.zst", work)
        lexicon, aligned = build_lexicon(ids, work / "links.zst", vocabularies)
        entries = list(lexicon.best(BEST))
        written = write_lines(output / "lex.s2t.zst", format_entries(entries, *vocabularies))
        if written == 0:
            raise InputError(
                f"No piece of {args.corpus_src} could be aligned. Give a corpus with text in it."
            )
        noise = used - min(lines, MAX_PAIRS)
        stats = summarize(entries, vocabularies, {"in": lines + noise, "kept": aligned})
        write_json(output / "stats.json", stats)
    logger.info("Shortlist: %s", stats)


def read_modifiers(args: argparse.Namespace) -> list[Modifier]:
    """OpusTrainer's modifiers of the curriculum, without that which aligns pieces for training."""
    vocabularies = {"source-vocab": str(args.source_vocab), "target-vocab": str(args.target_vocab)}
    return modifiers_of(given_curriculum(args, {"src": args.src, "trg": args.trg, **vocabularies}))


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


def _begins_word(vocabulary: SentencePieceProcessor) -> list[bool]:
    pieces = map(vocabulary.id_to_piece, range(vocabulary.get_piece_size()))
    return [piece.startswith(WORD_START) for piece in pieces]


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
    add = parser.add_argument
    add("--src", required=True, help="source language")
    add("--trg", required=True, help="target language")
    add_curriculum_arguments(parser)
    add("--output", type=Path, required=True, help="new folder for the results")
    return parser


if __name__ == "__main__":
    run(main)
