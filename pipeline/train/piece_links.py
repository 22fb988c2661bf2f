"""The links of SentencePiece pieces, from links of ICU tokens: what guided alignment learns from.

OpusTrainer's Tags says which they are: a token is linked as the pieces are that overlap it, and of a piece
that reaches over several tokens the first one counts (but at the end of a sentence, where all do). A side as
most are is mapped here, from the pieces' lengths, ten times as fast; one that SentencePiece normalises from
their offsets, twice as fast; one whose ends it cuts off is left to the functions of Tags.
"""

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
MANY = 1 << 20  # more pieces than a sentence has

Link: TypeAlias = tuple[int, int]


class Side:
    """One side of pairs: its tokens, and the vocabulary by which it is cut."""

    def __init__(self, retokenizer: Retokenizer, step: int) -> None:
        self._retokenizer = retokenizer
        self.vocab: SentencePieceProcessor = retokenizer.tokenizer.spm
        self._pieces: list[str] = self.vocab.id_to_piece(list(range(self.vocab.get_piece_size())))
        self._step = step

    def pieces_of(self, tokens: Sequence[str], ids: Sequence[int]) -> Sequence[Sequence[int]]:
        """The pieces of each token, by their numbers times `step`, of a line that is cut into `ids`."""
        text = SPACE + "".join(tokens)
        if tokens.count(SPACE) + 1 == text.count(SPACE):
            ends = _ends([self._pieces[number] for number in ids], text) or self._ends_by_offsets(text)
            if ends:
                return _overlaps(tokens, ends, self._step)
        return self._by_opustrainer(tokens)

    def _ends_by_offsets(self, text: str) -> list[int] | None:
        """Where pieces end in a text that SentencePiece normalises; None when it cuts something off."""
        plain = text[len(SPACE) :].replace(SPACE, " ").encode()
        pieces = self.vocab.encode(plain, out_type="immutable_proto").pieces
        ends = [piece.end + len(SPACE) for piece in pieces]
        return ends if ends and pieces[0].begin == 0 and ends[-1] == len(text) else None

    def _by_opustrainer(self, tokens: Sequence[str]) -> Sequence[Sequence[int]]:
        """The same of a line whose ends SentencePiece cuts off, or whose tokens have spaces inside."""
        mapping = self._retokenizer.retokenize(list(tokens))[2]
        return [[piece * self._step for piece in pieces] for pieces in mapping]


def _ends(pieces: Sequence[str], text: str) -> list[int] | None:
    """Where in a text each of its pieces ends; None when the pieces are not the text's own characters.

    Of a character that is spelled in bytes, the last byte's piece is the character.
    """
    if "".join(pieces) == text:
        return list(accumulate(map(len, pieces)))
    ends: list[int] = []
    place = 0
    while len(ends) < len(pieces):
        piece = pieces[len(ends)]
        if text.startswith(piece, place):
            place += len(piece)
            ends.append(place)
            continue
        spelling = _spelling(text[place : place + 1])
        if not spelling or list(pieces[len(ends) : len(ends) + len(spelling)]) != spelling:
            return None
        ends += [place] * (len(spelling) - 1)
        place += 1
        ends.append(place)
    return ends if place == len(text) else None


@cache
def _spelling(character: str) -> list[str]:
    return [f"<0x{byte:02X}>" for byte in character.encode()]


def _overlaps(tokens: Sequence[str], ends: Sequence[int], step: int) -> list[range]:
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
        if ends[first] == stop:  # mostly
            behind += 1
        elif first == 0 or ends[first - 1] < stop:
            behind = bisect_left(ends, stop, first) + 1
        found.append(range(first * step, behind * step, step))
        first = behind if behind < last else last
    return found


class PieceLinks:
    """Maps links of tokens to links of pieces, for the pair of vocabularies of a Tags."""

    def __init__(self, tags: PlaceholderTagModifier) -> None:
        self._source, self._target = Side(tags.src_retokenizer, MANY), Side(tags.trg_retokenizer, 1)
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
        sources, targets = self._source.pieces_of(source, ids[0]), self._target.pieces_of(target, ids[1])
        found = {i + j for a, b in links for i in sources[a] for j in targets[b]}
        return " ".join([_TEXTS[link] for link in sorted(found)])


def piece_links(source_vocab: Path, target_vocab: Path) -> PieceLinks:
    """The links of pieces of tokenised text, for two vocabularies."""
    vocabs = str(source_vocab), str(target_vocab)
    return PieceLinks(PlaceholderTagModifier(0.0, "icu:src", "icu:trg", *vocabs, augment=1, tag=0))


class _Texts(dict[int, str]):
    """Links as text, each made once: of sentences of n pieces there are n² at most."""

    def __missing__(self, link: int) -> str:
        text = self[link] = f"{link // MANY}-{link % MANY}"
        return text


_TEXTS = _Texts()
