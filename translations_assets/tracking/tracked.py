"""Tracked runs of a partition: one for each training, and one for its scores and its hours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from translations_assets.records.canonical import json_digest
from translations_assets.report.facts import Report
from translations_assets.report.machines import hours, machine_use
from translations_assets.results.evaluations import Evaluations
from translations_assets.results.training import CurvePoint, Training

SCORES = "scores"  # the run that is no training's


@dataclass(frozen=True)
class TrackedRun:
    """A run in a tool that tracks experiments.

    name     the training's label, or `scores`
    config   what it was made from
    curve    update → numbers, by ascending updates, as Marian logged them
    numbers  what is told once
    ended    when the newest of its results was made, seconds since 1970
    """

    name: str
    config: Mapping[str, Any]
    curve: Sequence[tuple[int, Mapping[str, float]]]
    numbers: Mapping[str, float]
    ended: float

    @property
    def identity(self) -> str:
        """Tells it from runs that tell anything else; the same whenever it is made of the same results."""
        return json_digest([self.name, self.config, self.curve, self.numbers])[:20]


def tracked_runs(report: Report) -> list[TrackedRun]:
    """Make the tracked runs of a report."""
    return [*(_training(report, *found) for found in report.trainings.items()), _scores(report)]


def _training(report: Report, label: str, training: Training) -> TrackedRun:
    manifest = report.results[label].manifest
    best = {f"best/{metric}": found.score for metric, found in training.best.items()}
    return TrackedRun(
        name=label,
        config={"arguments": dict(manifest.provenance.parts.args), **_made_by(report, label)},
        curve=curve_of(training.curve),
        numbers={**best, "updates": training.updates, **_machine(machine_use([manifest.usage]))},
        ended=manifest.ended,
    )


def _made_by(report: Report, label: str) -> dict[str, Any]:
    """Return the location of a result in the store, and its origin."""
    made = report.results[label].manifest
    return {
        "partition": report.session.partition,
        "key": made.key,
        "generation": made.generation,
        "revision": made.provenance.revision,
    }


def curve_of(points: Sequence[CurvePoint]) -> list[tuple[int, Mapping[str, float]]]:
    """A training's numbers by update, named by what they were computed on: `train/cost`, `valid/chrf`."""
    found: dict[int, dict[str, float]] = {}
    for point in points:
        numbers = {f"{point.kind}/{name}": value for name, value in point.numbers.items()}
        found.setdefault(point.update, {}).update(numbers)
    return sorted(found.items())


def _scores(report: Report) -> TrackedRun:
    used = machine_use([known.manifest.usage for known in report.results.values()])
    return TrackedRun(
        name=SCORES,
        config={
            "partition": report.session.partition,
            **report.session.config.model_dump(mode="json", by_alias=True),
        },
        curve=[],
        numbers={
            **dict(_by_model(report.evaluations)),
            **_machine({**used, **hours(report.classes)}),
        },
        ended=report.ended,
    )


def _by_model(evaluations: Evaluations) -> Iterator[tuple[str, float]]:
    """`exported/flores_devtest/chrf` and its score; intervals, sizes and speeds stand beside it."""
    for model, tests in evaluations.items():
        for dataset, found in tests.items():
            for metric, score in found.by_metric.items():
                yield f"{model}/{dataset}/{metric}", score.score
                if score.ci is not None:
                    yield f"{model}/{dataset}/{metric}_interval", score.ci
            for name, value in found.speed.to_dict().items() if found.speed else ():
                yield f"{model}/{dataset}/{name}", value


def _machine(used: Mapping[str, float]) -> dict[str, float]:
    return {f"machine/{name}": value for name, value in used.items()}
