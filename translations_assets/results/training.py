"""Trainings, as `pipeline.train.train` tells of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from translations_assets.records.checked import Number, Record, mapping

_PLACE = ("kind", "update")  # of a point; the rest are its numbers


@dataclass(frozen=True)
class CurvePoint(Record):
    """Numbers that Marian logged at an update: of training (kind `train`), or of a validation (`valid`)."""

    kind: str
    update: int
    numbers: Mapping[str, Number]

    @classmethod
    def from_dict(cls, value: object) -> Self:
        """A point, without what Marian did not log, from what the script wrote. Raises ValueError."""
        known = mapping(value)
        numbers = {name: one for name, one in known.items() if name not in _PLACE and one is not None}
        return super().from_dict({**known, "numbers": numbers})


@dataclass(frozen=True)
class BestScore(Record):
    """The best score of all validations, and its update."""

    score: Number
    update: int


@dataclass(frozen=True)
class Training(Record):
    """A training: updates, best scores by metric, and its curve.

    texts            what it read: name of the text → pairs of lines
    out_of_memory_at the update from which it went on with smaller micro-batches; None for most
    """

    updates: int
    best: Mapping[str, BestScore]
    curve: tuple[CurvePoint, ...]
    texts: Mapping[str, int]
    out_of_memory_at: int | None = None

    @classmethod
    def from_dict(cls, value: object) -> Self:
        """A training from what the script wrote; ValueError for anything else."""
        known = mapping(value)
        pairs, derived = (mapping(known.get(name, {})) for name in ("pairs", "derived"))
        told = {"texts": {text: mapping(counts).get("kept") for text, counts in pairs.items()}}
        if "out-of-memory-at" in derived:
            told["out_of_memory_at"] = derived["out-of-memory-at"]
        return super().from_dict({**known, **told})
