"""The links of SentencePiece pieces, from links of ICU tokens: what guided alignment learns from.

OpusTrainer's Tags says which they are: a token is linked as the pieces are that overlap it, and of a piece
that reaches over several tokens the first one counts (but at the end of a sentence, where all do). A side as
most are is mapped here, from the pieces' lengths, ten times as fast; one that SentencePiece normalises from
their offsets, twice as fast; one whose ends it cuts off is left to the functions of Tags.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import TypeAlias

from opustrainer.modifiers.placeholders import PlaceholderTagModifier
from opustrainer.modifiers.retokenize import Retokenizer
from sentencepiece import SentencePieceProcessor

SPACE = "▁"  # stands for a space in tokenised text, where single spaces part the tokens
NOWHERE = range(0)
KNOWN = 200_000  # links that are remembered at a time

_LINK = re.compile(r"(\d+)-(\d+)", re.ASCII)

Link: TypeAlias = tuple[int, int]


class Side:
    """One side of pairs: its tokens, and the vocabulary by which it is cut."""

    def __init__(self, retokenizer: Retokenizer) -> None:
        self._retokenizer = retokenizer
        self.vocab: SentencePieceProcessor = retokenizer.tokenizer.spm
        numbers = list(range(self.vocab.get_piece_size()))
        self._pieces: list[str] = self.vocab.id_to_piece(numbers)
        values = [_byte(piece) if self.vocab.is_byte(n) else None for n, piece in enumerate(self._pieces)]
        self._bytes = [
            piece.encode() if value is None else bytes([value])
            for piece, value in zip(self._pieces, values, strict=True)
        ]
        self._lengths = [
            len(piece) if value is None else _length(value)
            for piece, value in zip(self._pieces, values, strict=True)
        ]

    def pieces_of(self, tokens: Sequence[str], ids: Sequence[int]) -> Sequence[Sequence[int]]:
        """The pieces of each token, by their numbers, of a line that is cut into `ids`."""
        text = SPACE + "".join(tokens)
        if tokens.count(SPACE) + 1 == text.count(SPACE):
            ends = self._ends(ids, text) or self._ends_by_offsets(text)
            if ends:
                return _overlaps(tokens, ends)
        return self._by_opustrainer(tokens)

    def keeps_pieces(
        self, tokens: Sequence[str], ids: Sequence[int], pieces: Sequence[Sequence[int]]
    ) -> bool:
        """Whether the last token is one character and one piece, and the others keep their pieces without it.

        `pieces` are those of the tokens of a line that is cut into `ids`.
        """
        if len(tokens) < 2 or len(tokens[-1]) != 1 or not pieces[-2]:
            return False
        # at the end of a sentence a piece counts for several tokens: here it has to be the last token's own
        if list(pieces[-1]) != [pieces[-2][-1] + 1]:
            return False
        shorter: list[int] = self.vocab.encode("".join(tokens[:-1]).replace(SPACE, " "))
        return shorter == ids[:-1]

    def _ends(self, ids: Sequence[int], text: str) -> list[int] | None:
        """Where in a text each of its pieces ends; None when the pieces are not the text's own characters.

        Of a character that is spelled in bytes, the last byte's piece is the character.
        """
        pieces = [self._pieces[number] for number in ids]
        if "".join(pieces) == text:
            return list(accumulate(map(len, pieces)))
        if b"".join([self._bytes[number] for number in ids]) != text.encode():
            return None
        lengths = [self._lengths[number] for number in ids]
        for place, length in enumerate(lengths):
            if length < 0:
                lengths[place] = 0
                lengths[place - length] = 1
        return list(accumulate(lengths))

    def _ends_by_offsets(self, text: str) -> list[int] | None:
        """Where pieces end in a text that SentencePiece normalises; None when it cuts something off."""
        plain = text[len(SPACE) :].replace(SPACE, " ").encode()
        pieces = self.vocab.encode(plain, out_type="immutable_proto").pieces
        ends = [piece.end + len(SPACE) for piece in pieces]
        return ends if ends and pieces[0].begin == 0 and ends[-1] == len(text) else None

    def _by_opustrainer(self, tokens: Sequence[str]) -> Sequence[Sequence[int]]:
        """The same of a line whose ends SentencePiece cuts off, or whose tokens have spaces inside."""
        mapping: list[list[int]] = self._retokenizer.retokenize(list(tokens))[2]
        return mapping


def _byte(piece: str) -> int:
    """The value of a byte's piece, such as <0x0A>."""
    return int(piece[3:-1], 16)


def _length(byte: int) -> int:
    """Characters that a byte's piece is: 1, or 0 of those with several bytes, whose last is the character;
    of these the first byte has the negative number of the others.
    """
    if byte < 0x80:
        return 1
    return -((byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0))


def _overlaps(tokens: Sequence[str], ends: Sequence[int]) -> list[range]:
    """As OpusTrainer's Retokenizer: it looks for a token's pieces behind those of the last one."""
    last, first, stop = len(ends) - 1, 0, 1  # the first piece has a space more than the line
    found = []
    for token in tokens:
        begin = stop
        stop += len(token)
        if token == SPACE:
            found.append(NOWHERE)
            continue
        if ends[first] <= begin:
            first = bisect_right(ends, begin, first)
        behind = first
        if first == 0 or ends[first - 1] < stop:
            behind += 1
            if ends[first] != stop:  # it is mostly
                behind = bisect_left(ends, stop, first) + 1
        found.append(range(first, behind))
        first = behind if behind < last else last
    return found


class PieceLinks:
    """Maps links of tokens to links of pieces, for the pair of vocabularies of a Tags."""

    def __init__(self, tags: PlaceholderTagModifier) -> None:
        self._source, self._target = Side(tags.src_retokenizer), Side(tags.trg_retokenizer)
        self.vocabs = [self._source.vocab, self._target.vocab]

    def of(
        self,
        source: Sequence[str],
        target: Sequence[str],
        links: Sequence[Link],
        ids: Sequence[Sequence[int]],
    ) -> str:
        """The links of a pair's pieces, as a column.

        `source` and `target` are tokens, `ids` what SentencePiece cuts the two sides into.
        """
        pieces = self._source.pieces_of(source, ids[0]), self._target.pieces_of(target, ids[1])
        return _linked(links, *pieces)

    def prepared(
        self,
        source: Sequence[str],
        target: Sequence[str],
        links: Sequence[Link],
        ids: Sequence[Sequence[int]],
    ) -> tuple[str, str]:
        """The links of a pair's pieces, and the link that its last two pieces would have, as columns; the
        latter is for `without_ends`, and empty when the pair cannot be shortened so.
        """
        sources, targets = self._source.pieces_of(source, ids[0]), self._target.pieces_of(target, ids[1])
        shortens = self._source.keeps_pieces(source, ids[0], sources) and self._target.keeps_pieces(
            target, ids[1], targets
        )
        last = f"{sources[-1][0]}-{targets[-1][0]}" if shortens else ""
        return _linked(links, sources, targets), last


def without_ends(links: str, last: str) -> str:
    """The links of the pieces of a pair whose sides have lost their last character, `last` being the link
    between the two pieces that these were.
    """
    source, target = last.split("-")
    head, tail = f"{source}-", f"-{target}"
    return " ".join([link for link in links.split() if not (link.startswith(head) or link.endswith(tail))])


def _linked(links: Sequence[Link], sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> str:
    """The links of pieces as text, sorted, each once; made in rows, as a rare word has up to a thousand."""
    rows: dict[int, Sequence[int]] = {}
    for a, b in links:
        if row := targets[b]:
            for i in sources[a]:
                rows[i] = sorted({*rows[i], *row}) if i in rows else row
    texts = []
    numbers, heads = _texts_of_numbers()
    for i in sorted(rows):
        row, head = rows[i], heads[i]
        texts.append(head + (numbers[row[0]] if len(row) == 1 else head.join([numbers[j] for j in row])))
    return "".join(texts)[1:]


def piece_links(source_vocab: Path, target_vocab: Path) -> PieceLinks:
    """The links of pieces of tokenised text, for two vocabularies."""
    vocabs = str(source_vocab), str(target_vocab)
    return PieceLinks(PlaceholderTagModifier(0.0, "icu:src", "icu:trg", *vocabs, augment=1, tag=0))


class _Texts(dict[int, str]):
    """Numbers between two texts, each made once."""

    def __init__(self, before: str, after: str) -> None:
        super().__init__()
        self._before, self._after = before, after

    def __missing__(self, number: int) -> str:
        text = self[number] = f"{self._before}{number}{self._after}"
        return text


@cache
def _texts_of_numbers() -> tuple[_Texts, _Texts]:
    """Numbers, and numbers that begin a link behind another one."""
    return _Texts("", ""), _Texts(" ", "-")


class ParsedLinks(dict[str, Link]):
    """Links by their text `i-j`, each read once; ValueError for what is none."""

    def __missing__(self, text: str) -> Link:
        found = _LINK.fullmatch(text)
        if not found:
            raise ValueError(f"not an alignment like 0-0 1-2: {text[:80]!r}")
        if len(self) > KNOWN:
            self.clear()
        link = self[text] = int(found[1]), int(found[2])
        return link
