"""The verdict of a gate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from translations_assets.results.files import Numbers

Told = TypeVar("Told")  # what a step tells: its statistics, training, scores, comparison or numbers
# Stage → step label → what the step tells
Documents: TypeAlias = Mapping[str, Mapping[str, Told]]


class NotComputed(Exception):
    """The numbers that a gate needs are not there."""


class NothingToJudge(Exception):
    """The training config has none of what a gate judges; the message says of what."""


@dataclass(frozen=True)
class Verdict:
    """Pass or fail, with reasons; the numbers that decided, by name; lines as examples."""

    passed: bool
    description: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    samples: Sequence[str] = ()


def each(documents: Documents[Told]) -> Iterator[tuple[str, Told]]:
    """Yield the label of each step, and what it tells."""
    return (step for steps in documents.values() for step in steps.items())


def only(documents: Documents[Told], absent: str) -> Told:
    """Return what the only step tells; raises NothingToJudge when there is no such step."""
    found = next((found for _, found in each(documents)), None)
    if found is None:
        raise NothingToJudge(absent)
    return found


def telling(documents: Documents[Numbers], name: str, absent: str) -> Numbers:
    """Return the numbers of the only step that tells one of that name; raises NothingToJudge without such."""
    return only({"": {label: told for label, told in each(documents) if name in told}}, absent)


def percent(share: float) -> str:
    """A share for people: 0.0123 → 1.23 %."""
    return f"{100 * share:.3g} %"
