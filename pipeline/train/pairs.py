"""Which pairs of a corpus can be trained on, and as what lines training reads them.

A line is source, target and, of aligned text, the links of their tokens: pairs `i-j` of token numbers from 0;
for guided alignment what is prepared of their SentencePiece pieces, too (see `pair_blocks`).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from sentencepiece import SentencePieceProcessor

from pipeline.common.errors import InputError
from pipeline.common.lines import LineWriter, zip_lines
from pipeline.common.vocabulary import load_vocabulary
from pipeline.train.piece_links import SPACE, Link, ParsedLinks, piece_links

END = 1  # Marian counts the end of a sentence as a piece
CHARACTERS_PER_PIECE = 64  # a longer line needs no closer look; see pipeline.common.marian_answers
KNOWN = 200_000  # words that are remembered at a time
LONG_WORD = 40  # characters; longer ones, mostly sentences without spaces, do not come again

Row: TypeAlias = Sequence[str]  # a line of each file


@dataclass
class Tally:
    """What became of the pairs of a corpus."""

    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Tally") -> None:
        """Count the pairs that follow."""
        self.kept += other.kept
        self.dropped.update(other.dropped)

    def to_dict(self) -> dict[str, object]:
        """As files hold it; in == kept + the sum of dropped."""
        dropped = dict(sorted(self.dropped.items()))
        return {"in": self.kept + self.dropped.total(), "kept": self.kept, "dropped": dropped}


@dataclass
class _Pair:
    """A pair that may be good: its columns, the links of its tokens, its sides as text."""

    columns: list[str]
    links: list[Link]
    texts: list[str]


class PairMaker:
    """Makes the lines of pairs: what is short enough, linked as it should be, and not empty.

    A side may have `limit` pieces, the end of sentence included. Aligned text is tokens; with `link_pieces`
    the lines have two columns of pieces.
    """

    def __init__(self, vocabs: Sequence[Path], limit: int, aligned: bool, link_pieces: bool) -> None:
        self._vocabs = [load_vocabulary(vocab) for vocab in vocabs]
        self._limit = limit
        self._aligned = aligned
        self._links = ParsedLinks()
        self._lengths = [_Lengths(vocab) for vocab in self._vocabs]
        self._pieces = piece_links(*vocabs) if link_pieces else None

    def __call__(self, rows: Sequence[Row]) -> tuple[list[str], Tally]:
        """The lines of the pairs that are left, and what became of all.

        Raises MalformedLinks for a row whose links are none, or do not fit its tokens.
        """
        tally = Tally()
        pairs = []
        for number, row in enumerate(rows):
            try:
                pair = self._pair(row)
            except ValueError as error:
                raise MalformedLinks(number, str(error)) from error
            if isinstance(pair, str):
                tally.dropped[pair] += 1
            else:
                pairs.append(pair)
        lines = self._lines_of_pieces(pairs) if self._pieces else self._lines(pairs)
        tally.kept = len(lines)
        if len(pairs) > len(lines):
            tally.dropped["too long"] += len(pairs) - len(lines)
        return lines, tally

    def _pair(self, row: Row) -> _Pair | str:
        """A row as a pair, or why it is none."""
        tokens = [side.split() for side in row[:2]]
        if not all(tokens):
            return "empty"
        columns, links = [" ".join(side) for side in tokens], []
        if self._aligned:
            column = row[2].split()
            if not column:
                return "no alignment"
            links = [self._links[link] for link in column]
            if max(links)[0] >= len(tokens[0]) or max([j for _, j in links]) >= len(tokens[1]):
                raise ValueError(_outside(links, *tokens))
            columns.append(" ".join(column))
            texts = ["".join(side).replace(SPACE, " ") for side in tokens]
        else:
            texts = columns
        if any(len(text) > CHARACTERS_PER_PIECE * self._limit for text in texts):
            return "too long"
        return _Pair(columns, links, texts)

    def _lines(self, pairs: Sequence[_Pair]) -> list[str]:
        """The lines of those that are short enough."""
        source, target = self._lengths
        return [
            "\t".join(pair.columns)
            for pair in pairs
            if source.fit(pair.texts[0], self._limit) and target.fit(pair.texts[1], self._limit)
        ]

    def _lines_of_pieces(self, pairs: Sequence[_Pair]) -> list[str]:
        """The same, with the columns of pieces."""
        assert self._pieces
        most = self._limit - END
        sides = [
            vocab.encode([pair.texts[side] for pair in pairs], num_threads=1)
            for side, vocab in enumerate(self._vocabs)
        ]
        return [
            "\t".join((*pair.columns, *self._pieces.prepared(*_tokens(pair), pair.links, ids)))
            for pair, *ids in zip(pairs, *sides, strict=True)
            if len(ids[0]) <= most and len(ids[1]) <= most
        ]


class MalformedLinks(Exception):
    """What is wrong with the links of a row, by its number from 0."""

    def __init__(self, row: int, problem: str) -> None:
        super().__init__(row, problem)
        self.row, self.problem = row, problem


class _Lengths(dict[str, int]):
    """How many pieces words have, each counted once: a line has those of its words."""

    def __init__(self, vocab: SentencePieceProcessor) -> None:
        super().__init__()
        self._vocab = vocab
        pieces: list[str] = vocab.id_to_piece(list(range(vocab.get_piece_size())))
        self._has_phrases = any(SPACE in piece.lstrip(SPACE) for piece in pieces)

    def fit(self, text: str, limit: int) -> bool:
        """Whether a line has at most so many pieces, its end included. A byte is a piece at worst."""
        if len(text.encode()) + 1 + END <= limit:  # a space goes before
            return True
        words = [text] if self._has_phrases else text.split(" ")
        return sum(map(self.__getitem__, words)) + END <= limit

    def __missing__(self, word: str) -> int:
        count = len(self._vocab.encode(word))
        if len(word) <= LONG_WORD:
            if len(self) > KNOWN:
                self.clear()
            self[word] = count
        return count


def _tokens(pair: _Pair) -> tuple[list[str], list[str]]:
    return pair.columns[0].split(" "), pair.columns[1].split(" ")


def _outside(links: Sequence[Link], source: Sequence[str], target: Sequence[str]) -> str:
    i, j = next((i, j) for i, j in links if i >= len(source) or j >= len(target))
    return (
        f"{i}-{j} points outside a pair of {len(source)} and {len(target)} tokens. "
        "Were the alignments made for this text?"
    )


def write_dev_pairs(source: Path, target: Path, output: Path) -> Tally:
    """Write the development set as a TSV file with two fields; pairs with an empty side are left out."""
    tally = Tally()
    with LineWriter(output) as writer:
        for columns in _columns(source, target):
            if all(columns):
                writer.write("\t".join(columns))
            else:
                tally.dropped["empty"] += 1
    tally.kept = writer.lines
    if not tally.kept:
        raise InputError(
            f"The development set {source}, {target} has no pair; training needs one to validate"
        )
    return tally


def _columns(*files: Path) -> Iterator[list[str]]:
    """The lines with single spaces: a tab ends a column, and Marian trips over a space before it."""
    for lines in zip_lines(*files):
        yield [" ".join(line.split()) for line in lines]
