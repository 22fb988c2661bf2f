"""The cost of a plan: its steps' forecasts by worker class, with money and energy, in lines for people."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from translations_assets.graph.step import Step
from translations_assets.records.run import Expected
from translations_assets.running.plan import Plan, PlannedStep
from translations_assets.running.prices import HOUR, Bill, Prices, class_of
from translations_assets.why.costs import Spent
from translations_assets.why.estimates import Estimates
from translations_assets.why.forecast import Forecast, Forecasts
from translations_assets.why.history import Cost, History, duration

if TYPE_CHECKING:
    from translations_assets.config.deployment import Kubernetes, WorkerClassName


@dataclass
class Outlook:
    """The cost of the steps of a worker class: at least for those that will run, at most with those that may.

    unknown    steps without anything like them, and too little known for an estimate
    estimated  steps without anything like them
    disk       bytes that the step needs which needs most
    """

    steps: int = 0
    unknown: int = 0
    estimated: int = 0
    least: Cost = field(default_factory=Cost)
    most: Cost = field(default_factory=Cost)
    least_bill: Bill = field(default_factory=Bill)
    most_bill: Bill = field(default_factory=Bill)
    disk: float = 0.0

    def add(self, planned: PlannedStep, forecast: Forecast | None, bill: Bill) -> None:
        """Count a step."""
        self.steps += 1
        if forecast is None:
            self.unknown += 1
            return
        self.estimated += forecast.estimated
        self.disk = max(self.disk, forecast.disk)
        self.most += forecast.cost
        self.most_bill += bill
        if planned.status == "run":
            self.least += forecast.cost
            self.least_bill += bill


@dataclass(frozen=True)
class PlanForecast:
    """The cost of the steps of a plan that will or may run.

    expected   label → what the steps take that something is known of
    by_class   worker class on which they run → its steps, dear ones first
    currency   of money; empty when no prices are known
    too_long   the steps that will take longer than an attempt may, with the seconds that it may
    trainings  label → by what a training is estimated that nothing like was made before
    """

    plan: Plan
    expected: Mapping[str, Expected]
    by_class: Mapping[str, Outlook]
    currency: str = ""
    too_long: Mapping[Step, float] = field(default_factory=dict)
    trainings: Mapping[str, str] = field(default_factory=dict)

    def summary(self) -> str:
        """One line that a person can decide from: the plan's, and what its steps cost.

        `4 steps: 2 run, 2 maybe; about 9.0 h (7.0 h of GPU, 2.0 h of CPU), at most 10 h (7.0 h of GPU, 3.0 h
        of CPU), from past durations, 1 step by an estimate; 1 step without a past duration`
        """
        seen = self.by_class.values()
        parts = [self.plan.summary()]
        if self.expected:
            runs = any(one.status == "run" and one.step.label in self.expected for one in self.plan.steps)
            least, most = (
                sum((each.least for each in seen), Cost()),
                sum((each.most for each in seen), Cost()),
            )
            cheap, dear = (
                self._bill(each.least_bill for each in seen),
                self._bill(each.most_bill for each in seen),
            )
            about = [f"about {_hours(least)}{cheap}"] if runs else []
            at_most = [f"at most {_hours(most)}{dear}"] if most != least else []
            parts.append(", ".join([*about, *at_most, *self._known_by()]))
        if self.unknown:
            parts.append(f"{_steps(self.unknown)} without a past duration")
        return "; ".join(parts)

    def _known_by(self) -> Iterator[str]:
        """From where it is known what steps take."""
        estimated = sum(each.estimated for each in self.by_class.values())
        if estimated == sum(each.steps for each in self.by_class.values()) - self.unknown:
            yield "by an estimate"
        else:
            yield "from past durations"
            if estimated:
                yield f"{_steps(estimated)} by an estimate"

    def estimates(self) -> Iterator[str]:
        """A line for each training that nothing like was made before.

        `train-teacher-en-fr: about 5.5 h, by 6,000 updates of 4,000 pieces, 9.8 million weights, …`
        """
        for label, reason in self.trainings.items():
            yield f"{label}: about {duration(self.expected[label].seconds)}, by {reason}"

    def lines(self) -> Iterator[str]:
        """A line for each worker class.

        `gpu        12 steps, 7.0 h to 9.0 h, 14 to 18 EUR, 3.2 to 4.1 kWh, 12 GB of disk`
        """
        width = max(map(len, self.by_class), default=0)
        for worker, each in self.by_class.items():
            parts = [_steps(each.steps)]
            if each.most != Cost():
                parts.append(_range(each.least.seconds, each.most.seconds, "", duration))
            if each.most_bill.money:
                parts.append(_range(each.least_bill.money, each.most_bill.money, f" {self.currency}"))
            if each.most_bill.kwh:
                parts.append(_range(each.least_bill.kwh, each.most_bill.kwh, " kWh"))
            if each.disk:
                parts.append(f"{_size(each.disk)} of disk")
            yield f"{worker:{width}}  {', '.join(parts)}"

    def warnings(self) -> Iterator[str]:
        """A line for each stage with steps that will take longer than an attempt may.

        `extract_best: 3 steps need up to 27 h, an attempt has 12 h, and the next one starts again; …`
        """
        stages: dict[str, list[Step]] = {}
        for step in self.too_long:
            stages.setdefault(step.stage, []).append(step)
        for stage, steps in stages.items():
            longest = max(steps, key=lambda step: self.expected[step.label].seconds)
            needed, given = duration(self.expected[longest.label].seconds), duration(self.too_long[longest])
            many = f"{_steps(len(steps))} {'need' if len(steps) > 1 else 'needs'}"
            after = "continues from there" if longest.resumable else "starts again"
            yield (
                f"{stage}: {many} up to {needed}, an attempt has {given}, and the next one {after}; raise "
                "max-hours in the deployment file or, where the steps read parts, split-chunks"
            )

    @property
    def unknown(self) -> int:
        """The number of steps with nothing like them."""
        return sum(each.unknown for each in self.by_class.values())

    @property
    def money(self) -> float:
        """The most money that all of it costs."""
        return sum(each.most_bill.money for each in self.by_class.values())

    def as_json(self) -> dict[str, Any]:
        """The same as JSON values: hours, of GPU those times the GPUs; gigabytes."""
        return {
            worker: {
                "steps": each.steps,
                "steps_without_a_past_duration": each.unknown,
                "steps_by_an_estimate": each.estimated,
                "at_least": Spent(each.least, each.least_bill).values,
                "at_most": Spent(each.most, each.most_bill).values,
                "disk_gb": round(each.disk / 1e9, 6),
                "currency": self.currency or None,
            }
            for worker, each in self.by_class.items()
        }

    def _bill(self, bills: Iterable[Bill]) -> str:
        total = sum(bills, Bill())
        money = f", {amount(total.money)} {self.currency}" if total.money else ""
        return money + (f", {amount(total.kwh)} kWh" if total.kwh else "")


def forecast_plan(
    plan: Plan,
    history: History,
    prices: Prices | None = None,
    kubernetes: Kubernetes | None = None,
    estimates: Estimates | None = None,
) -> PlanForecast:
    """Forecast the steps of a plan by earlier ones, or by an estimate, their cost by the prices of
    machines, and whether the cluster gives them the time.
    """
    forecasts = Forecasts(history, estimates).of(plan)
    found: dict[str, Outlook] = {}
    expected: dict[str, Expected] = {}
    for planned in plan.steps:
        step, bill = planned.step, Bill()
        if step in forecasts:
            worker = class_of(step, kubernetes)
            if forecast := _on_class(forecasts[step], worker, kubernetes):
                bill = prices.bill(step, forecast.cost.seconds) if prices else bill
                expected[step.label] = Expected(**asdict(forecast.cost), **asdict(bill))
            found.setdefault(worker, Outlook()).add(planned, forecast, bill)
    dear_first = sorted(found.items(), key=lambda item: (-item[1].most.gpu_seconds, -item[1].most.seconds))
    limits = {step: kubernetes.hours_of(step.stage, step.worker) for step in forecasts} if kubernetes else {}
    too_long = {
        step: hours * HOUR
        for step, hours in limits.items()
        if expected.get(step.label, Expected()).seconds > hours * HOUR
    }
    trainings = {step.label: found.reason for step, found in forecasts.items() if found and found.reason}
    currency = prices.currency if prices else ""
    return PlanForecast(plan, expected, dict(dear_first), currency, too_long, trainings)


def _on_class(
    forecast: Forecast | None, worker: WorkerClassName, kubernetes: Kubernetes | None
) -> Forecast | None:
    """The forecast with the GPUs of the worker class where the step runs now, among which the work of those
    is divided that it had before. On processors alone it takes no less time than it did with GPUs.
    """
    machines = kubernetes.worker_classes.get(worker) if kubernetes else None
    if not forecast or not machines:
        return forecast
    gpus, cost = machines.gpus, forecast.cost
    if not gpus:
        cost = Cost(cost.seconds, cost.cpu_seconds or cost.seconds)
    elif cost.gpu_seconds:
        cost = Cost(cost.gpu_seconds / gpus, gpu_seconds=cost.gpu_seconds)
    else:
        cost = Cost(cost.seconds, gpu_seconds=cost.seconds * gpus)
    return replace(forecast, cost=cost)


def amount(value: float) -> str:
    """Money or energy for people: `0.04`, `3.2`, `1,200`."""
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 10 else f"{value:,.0f}"


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
