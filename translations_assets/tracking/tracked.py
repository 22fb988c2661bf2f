"""Tracked runs of a partition: one for each training, and one for its scores and its hours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from translations_assets.records.canonical import json_digest
from translations_assets.records.scores import METRICS
from translations_assets.report.evaluations import Evaluations
from translations_assets.report.facts import Report, Training
from translations_assets.report.machines import hours, machine_use

SCORES = "scores"  # the run that is no training's
_PLACE = ("kind", "update")  # of a point of a curve; the rest are its numbers


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
    return [*(_training(report, training) for training in report.trainings), _scores(report)]


def _training(report: Report, training: Training) -> TrackedRun:
    manifest = report.results[training.label].manifest
    best = {f"best/{metric}": found["score"] for metric, found in training.best.items()}
    return TrackedRun(
        name=training.label,
        config={"arguments": dict(manifest.provenance.parts.args), **_made_by(report, training.label)},
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


def curve_of(points: Sequence[Mapping[str, Any]]) -> list[tuple[int, Mapping[str, float]]]:
    """A training's numbers by update, named by what they were computed on: `train/cost`, `valid/chrf`."""
    found: dict[int, dict[str, float]] = {}
    for point in points:
        numbers = found.setdefault(point["update"], {})
        for name, value in point.items():
            if name not in _PLACE and value is not None:
                numbers[f"{point['kind']}/{name}"] = value
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
            for metric in METRICS:
                if score := found.get(metric):
                    yield f"{model}/{dataset}/{metric}", score["score"]
                    if "ci" in score:
                        yield f"{model}/{dataset}/{metric}_interval", score["ci"]
            for name, value in found.get("speed", {}).items():
                yield f"{model}/{dataset}/{name}", value


def _machine(used: Mapping[str, float]) -> dict[str, float]:
    return {f"machine/{name}": value for name, value in used.items()}
