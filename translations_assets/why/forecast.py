"""What steps will take that run, by what earlier ones took: their own artifacts, else others of their stage.

Time and disk grow with the text that a step reads, measured by the bytes of its compressed files; those of
texts that are not made yet are estimated by what earlier steps made of theirs. What a script takes before it
comes to its text is known where its artifacts were made from texts of different sizes. A training takes what
its options say, whatever the size of its text, and is compared only with those that have the same.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from translations_assets.graph.step import LocalFile, Step, placed
from translations_assets.records.canonical import json_digest
from translations_assets.records.manifest import Manifest
from translations_assets.records.run import Expected
from translations_assets.running.plan import Plan, PlannedStep
from translations_assets.running.prices import HOUR, Bill, Prices, class_of
from translations_assets.why.costs import Spent
from translations_assets.why.history import Cost, History, cost_of, duration, last_cost_of

if TYPE_CHECKING:
    from translations_assets.config.deployment import Kubernetes, WorkerClassName

TRAINING = "pipeline.train.train"
SAMPLE = 5  # artifacts of the same stage and script that a mean is taken of
OWN = 20  # earlier ones of a step, of which one with the same options is looked for
LOOKED_AT = 100  # artifacts of the stage among which they are looked for
DIFFERENT = 1.5  # times as large a text as another, or more: the two tell what a script's start takes
_TEXTS = (".zst", ".gz", ".tsv")
LOCAL = LocalFile("").name


@dataclass(frozen=True)
class Forecast:
    """What a step will take.

    disk     bytes that it needs while it runs, its inputs among them
    outputs  file → its bytes
    """

    cost: Cost
    disk: float
    outputs: Mapping[str, float]


class Forecasts:
    """Forecasts steps from a history; remembers what it has found. For one thread."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._peers: dict[tuple[str, str, str], list[Manifest]] = {}
        self._starts: dict[tuple[str, str], Cost] = {}

    def of(self, plan: Plan) -> dict[Step, Forecast | None]:
        """Of each step that will or may run; None for one without anything like it."""
        sizes: dict[Step, Mapping[str, float]] = {}
        found: dict[Step, Forecast | None] = {}
        for planned in plan.steps:
            step = planned.step
            if planned.status in ("run", "maybe"):
                read, placed_files = _text_read(step, sizes), _size_of_inputs(step, sizes)
                found[step] = forecast = self._forecast(step, read, placed_files)
                sizes[step] = forecast.outputs if forecast else {}
            elif planned.manifest:
                sizes[step] = {name: blob.size for name, blob in planned.manifest.outputs.items()}
        return found

    def _forecast(self, step: Step, read: float | None, placed_files: float) -> Forecast | None:
        alike = self._alike(step)
        if not alike:
            return None
        before = sum(map(_text_of, alike))
        times = read * len(alike) / before if read and before and step.script != TRAINING else 1.0
        cost = sum(map(_cost_like(step), alike), Cost()).times(1 / len(alike))
        if times != 1.0:
            cost = cost.with_text(times, self._start(step))
        disk = max(made.usage.disk for made in alike) * times + placed_files
        return Forecast(cost, disk, _outputs(step, alike, times))

    def _start(self, step: Step) -> Cost:
        """What the step's script takes before it comes to its text; nothing where that is not known."""
        kind = step.stage, step.script
        if kind not in self._starts:
            self._starts[kind] = start_of(self._history.earlier(step, "", SAMPLE), _cost_like(step))
        return self._starts[kind]

    def _alike(self, step: Step) -> list[Manifest]:
        """The step's newest artifact, else the newest of its stage with its script."""
        options = "" if step.repeatable else _options(step.args)
        for made in self._history.earlier(step, "", OWN if options else 1):
            if not options or _options(made.provenance.parts.args) == options:
                return [made]
        kind = step.stage, step.script, options
        if kind not in self._peers:
            newest = islice(self._history.of_stage(step.stage), LOOKED_AT)
            same = (made for made in newest if _is_like(made, step.script, options))
            self._peers[kind] = [*islice(same, SAMPLE)]
        return self._peers[kind]


def _cost_like(step: Step) -> Callable[[Manifest], Cost]:
    """What artifacts of a step's kind took: attempts that only failed are not expected again."""
    return cost_of if step.resumable else last_cost_of


def start_of(made: Sequence[Manifest], cost: Callable[[Manifest], Cost] = cost_of) -> Cost:
    """What artifacts of a script took whatever their text: where the line through what it took for the
    smallest and for the largest text begins; nothing when these are about the same size.
    """
    by_size = sorted((size, number) for number, size in enumerate(map(_text_of, made)) if size)
    if not by_size or by_size[-1][0] < DIFFERENT * by_size[0][0]:
        return Cost()
    (small, one), (large, other) = by_size[0], by_size[-1]
    return cost(made[one]).at_no_text(cost(made[other]), large / small)


def _is_like(made: Manifest, script: str, options: str) -> bool:
    parts = made.provenance.parts
    return parts.script == script and (not options or _options(parts.args) == options)


def _options(args: Mapping[str, Any]) -> str:
    """A digest of a training's arguments but those that only tell it from others of its kind."""
    return json_digest({name: value for name, value in args.items() if name not in ("src", "trg", "seed")})


def _is_text(path: str) -> bool:
    return path.endswith(_TEXTS) or PurePosixPath(path).name == LOCAL


def _text_of(made: Manifest) -> int:
    """Bytes of the texts that an artifact was made from."""
    return sum(blob.size for path, blob in made.provenance.files.items() if _is_text(path))


def _text_read(step: Step, sizes: Mapping[Step, Mapping[str, float]]) -> float | None:
    """Bytes of the texts that a step will read; None while those of one are not known."""
    texts = [output for _, _, output in step.input_outputs() if _is_text(output.name)]
    known = [sizes.get(output.step, {}).get(output.name) for output in texts]
    return None if None in known else sum(filter(None, known)) + sum(map(_local_size, _local_files(step)))


def _size_of_inputs(step: Step, sizes: Mapping[Step, Mapping[str, float]]) -> float:
    """Bytes of all that a step reads, as far as they are known."""
    known = (sizes.get(made.step, {}).get(made.name, 0.0) for _, _, made in step.input_outputs())
    return sum(known) + sum(map(_local_size, _local_files(step)))


def _local_files(step: Step) -> Iterator[str]:
    """The files of this machine that a step reads."""
    for handles in step.inputs.values():
        yield from (handle.path for _, handle in placed(handles) if isinstance(handle, LocalFile))


def _local_size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:  # it was there once
        return 0


def _outputs(step: Step, alike: Sequence[Manifest], times: float) -> dict[str, float]:
    """The bytes of a step's outputs: of files of that name, else each an equal share of all texts."""
    texts = [name for name in step.outputs if _is_text(name)]
    found: dict[str, float] = {}
    for name in step.outputs:
        named = [made.outputs[name].size for made in alike if name in made.outputs]
        if named:
            found[name] = sum(named) / len(named) * (times if name in texts else 1.0)
        elif name in texts:
            made = (blob.size for each in alike for path, blob in each.outputs.items() if _is_text(path))
            found[name] = sum(made) / len(alike) * times / len(texts)
    return found


@dataclass
class Outlook:
    """What the steps of a worker class take, at least those that will run and at most those that may, too.

    unknown  steps without anything like them
    disk     bytes that the step needs which needs most
    """

    steps: int = 0
    unknown: int = 0
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
        self.disk = max(self.disk, forecast.disk)
        self.most += forecast.cost
        self.most_bill += bill
        if planned.status == "run":
            self.least += forecast.cost
            self.least_bill += bill


@dataclass(frozen=True)
class PlanForecast:
    """What the steps of a plan take that will or may run.

    expected  label → what the steps take that something is known of
    by_class  worker class on which they run → its steps, dear ones first
    currency  of money; empty when no prices are known
    too_long  the steps that will take longer than an attempt may, with the seconds that it may
    """

    plan: Plan
    expected: Mapping[str, Expected]
    by_class: Mapping[str, Outlook]
    currency: str = ""
    too_long: Mapping[Step, float] = field(default_factory=dict)

    def summary(self) -> str:
        """One line that a person can decide from: the plan's, and what its steps cost.

        `4 steps: 2 run, 2 maybe; about 7.0 h of GPU, 2.0 h of CPU, at most 9.0 h of GPU, 3.0 h of CPU, from
        past durations; 2 steps without a past duration`
        """
        seen = self.by_class.values()
        unknown = self.unknown
        least, most = sum((each.least for each in seen), Cost()), sum((each.most for each in seen), Cost())
        parts = [self.plan.summary()]
        if self.expected:
            runs = any(one.status == "run" and one.step.label in self.expected for one in self.plan.steps)
            cheap = self._bill([each.least_bill for each in seen])
            about = [f"about {_hours(least)}{cheap}"] if runs else []
            dear = self._bill([each.most_bill for each in seen])
            at_most = [f"at most {_hours(most)}{dear}"] if most != least else []
            parts.append(", ".join([*about, *at_most, "from past durations"]))
        if unknown:
            parts.append(f"{unknown} step{'s' * (unknown != 1)} without a past duration")
        return "; ".join(parts)

    def lines(self) -> Iterator[str]:
        """A line for each worker class.

        `gpu        12 steps, 7.0 h to 9.0 h, 14 to 18 EUR, 3.2 to 4.1 kWh, 12 GB of disk`
        """
        width = max(map(len, self.by_class), default=0)
        for worker, each in self.by_class.items():
            parts = [f"{each.steps} step{'s' * (each.steps != 1)}"]
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

        `extract_best: 3 steps need up to 27 h, an attempt has 12 h, and the next one begins again; …`
        """
        stages: dict[str, list[Step]] = {}
        for step in self.too_long:
            stages.setdefault(step.stage, []).append(step)
        for stage, steps in stages.items():
            longest = max(steps, key=lambda step: self.expected[step.label].seconds)
            needed, given = duration(self.expected[longest.label].seconds), duration(self.too_long[longest])
            many = f"{len(steps)} step{'s need' if len(steps) > 1 else ' needs'}"
            after = "goes on from there" if longest.resumable else "begins again"
            yield (
                f"{stage}: {many} up to {needed}, an attempt has {given}, and the next one {after}; raise "
                "max-hours in the deployment file or, where the steps read parts, split-chunks"
            )

    @property
    def unknown(self) -> int:
        """How many steps there is nothing like."""
        return sum(each.unknown for each in self.by_class.values())

    @property
    def money(self) -> float:
        """What all of it costs at most."""
        return sum(each.most_bill.money for each in self.by_class.values())

    def as_json(self) -> dict[str, Any]:
        """The same as JSON values: hours, of GPU those times the GPUs; gigabytes."""
        return {
            worker: {
                "steps": each.steps,
                "steps_without_a_past_duration": each.unknown,
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
    plan: Plan, history: History, prices: Prices | None = None, kubernetes: Kubernetes | None = None
) -> PlanForecast:
    """What the steps of a plan take by earlier ones, what that costs by the prices of machines, and whether
    the cluster gives them the time.
    """
    forecasts = Forecasts(history).of(plan)
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
    return PlanForecast(plan, expected, dict(dear_first), prices.currency if prices else "", too_long)


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


def _hours(cost: Cost) -> str:
    kinds = {"GPU": cost.gpu_seconds, "CPU": cost.cpu_seconds}
    return (
        ", ".join(f"{duration(seconds)} of {kind}" for kind, seconds in kinds.items() if seconds >= 0.5)
        or "1 s"
    )
