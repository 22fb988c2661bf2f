"""The links of SentencePiece pieces, from links of ICU tokens: what guided alignment learns from.

OpusTrainer's Tags says which they are: a token is linked as the pieces are that overlap it, and of a piece
that reaches over several tokens the first one counts (but at the end of a sentence, where all do). A line as
most are is mapped here, from the pieces' lengths, ten times as fast; one that SentencePiece normalises, or
spells in bytes, is left to Tags itself.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import TypeAlias

from opustrainer.modifiers.placeholders import PlaceholderTagModifier
from sentencepiece import SentencePieceProcessor

SPACE = "▁"  # stands for a space in tokenised text, where single spaces part the tokens
NOWHERE = range(0)
MANY = 1 << 20  # more pieces than a sentence has

Link: TypeAlias = tuple[int, int]


class Side:
    """A vocabulary, as one side of pairs is cut by it."""

    def __init__(self, vocab: SentencePieceProcessor, step: int) -> None:
        self._pieces: list[str] = vocab.id_to_piece(list(range(vocab.get_piece_size())))
        self._step = step

    def pieces_of(self, tokens: str, ids: Sequence[int]) -> list[range] | None:
        """The pieces of each token, by their numbers times `step`, of a line that is cut into `ids`.

        None when the pieces are not the line's own characters, or spaces are parts of tokens.
        """
        pieces = [self._pieces[number] for number in ids]
        words = tokens.split(" ")
        if "".join(pieces) != SPACE + "".join(words) or words.count(SPACE) != tokens.count(SPACE):
            return None
        return _overlaps(words, pieces, self._step)


def _overlaps(tokens: Sequence[str], pieces: Sequence[str], step: int) -> list[range]:
    """As OpusTrainer's Retokenizer: it looks for a token's pieces behind those of the last one."""
    ends = list(accumulate(map(len, pieces)))
    last, first, stop = len(pieces) - 1, 0, 1  # the first piece has a space more than the line
    found = []
    for token in tokens:
        begin = stop
        stop += len(token)
        if token == SPACE:
            found.append(NOWHERE)
            continue
        if ends[first] <= begin:
            first = bisect_right(ends, begin, first)
        behind = bisect_left(ends, stop, first) + 1 if first == 0 or ends[first - 1] < stop else first
        found.append(range(first * step, behind * step, step))
        first = min(behind, last)
    return found


class PieceLinks:
    """Maps links of tokens to links of pieces, for one pair of vocabularies."""

    def __init__(self, source_vocab: Path, target_vocab: Path) -> None:
        self._tags = PlaceholderTagModifier(
            0.0, "icu:src", "icu:trg", str(source_vocab), str(target_vocab), augment=1, tag=0
        )
        self._source = Side(self._tags.src_retokenizer.tokenizer.spm, MANY)
        self._target = Side(self._tags.trg_retokenizer.tokenizer.spm, 1)

    def of(self, source: str, target: str, links: Sequence[Link], ids: Sequence[Sequence[int]]) -> str:
        """The links of a pair's pieces, as a column.

        `source` and `target` are tokens, `ids` what SentencePiece cuts the two sides into.
        """
        sources, targets = self._source.pieces_of(source, ids[0]), self._target.pieces_of(target, ids[1])
        if sources is None or targets is None:
            column = " ".join([f"{i}-{j}" for i, j in links])
            return str(self._tags.apply(f"{source}\t{target}\t{column}")).rpartition("\t")[2]
        found = {i + j for a, b in links for i in sources[a] for j in targets[b]}
        return " ".join([_TEXTS[link] for link in sorted(found)])


class _Texts(dict[int, str]):
    """Links as text, each made once: of sentences of n pieces there are n² at most."""

    def __missing__(self, link: int) -> str:
        text = self[link] = f"{link // MANY}-{link % MANY}"
        return text


_TEXTS = _Texts()
