"""Parallel text as the tab-separated files that OpusTrainer and Marian read.

A line is source, target and, where there is one, the alignment: pairs `i-j` of token numbers from 0.
"""

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sentencepiece import SentencePieceProcessor

from pipeline.common.errors import InputError
from pipeline.common.lines import LineWriter, zip_lines

SPACE = "▁"  # stands for a space in tokenised text, where single spaces part the tokens
END = 1  # Marian counts the end of a sentence as a piece
CHARACTERS_PER_PIECE = 64  # a line with more is too long without looking closer; see pipeline.common.marian

_ALIGNMENT = re.compile(r"\d+-\d+(?: \d+-\d+)*")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ParallelText:
    """A corpus in files: two sides, and alignments when the text is aligned."""

    source: Path
    target: Path
    alignments: Path | None = None

    @property
    def files(self) -> list[Path]:
        """The files, in the order of the columns."""
        return [self.source, self.target, *([self.alignments] if self.alignments else [])]


@dataclass
class Lengths:
    """Which pairs are short enough: at most `limit` pieces on each side, the end of sentence included."""

    source_vocab: Path
    target_vocab: Path
    limit: int
    tokenized: bool

    def __post_init__(self) -> None:
        self._sides = [
            SentencePieceProcessor(model_file=str(vocab)) for vocab in (self.source_vocab, self.target_vocab)
        ]

    def fit(self, source: str, target: str) -> bool:
        """Whether both sides are short enough; a cropped one would no longer match its alignment."""
        return all(self._fits(*side) for side in zip(self._sides, (source, target), strict=True))

    def _fits(self, vocab: SentencePieceProcessor, text: str) -> bool:
        plain = text.replace(" ", "").replace(SPACE, " ") if self.tokenized else text
        if len(plain.encode()) + 1 + END <= self.limit:  # a byte is a piece at worst, and a space goes before
            return True
        if len(plain) > CHARACTERS_PER_PIECE * self.limit:
            return False
        return len(vocab.encode(plain)) + END <= self.limit


@dataclass
class Tally:
    """What became of the pairs of a corpus."""

    seen: int = 0
    kept: int = 0
    dropped: dict[str, int] = field(default_factory=dict)

    def drop(self, reason: str) -> None:
        """Count a pair that is left out."""
        self.dropped[reason] = self.dropped.get(reason, 0) + 1

    def to_dict(self) -> dict[str, object]:
        """For metrics.json; in == kept + the sum of dropped."""
        return {"in": self.seen, "kept": self.kept, "dropped": self.dropped}


def write_training_pairs(name: str, text: ParallelText, output: Path, lengths: Lengths) -> Tally:
    """Write a training corpus as a TSV file.

    Pairs with an empty side, without an alignment (in aligned text), or too long are left out and counted.
    Raises InputError when the files differ in length, an alignment is malformed or points outside its
    sentence, or no pair is left.
    """
    tally = Tally()
    with LineWriter(output) as writer:
        for columns in _columns(text):
            tally.seen += 1
            reason = _why_not(columns, lengths)
            if reason:
                tally.drop(reason)
                continue
            if text.alignments:
                _check_alignment(columns, text.alignments, tally.seen)
            writer.write("\t".join(columns))
    tally.kept = writer.lines
    log.info("%s: %s", name, tally.to_dict())
    if not tally.kept:
        raise InputError(f"No pair of {text.source} and {text.target} can be trained on: {tally.to_dict()}")
    return tally


def write_dev_pairs(source: Path, target: Path, output: Path) -> Tally:
    """Write the development set as a TSV file with two fields; pairs with an empty side are left out."""
    tally = Tally()
    with LineWriter(output) as writer:
        for columns in _columns(ParallelText(source, target)):
            tally.seen += 1
            if all(columns):
                writer.write("\t".join(columns))
            else:
                tally.drop("empty")
    tally.kept = writer.lines
    log.info("dev: %s", tally.to_dict())
    if not tally.kept:
        raise InputError(
            f"The development set {source}, {target} has no pair; training needs one to validate"
        )
    return tally


def _columns(text: ParallelText) -> Iterator[list[str]]:
    """The lines with single spaces: a tab ends a column, and Marian trips over a space before it."""
    for lines in zip_lines(*text.files):
        yield [" ".join(line.split()) for line in lines]


def _why_not(columns: list[str], lengths: Lengths) -> str | None:
    source, target, *alignment = columns
    if not source or not target:
        return "empty"
    if alignment == [""]:
        return "no alignment"
    return None if lengths.fit(source, target) else "too long"


def _check_alignment(columns: list[str], file: Path, number: int) -> None:
    source, target, alignment = columns
    if not _ALIGNMENT.fullmatch(alignment):
        raise InputError(f"{file}, line {number}: not an alignment like 0-0 1-2: {alignment[:80]!r}")
    tokens = len(source.split()), len(target.split())
    for pair in alignment.split():
        i, j = map(int, pair.split("-"))
        if i >= tokens[0] or j >= tokens[1]:
            raise InputError(
                f"{file}, line {number}: {pair} points outside a pair of {tokens[0]} and {tokens[1]} tokens. "
                "Were the alignments made for this text?"
            )
