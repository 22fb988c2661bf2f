"""Statistics of steps, of the text that they read: `stats.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Self, TypeAlias

from translations_assets.records.checked import Number, Record, mapping


def _sides(value: object) -> tuple[str, ...]:
    """A line, or its source and target."""
    return tuple(map(str, value)) if isinstance(value, list) else (str(value),)


Sample: TypeAlias = Annotated[tuple[str, ...], _sides]


@dataclass(frozen=True)
class LineCounts(Record):
    """Lines that a step read and kept, and those that it dropped, by reason."""

    read: int
    kept: int
    dropped: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, value: object) -> Self:
        """The counts from what a script wrote, where `read` is called `in`. Raises ValueError."""
        known = mapping(value)
        return super().from_dict({**known, **({"read": known["in"]} if "in" in known else {})})


@dataclass(frozen=True)
class DatasetCounts(Record):
    """The lines of a dataset among those that a step merged."""

    dataset: str
    lines: LineCounts

    @classmethod
    def from_dict(cls, value: object) -> Self:
        """The counts from what a script wrote, where they stand beside the name. Raises ValueError."""
        return super().from_dict({**mapping(value), "lines": value})


@dataclass(frozen=True)
class FetchedFile(Record):
    """A file that an importer fetched, and its size."""

    url: str
    bytes: int


@dataclass(frozen=True)
class IdentifiedSide(Record):
    """Languages of a side of a dataset, of its lines in the script of its language.

    other    lines that were dropped as another language
    guesses  the likeliest ones → lines
    shares   before anything was dropped: other languages → share of the longer lines; None where not known
    """

    lang: str
    script: str
    lines: int
    other: int
    guesses: Mapping[str, int]
    samples: tuple[str, ...]
    shares: Mapping[str, Number] | None = None


@dataclass(frozen=True)
class LengthRatios(Record):
    """Ratios of the letters of target and source: quartiles, and of how many pairs."""

    pairs: int
    quartiles: tuple[Number, ...]


@dataclass(frozen=True)
class SidesAgreement(Record):
    """Agreement of the sides of a dataset, by places: `pipeline.clean.tally` has the fields."""

    windows: int
    apart: Mapping[str, int]
    places: tuple[int, ...]
    sentences: int
    copied: int
    partly: int
    samples: tuple[str, ...]
    lengths: LengthRatios


@dataclass(frozen=True)
class Statistics(Record):
    """Counts of a step; every field is that of some steps only.

    samples  lines, each as its sides
    source   what was fetched; None of steps that fetch nothing
    licence  as the provider states it; None of steps that import no dataset
    """

    lines: LineCounts | None = None
    datasets: tuple[DatasetCounts, ...] = ()
    samples: tuple[Sample, ...] = ()
    source: tuple[FetchedFile, ...] | None = None
    licence: str | None = None
    revision: str = ""
    synthetic: bool = False
    identified: tuple[IdentifiedSide, ...] = ()
    agreement: SidesAgreement | None = None
