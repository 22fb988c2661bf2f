"""What is known of training pairs: what they hold, and for which vocabularies and length they are."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.common.errors import InputError

STATS = "stats.json"  # in the folder of the pairs
PLAIN, ALIGNED, LINKED = 2, 3, 5  # columns: source and target; links of tokens; links and ends of pieces


@dataclass(frozen=True)
class PairFacts:
    """What stats.json holds of pairs.

    lines       what was read, kept and dropped
    columns     of a line: PLAIN, ALIGNED or LINKED
    max_length  pieces that a side has at most, the end of sentence included
    vocabs      SHA-256 (hex) of the vocabularies by which it was counted, source first
    """

    lines: Mapping[str, object]
    columns: int
    max_length: int
    vocabs: Sequence[str]

    def to_dict(self) -> dict[str, object]:
        """As the file holds them."""
        return {
            "lines": self.lines,
            "columns": self.columns,
            "max-length": self.max_length,
            "vocabularies": list(self.vocabs),
        }

    def length_for(self, marian_args: Mapping[str, object]) -> int:
        """The max-length of a training: that of its pairs. InputError when marian-args ask for another."""
        asked = marian_args.get("max-length", self.max_length)
        if str(asked) != str(self.max_length):
            raise InputError(
                f"marian-args ask for max-length {asked}, and the pairs were made with --max-length "
                f"{self.max_length}. Make them again with --max-length {asked}, or leave it out."
            )
        return self.max_length


def read_facts(folder: Path) -> PairFacts:
    """What is known of the pairs in a folder; raises InputError when it holds none."""
    try:
        facts = json.loads((folder / STATS).read_text(encoding="utf-8"))
        return PairFacts(facts["lines"], facts["columns"], facts["max-length"], facts["vocabularies"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{folder} holds no training pairs ({error}). Make them by pipeline.train.training_pairs."
        ) from error


def common_facts(folders: Sequence[Path], vocabs: Sequence[Path]) -> PairFacts:
    """What holds for all pairs of a training; InputError when they, or the vocabularies, do not agree."""
    found = [read_facts(folder) for folder in folders]
    first = found[0]
    for folder, facts in zip(folders, found, strict=True):
        if list(facts.vocabs) != digests(vocabs):
            raise InputError(
                f"The pairs in {folder} were made for other vocabularies than {vocabs[0]} and {vocabs[1]}. "
                "Make them again for those."
            )
        if (facts.columns, facts.max_length) != (first.columns, first.max_length):
            raise InputError(
                f"The pairs in {folders[0]} have {first.columns} columns and at most {first.max_length} "
                f"pieces a side, those in {folder} {facts.columns} and {facts.max_length}. Make both with "
                "the same options."
            )
    return first


def digests(vocabs: Sequence[Path]) -> list[str]:
    """SHA-256 (hex) of vocabularies."""
    return [hashlib.sha256(vocab.read_bytes()).hexdigest() for vocab in vocabs]
