"""The cost of a plan: its steps' forecasts by worker class, with money and energy, in lines for people."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from translations_assets.graph.identity import Identities
from translations_assets.graph.step import Step
from translations_assets.records.cost import HOUR, Cost, amount, duration
from translations_assets.running.plan import Plan
from translations_assets.running.prices import class_of
from translations_assets.running.resolve import StepState

if TYPE_CHECKING:
    from translations_assets.config.deployment import ClusterSection
    from translations_assets.why.estimates import Forecast


@dataclass(frozen=True)
class PlanForecast:
    """The forecasts of the steps of a plan that will or may run.

    forecasts   None for a step without anything like it, and of which too little is known for an estimate
    currency    of money; empty when no prices are known
    cluster  the cluster that the steps run on; None on one's own machine
    """

    plan: Plan
    forecasts: Mapping[Step, Forecast | None] = field(default_factory=dict)
    currency: str = ""
    cluster: ClusterSection | None = None

    @property
    def known(self) -> dict[Step, Forecast]:
        """The forecasts of the steps that something is known of."""
        return {step: forecast for step, forecast in self.forecasts.items() if forecast}

    @property
    def unknown(self) -> int:
        """The number of the other steps."""
        return len(self.forecasts) - len(self.known)

    @property
    def expected(self) -> dict[str, Cost]:
        """Label → what a step takes that something is known of."""
        return {step.label: forecast.cost for step, forecast in self.known.items()}

    @property
    def at_least(self) -> Cost:
        """The cost of the steps that will run."""
        runs = {planned.step for planned in self.plan.steps if planned.status == "run"}
        return sum((forecast.cost for step, forecast in self.known.items() if step in runs), Cost())

    @property
    def at_most(self) -> Cost:
        """The cost with those that may run."""
        return sum((forecast.cost for forecast in self.known.values()), Cost())

    def by_class(self) -> dict[str, PlanForecast]:
        """Worker class → the forecast of the steps that run on it, dear ones first."""
        classes: dict[str, list[StepState]] = {}
        for planned in self.plan.steps:
            if planned.step in self.forecasts:
                classes.setdefault(class_of(planned.step, self.cluster), []).append(planned)
        found = {
            worker: replace(
                self, plan=Plan(tuple(steps)), forecasts={one.step: self.forecasts[one.step] for one in steps}
            )
            for worker, steps in classes.items()
        }
        most = {worker: one.at_most for worker, one in found.items()}
        dear_first = sorted(found, key=lambda worker: (-most[worker].gpu_seconds, -most[worker].seconds))
        return {worker: found[worker] for worker in dear_first}

    def summary(self) -> str:
        """One line that a person can decide from: the plan's, and what its steps cost.

        `4 steps: 2 run, 2 maybe; about 9.0 h (7.0 h of GPU, 2.0 h of CPU), at most 10 h (7.0 h of GPU, 3.0 h
        of CPU), from past durations, 1 step by an estimate; 1 step without a past duration`
        """
        parts, known = [self.plan.summary()], self.known
        if known:
            least, most = self.at_least, self.at_most
            runs = any(one.status == "run" and one.step in known for one in self.plan.steps)
            about = [f"about {self._shown(least)}"] if runs else []
            at_most = [f"at most {self._shown(most)}"] if most != least else []
            parts.append(", ".join([*about, *at_most, *self._known_by()]))
        if self.unknown:
            parts.append(f"{_steps(self.unknown)} without a past duration")
        return "; ".join(parts)

    def _known_by(self) -> Iterator[str]:
        """From where it is known what steps take."""
        estimated = self._estimated
        if estimated == len(self.known):
            yield "by an estimate"
        else:
            yield "from past durations"
            if estimated:
                yield f"{_steps(estimated)} by an estimate"

    def estimates(self) -> Iterator[str]:
        """A line for each training that nothing like was made before.

        `train-teacher-en-fr: about 5.5 h, by 6,000 updates of 4,000 pieces, 9.8 million weights, …`
        """
        for step, forecast in self.known.items():
            if forecast.reason:
                yield f"{step.label}: about {duration(forecast.cost.seconds)}, by {forecast.reason}"

    def lines(self) -> Iterator[str]:
        """A line for each worker class.

        `gpu        12 steps, 7.0 h to 9.0 h, 14 to 18 EUR, 3.2 to 4.1 kWh, 12 GB of disk`
        """
        classes = self.by_class()
        width = max(map(len, classes), default=0)
        for worker, each in classes.items():
            parts, least, most = [_steps(len(each.forecasts))], each.at_least, each.at_most
            if most != Cost():
                parts.append(_range(least.seconds, most.seconds, "", duration))
            if most.money:
                parts.append(_range(least.money, most.money, f" {self.currency}"))
            if most.kwh:
                parts.append(_range(least.kwh, most.kwh, " kWh"))
            if each._disk:
                parts.append(f"{_size(each._disk)} of disk")
            yield f"{worker:{width}}  {', '.join(parts)}"

    def warnings(self) -> Iterator[str]:
        """A line for each stage with steps that will take longer than an attempt may.

        `extract_best: 3 steps need up to 27 h, an attempt has 12 h, and the next one starts again; …`
        """
        stages: dict[str, list[Step]] = {}
        known = self.known
        for step, forecast in known.items():
            if forecast.cost.seconds > self._limit(step):
                stages.setdefault(step.stage, []).append(step)
        for stage, steps in stages.items():
            longest = max(steps, key=lambda step: known[step].cost.seconds)
            needed, given = duration(known[longest].cost.seconds), duration(self._limit(longest))
            many = f"{_steps(len(steps))} {'need' if len(steps) > 1 else 'needs'}"
            after = "continues from there" if longest.resumable else "starts again"
            yield (
                f"{stage}: {many} up to {needed}, an attempt has {given}, and the next one {after}; raise "
                "max-hours in the deployment file or, where the steps read parts, split-chunks"
            )

    def _limit(self, step: Step) -> float:
        """The seconds that an attempt at a step may take."""
        return self.cluster.hours_of(step.stage, step.worker) * HOUR if self.cluster else math.inf

    def as_json(self) -> dict[str, Any]:
        """The same as JSON values: hours, of GPU those times the GPUs; gigabytes."""
        return {
            worker: {
                "steps": len(each.forecasts),
                "steps_without_a_past_duration": each.unknown,
                "steps_by_an_estimate": each._estimated,
                "at_least": each.at_least.values,
                "at_most": each.at_most.values,
                "disk_gb": round(each._disk / 1e9, 6),
                "currency": self.currency or None,
            }
            for worker, each in self.by_class().items()
        }

    @property
    def _estimated(self) -> int:
        """The number of steps that are known by an estimate."""
        return sum(forecast.estimated for forecast in self.known.values())

    @property
    def _disk(self) -> float:
        """The bytes that the step needs which needs most."""
        return max((forecast.disk for forecast in self.known.values()), default=0.0)

    def _shown(self, cost: Cost) -> str:
        """`9.0 h (7.0 h of GPU, 2.0 h of CPU), 18 EUR, 4.1 kWh`."""
        money = f", {amount(cost.money)} {self.currency}" if cost.money else ""
        return _hours(cost) + money + (f", {amount(cost.kwh)} kWh" if cost.kwh else "")


def together(plans: Sequence[PlanForecast]) -> PlanForecast:
    """The forecast of several training configs' plans: a step that several of them have counts once."""
    if not plans:
        return PlanForecast(Plan(()))
    states = [(planned.step, planned) for one in plans for planned in one.plan.steps]
    steps = tuple(planned for _, planned in Identities().first(states))
    forecasts = {step: forecast for one in plans for step, forecast in one.forecasts.items()}
    return replace(
        plans[0],
        plan=Plan(steps),
        forecasts={one.step: forecasts[one.step] for one in steps if one.step in forecasts},
        currency=next((one.currency for one in plans if one.currency), ""),
    )


def shared_steps(plans: Sequence[PlanForecast]) -> int:
    """The number of steps to make that more than one of the plans has."""
    return Identities().several(
        [one.step for one in each.plan.steps if one.status != "cached"] for each in plans
    )


def _size(size: float) -> str:
    return f"{amount(size / 1e9)} GB" if size >= 1e8 else f"{math.ceil(size / 1e6)} MB"


def _range(least: float, most: float, unit: str, show: Callable[[float], str] = amount) -> str:
    low, high = show(least), show(most)
    return f"{high}{unit}" if low == high else f"{low} to {high}{unit}" if least else f"at most {high}{unit}"


def _steps(number: int) -> str:
    return f"{number} step{'s' * (number != 1)}"


def _hours(cost: Cost) -> str:
    """`9.0 h (7.0 h of GPU, 2.0 h of CPU)`: of all steps one after another, of their GPUs and cores."""
    kinds = {"GPU": cost.gpu_seconds, "CPU": cost.cpu_seconds}
    parts = ", ".join(f"{duration(seconds)} of {kind}" for kind, seconds in kinds.items() if seconds >= 0.5)
    return f"{duration(max(1.0, cost.seconds))}{f' ({parts})' if parts else ''}"
