"""What becomes of HTML in translation, as `pipeline.checks.markup` writes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from translations_assets.records.checked import Number, Record, mapping


@dataclass(frozen=True)
class TagScore(Record):
    """Scores of documents.

    kept_share   of the documents, those whose tags are all there, each as often as before
    countable    tags round words whose translation is known, and is there
    right_share  of these tags, those that stand round it
    """

    documents: int
    kept_share: Number
    countable: int
    right_share: Number


@dataclass(frozen=True)
class MarkupScores(Record):
    """Scores of HTML through an engine: of each kind of HTML, and of all together."""

    engine: str
    kinds: Mapping[str, TagScore]
    overall: TagScore

    @classmethod
    def from_dict(cls, value: object) -> Self:
        """Scores from what the script wrote; ValueError for anything else."""
        known = mapping(value)
        return super().from_dict({**known, "overall": known.get("all")})

    def __str__(self) -> str:
        """The scores in a sentence."""
        every = self.overall
        return (
            f"{100 * every.kept_share:.1f} % of {every.documents:,} documents keep their tags, "
            f"{100 * every.right_share:.1f} % of {every.countable:,} tags stand round the right words "
            f"({self.engine})"
        )
