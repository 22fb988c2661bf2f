"""Lines of text: of each dataset after every stage, and what each filter dropped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from translations_assets.common.errors import TranslationsError
from translations_assets.diff.sides import Side
from translations_assets.records.manifest import Manifest
from translations_assets.results.files import read_statistics
from translations_assets.results.lines import lines_by_dataset
from translations_assets.results.statistics import LineCounts, Statistics
from translations_assets.running.protocols import Reading

Counts: TypeAlias = "Mapping[str, int]"


@dataclass(frozen=True)
class DatasetChange:
    """A dataset and its lines after each stage that it went through; no lines where one side lacks it."""

    dataset: str
    merged: str
    old: Counts
    new: Counts

    @property
    def kept(self) -> tuple[int | None, int | None]:
        """The lines that the merging stage kept, before and after; None where there is none."""
        return self.old.get(self.merged), self.new.get(self.merged)


@dataclass(frozen=True)
class FilterChange:
    """Lines that the steps of a stage dropped for a reason; `steps` are those in which it differs."""

    stage: str
    filter: str
    old: int
    new: int
    steps: int


@dataclass(frozen=True)
class CountsChange:
    """The lines that a step read and kept; None where it counted none on one side."""

    label: str
    stage: str
    old: LineCounts | None
    new: LineCounts | None


@dataclass(frozen=True)
class LineDifferences:
    """All that differs in counts of lines."""

    datasets: list[DatasetChange]
    filters: list[FilterChange]
    steps: list[CountsChange]


def compare_lines(store: Reading, old: Side, new: Side) -> LineDifferences:
    """Compare what the steps of two sides counted."""
    sides = [_statistics(store, side.results) for side in (old, new)]
    datasets = [_datasets(side, found) for side, found in zip((old, new), sides, strict=True)]
    keys = dict.fromkeys([*datasets[1], *datasets[0]])
    changed = [DatasetChange(*key, datasets[0].get(key, {}), datasets[1].get(key, {})) for key in keys]
    steps = list(_steps(old, new, *sides))
    return LineDifferences(
        datasets=[one for one in changed if dict(one.old) != dict(one.new)],
        filters=list(_filters(steps)),
        steps=steps,
    )


def _statistics(store: Reading, results: Mapping[str, Manifest]) -> dict[str, Statistics]:
    """Label → what the step counted, as far as the store still has it."""
    found = {}
    for label, made in results.items():
        try:
            stats = read_statistics(store, made.outputs, label)
        except TranslationsError:
            continue
        if stats:
            found[label] = stats
    return found


def _datasets(side: Side, statistics: Mapping[str, Statistics]) -> dict[tuple[str, str], Counts]:
    """Dataset and merging stage → lines after each stage; after that alone where today's graph is another."""
    by_label = side.graph.by_label if side.graph else {}
    merging = {label: stats.datasets for label, stats in statistics.items() if stats.datasets}
    if merging.keys() <= by_label.keys():
        known = {by_label[label]: stats for label, stats in statistics.items() if label in by_label}
        with suppress(ValueError):  # of other texts than those which were merged
            return {(found.dataset, found.merged): found.lines for found in lines_by_dataset(known)}
    return {
        (one.dataset, stage): {stage: one.lines.kept}
        for label, merged in merging.items()
        for stage in [side.results[label].stage]
        for one in merged
    }


def _steps(
    old: Side, new: Side, before: Mapping[str, Statistics], after: Mapping[str, Statistics]
) -> Iterator[CountsChange]:
    """The steps whose counts differ."""
    for label in dict.fromkeys([*after, *before]):
        counts = [side[label].lines if label in side else None for side in (before, after)]
        if counts[0] != counts[1]:
            stage = (new.results.get(label) or old.results[label]).stage
            yield CountsChange(label, stage, counts[0], counts[1])


def _filters(steps: list[CountsChange]) -> Iterator[FilterChange]:
    """What the steps of each stage dropped for each reason, where that differs."""
    changes: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for step in steps:
        dropped = [counts.dropped if counts else {} for counts in (step.old, step.new)]
        for reason in dict.fromkeys([*dropped[0], *dropped[1]]):
            before, after = (side.get(reason, 0) for side in dropped)
            if before != after:
                changes.setdefault((step.stage, reason), []).append((before, after))
    for (stage, reason), found in changes.items():
        olds, news = zip(*found, strict=True)
        yield FilterChange(stage, reason, sum(olds), sum(news), len(found))
