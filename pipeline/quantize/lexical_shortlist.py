"""A lexical shortlist (`lex.s2t`) as a decoder uses it: read, checked, and measured."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import mean

from sentencepiece import SentencePieceProcessor

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines

LINE_PIECES = 20  # different source pieces in a line of usual length
DRAWS = 200

Shortlist = dict[int, list[int]]  # source piece → its target pieces, the likeliest first


def always_allowed(target: SentencePieceProcessor, frequent: int) -> int:
    """How many pieces from the start of a target vocabulary a decoder may always write.

    These are the control, symbol and byte pieces, and the `frequent` ones after them.
    Marian's "first 50" would cover only symbols and a few of the 256 byte pieces, so that a character that is
    no piece of its own, such as an emoji, would come out as invalid UTF-8.
    """
    size = int(target.get_piece_size())
    special = max((piece for piece in range(size) if _is_special(target, piece)), default=-1) + 1
    return min(size, special + frequent)


def read_shortlist(
    path: Path, source: SentencePieceProcessor, target: SentencePieceProcessor, best: int
) -> Shortlist:
    """Read lines of `target source probability`, and keep the `best` of each source piece.

    Raises InputError for a piece that its vocabulary lacks, and for probabilities of a source piece that add
    up to more than 1: the columns are swapped. Marian would take both without a word.
    """
    entries: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for number, line in enumerate(read_lines(path), start=1):
        where = f"{path}, line {number}"
        first, second, probability = _fields(line, where)
        entry = -probability, _piece_id(target, first, f"{where}: the target vocabulary")
        entries[_piece_id(source, second, f"{where}: the source vocabulary")].append(entry)
    if not entries:
        raise InputError(f"{path} is empty. Make the shortlist from a corpus with text in it.")
    for piece, found in entries.items():
        total = -sum(entry[0] for entry in found)
        if total > 1.001:  # eight decimals for at most some hundred entries
            raise InputError(
                f"{path}: the probabilities of {source.id_to_piece(piece)!r} add up to {total:.3f}. "
                "Lines must be `target source p(target | source)`."
            )
    return {piece: [target_id for _, target_id in sorted(found)[:best]] for piece, found in entries.items()}


def vocabulary_share(shortlist: Shortlist, first: int, vocabulary: int) -> float:
    """Mean share of the target vocabulary that a line of 20 different source pieces may use, by lot."""
    chance = Random(1)
    pieces = sorted(shortlist)
    lines = [chance.sample(pieces, min(LINE_PIECES, len(pieces))) for _ in range(DRAWS)]
    return mean(_allowed(shortlist, line, first) / vocabulary for line in lines)


def _allowed(shortlist: Shortlist, line: Sequence[int], first: int) -> int:
    return first + len({target for piece in line for target in shortlist[piece] if target >= first})


def _is_special(vocabulary: SentencePieceProcessor, piece: int) -> bool:
    # User-defined symbols have no test of their own in SentencePiece's Python: their score is 0, as that of
    # byte and control pieces. Pieces that were learned have a logarithm of a probability, below 0.
    return bool(
        vocabulary.is_control(piece)
        or vocabulary.is_unknown(piece)
        or vocabulary.is_byte(piece)
        or vocabulary.get_score(piece) == 0
    )


def _fields(line: str, where: str) -> tuple[str, str, float]:
    try:
        first, second, probability = line.split(" ")
        return first, second, float(probability)
    except ValueError as error:
        raise InputError(f"{where}: {line[:80]!r} is not `target source probability`.") from error


def _piece_id(vocabulary: SentencePieceProcessor, piece: str, where: str) -> int:
    found = int(vocabulary.piece_to_id(piece))
    if vocabulary.id_to_piece(found) != piece:
        raise InputError(f"{where} has no piece {piece!r}. Give the shortlist that was made for this model.")
    return found
