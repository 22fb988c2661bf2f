"""What steps will take, by what earlier artifacts took: for plans, and for the time that a run has left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from translations_assets.graph.step import Step
from translations_assets.records.manifest import Manifest
from translations_assets.running.plan import Plan
from translations_assets.why.history import History

SAMPLE = 5  # artifacts of the same stage and script that a mean is taken of
LOOKED_AT = 100  # artifacts of the stage among which they are looked for


@dataclass(frozen=True)
class Cost:
    """Wall-clock seconds; of a step on GPUs those times the GPUs, of another its processor seconds."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    gpu_seconds: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.seconds + other.seconds,
            self.cpu_seconds + other.cpu_seconds,
            self.gpu_seconds + other.gpu_seconds,
        )


class Durations:
    """Estimates what steps cost from a history; remembers the means."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._means: dict[tuple[str, str], Cost | None] = {}

    def estimate(self, step: Step) -> Cost | None:
        """What the step's newest artifact took, else the mean of its stage's newest with its script."""
        for manifest in self._history.earlier(step, "", 1):
            return _cost_of(manifest)
        kind = step.stage, step.script
        if kind not in self._means:
            self._means[kind] = self._mean(*kind)
        return self._means[kind]

    def _mean(self, stage: str, script: str) -> Cost | None:
        newest = islice(self._history.of_stage(stage), LOOKED_AT)
        same = [manifest for manifest in newest if manifest.provenance.parts.script == script]
        costs = [_cost_of(manifest) for manifest in same[:SAMPLE]]
        if not costs:
            return None
        total = sum(costs, Cost())
        return Cost(*(value / len(costs) for value in (total.seconds, total.cpu_seconds, total.gpu_seconds)))


def past_seconds(history: History, steps: Iterable[Step]) -> Mapping[str, float]:
    """Label → wall-clock seconds that the step takes by past durations; without those that have none."""
    durations = Durations(history)
    costs = {step.label: durations.estimate(step) for step in steps}
    return {label: cost.seconds for label, cost in costs.items() if cost}


def summary(plan: Plan, estimate: Callable[[Step], Cost | None]) -> str:
    """One line that a person can decide from: the plan's, and what the steps cost that will or may run."""
    will, may = (
        [estimate(planned.step) for planned in plan.steps if planned.status == status]
        for status in ("run", "maybe")
    )
    return "; ".join(filter(None, [plan.summary(), outlook(will, may)]))


def outlook(will: Sequence[Cost | None], may: Sequence[Cost | None]) -> str:
    """What steps cost that will run, and at most with those that may; None is a step without an estimate.

    `about 7 h of GPU, 2 h of CPU, at most 9 h of GPU, 3 h of CPU, from past durations; 2 steps without a past
    duration`; empty when there are no steps.
    """
    unknown = [*will, *may].count(None)
    least = sum(filter(None, will), Cost())
    most = sum(filter(None, may), least)
    parts = []
    if any([*will, *may]):
        about = [f"about {_hours(least)}"] if any(will) else []
        at_most = [f"at most {_hours(most)}"] if most != least else []
        parts.append(", ".join([*about, *at_most, "from past durations"]))
    if unknown:
        parts.append(f"{unknown} step{'s' * (unknown != 1)} without a past duration")
    return "; ".join(parts)


def _hours(cost: Cost) -> str:
    kinds = {"GPU": cost.gpu_seconds, "CPU": cost.cpu_seconds}
    return ", ".join(f"{duration(seconds)} of {kind}" for kind, seconds in kinds.items() if seconds) or "0 s"


def duration(seconds: float) -> str:
    """Seconds for people, two digits at least: `40 s`, `12 min`, `7.5 h`, `412 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    hours = seconds / 3600
    return f"{hours:.1f} h" if hours < 10 else f"{hours:.0f} h"


def _cost_of(manifest: Manifest) -> Cost:
    worker, usage = manifest.provenance.worker, manifest.usage
    gpus = worker.gpus if worker else 0
    return Cost(usage.seconds, 0.0 if gpus else usage.cpu_seconds, usage.seconds * gpus)
