"""Forecasts of steps that run, by earlier ones: their own artifacts, else others of their stage,
else by an estimate.

Time and disk grow with the text that a step reads, measured by the bytes of its compressed files; those of
texts that are not made yet are estimated by what earlier steps made of theirs. What a script takes before it
comes to its text is known where its artifacts were made from texts of different sizes. A training takes what
its options say, whatever the size of its text, and is compared only with those that have the same; one that
goes on from a save takes the updates that are left.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from translations_assets.graph.step import LocalFile, Output, Step
from translations_assets.records.canonical import json_digest
from translations_assets.records.cost import Cost
from translations_assets.records.manifest import Manifest
from translations_assets.running.plan import Plan
from translations_assets.running.prices import Prices, class_of
from translations_assets.running.resolve import StepState
from translations_assets.running.saves import saved_updates
from translations_assets.why.estimates import SENTENCE, TRAINING, Estimates, Forecast
from translations_assets.why.history import History
from translations_assets.why.plan_forecast import PlanForecast

if TYPE_CHECKING:
    from translations_assets.config.deployment import ClusterSection, WorkerClassName

SAMPLE = 5  # artifacts of the same stage and script that a mean is taken of
OWN = 20  # earlier ones of a step, of which one with the same options is looked for
LOOKED_AT = 100  # artifacts of the stage among which they are looked for
DIFFERENT = 1.5  # times as large a text as another, or more: the two tell what a script's start takes
_TEXTS = (".zst", ".gz", ".tsv")
LOCAL = LocalFile("").name


class Forecasts:
    """Forecasts steps from a history; remembers what it has found. For one thread."""

    def __init__(self, history: History, estimates: Estimates | None = None) -> None:
        self._history = history
        self._estimates = estimates
        self._peers: dict[tuple[str, str, str], list[Manifest]] = {}
        self._starts: dict[tuple[str, str], Cost] = {}

    def of(self, plan: Plan) -> dict[Step, Forecast | None]:
        """Of each step that will or may run; None for one without anything like it."""
        sizes: dict[Step, Mapping[str, float]] = {}
        found: dict[Step, Forecast | None] = {}
        for planned in plan.steps:
            step = planned.step
            if planned.may_run:
                texts, placed_files = _texts_read(step, sizes), _size_of_inputs(step, sizes)
                forecast = self._forecast(step, texts, placed_files)
                if forecast and step.script == TRAINING:
                    forecast = self._of_the_rest(planned, forecast, _all_of(texts))
                found[step] = forecast
                sizes[step] = forecast.outputs if forecast else {}
            elif planned.manifest:
                sizes[step] = {name: blob.size for name, blob in planned.manifest.outputs.items()}
        return found

    def _forecast(
        self, step: Step, texts: Mapping[str, float] | None, placed_files: float
    ) -> Forecast | None:
        alike = self._alike(step)
        if not alike:
            return self._estimated(step, texts, placed_files)
        read = _all_of(texts)
        before = sum(map(text_of, alike))
        times = read * len(alike) / before if read and before and step.script != TRAINING else 1.0
        cost = sum(_costs_like(step, alike), Cost()).times(1 / len(alike))
        if times != 1.0:
            cost = cost.with_text(times, self._start(step))
        disk = max(made.usage.disk for made in alike) * times + placed_files
        return Forecast(cost, disk, _outputs(step, alike, times))

    def _estimated(
        self, step: Step, read: Mapping[str, float] | None, placed_files: float
    ) -> Forecast | None:
        """Of a step that nothing like was made before: its texts are as large as its first input.

        What other inputs add is little: held-out text, alignments. A step that splits has more texts than
        inputs; one that merges or samples may have a limit.
        """
        found = self._estimates.of(step, _all_of(read)) if self._estimates else None
        if found is None:
            return None
        texts = [name for name in step.outputs if _is_text(name)]
        first = next(iter(read.values()), 0.0) if read else 0.0
        most = SENTENCE * float(str(step.args.get("max_sentences") or math.inf))
        outputs = {name: min(most, first * min(1.0, len(read or ()) / len(texts))) for name in texts}
        disk = placed_files + sum(outputs.values()) + found.disk
        return replace(found, disk=disk, outputs=outputs)

    def _of_the_rest(self, planned: StepState, forecast: Forecast, read: float | None) -> Forecast:
        """The forecast of a training without the updates that an unfinished attempt has saved."""
        store, estimates = self._history.store, self._estimates
        made = saved_updates(store, planned.key, planned.generation) if planned.key else 0
        updates = estimates.updates(planned.step, read) if made and estimates else None
        if not updates:
            return forecast
        left = max(0, updates - made)
        reason = forecast.reason and f"{left:,} of {forecast.reason}"
        return replace(forecast, cost=forecast.cost.times(left / updates), reason=reason)

    def _start(self, step: Step) -> Cost:
        """Return the cost of the step's script before its text, by its artifacts, else estimated."""
        kind = step.stage, step.script
        if kind not in self._starts:
            made = self._history.earlier(step, "", SAMPLE)
            found = start_of(made, _costs_like(step, made))
            if found is None:
                found = self._estimates.start(step) if self._estimates else Cost()
            self._starts[kind] = found
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


def forecast_plan(
    plan: Plan,
    history: History,
    prices: Prices | None = None,
    cluster: ClusterSection | None = None,
    estimates: Estimates | None = None,
) -> PlanForecast:
    """Forecast the steps of a plan by earlier ones, or by an estimate, on the machines where they run now,
    by the prices of these.
    """

    def here(step: Step, forecast: Forecast) -> Forecast:
        cost = _on_class(forecast.cost, class_of(step, cluster), cluster)
        return replace(forecast, cost=prices.priced(step, cost) if prices else cost)

    found = Forecasts(history, estimates).of(plan)
    forecasts = {step: forecast and here(step, forecast) for step, forecast in found.items()}
    return PlanForecast(plan, forecasts, prices.currency if prices else "", cluster)


def _on_class(cost: Cost, worker: WorkerClassName, cluster: ClusterSection | None) -> Cost:
    """The cost with the GPUs of the worker class where the step runs now, among which the work of those is
    divided that it had before. On processors alone it takes no less time than it did with GPUs.
    """
    machines = cluster.worker_classes.get(worker) if cluster else None
    if not machines:
        return cost
    if not machines.gpus:
        return replace(cost, cpu_seconds=cost.cpu_seconds or cost.seconds, gpu_seconds=0.0)
    if cost.gpu_seconds:
        return replace(cost, seconds=cost.gpu_seconds / machines.gpus, cpu_seconds=0.0)
    return replace(cost, cpu_seconds=0.0, gpu_seconds=cost.seconds * machines.gpus)


def _costs_like(step: Step, made: Sequence[Manifest]) -> list[Cost]:
    """The costs of artifacts of a step's kind, without attempts that only failed."""
    return [one.cost if step.resumable else one.last_cost for one in made]


def start_of(made: Sequence[Manifest], costs: Sequence[Cost]) -> Cost | None:
    """Return the cost of artifacts of a script with any text: the start of the line through those of the
    smallest and of the largest text; None when these are about the same size.
    """
    by_size = sorted((size, number) for number, size in enumerate(map(text_of, made)) if size)
    if not by_size or by_size[-1][0] < DIFFERENT * by_size[0][0]:
        return None
    (small, one), (large, other) = by_size[0], by_size[-1]
    return costs[one].at_no_text(costs[other], large / small)


def _by_limit(step: Step, alike: Sequence[Manifest]) -> float:
    """By which factor another limit of sentences changes the texts of a step, never larger than it reads."""
    factors: list[float] = []
    limit = step.args.get("max_sentences")
    for made in alike:
        old = made.provenance.parts.args.get("max_sentences")
        written = sum(blob.size for path, blob in made.outputs.items() if _is_text(path))
        if limit and old and written:
            factors.append(min(float(str(limit)) / float(str(old)), max(1.0, text_of(made) / written)))
    return sum(factors) / len(factors) if factors else 1.0


def _is_like(made: Manifest, script: str, options: str) -> bool:
    parts = made.provenance.parts
    return parts.script == script and (not options or _options(parts.args) == options)


def _options(args: Mapping[str, Any]) -> str:
    """A digest of a training's arguments but those that only tell it from others of its kind."""
    return json_digest({name: value for name, value in args.items() if name not in ("src", "trg", "seed")})


def _is_text(path: str) -> bool:
    return path.endswith(_TEXTS) or PurePosixPath(path).name == LOCAL


def text_of(made: Manifest) -> int:
    """Bytes of the texts that an artifact was made from."""
    return sum(blob.size for path, blob in made.provenance.files.items() if _is_text(path))


def _texts_read(step: Step, sizes: Mapping[Step, Mapping[str, float]]) -> dict[str, float] | None:
    """Input → bytes of its texts, of which a merge has several; None while those of one are not known."""
    read: dict[str, float] = {}
    for path, handle in step.files().items():
        name, size = path.partition("/")[0], 0.0
        if isinstance(handle, LocalFile):
            size = _local_size(handle.path)
        elif isinstance(handle, Output) and _is_text(handle.name):
            made = sizes.get(handle.step, {}).get(handle.name)
            if made is None:
                return None
            size = made
        if size:
            read[name] = read.get(name, 0.0) + size
    return read


def _all_of(texts: Mapping[str, float] | None) -> float | None:
    return None if texts is None else sum(texts.values())


def _size_of_inputs(step: Step, sizes: Mapping[Step, Mapping[str, float]]) -> float:
    """Bytes of all that a step reads, as far as they are known."""
    known = (sizes.get(made.step, {}).get(made.name, 0.0) for _, _, made in step.input_outputs())
    return sum(known) + sum(map(_local_size, _local_files(step)))


def _local_files(step: Step) -> Iterator[str]:
    """The files of this machine that a step reads."""
    return (handle.path for handle in step.files().values() if isinstance(handle, LocalFile))


def _local_size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:  # it was there once
        return 0


def _outputs(step: Step, alike: Sequence[Manifest], times: float) -> dict[str, float]:
    """The bytes of a step's outputs: of files of that name, else each an equal share of all texts."""
    texts = [name for name in step.outputs if _is_text(name)]
    times *= _by_limit(step, alike)
    found: dict[str, float] = {}
    for name in step.outputs:
        named = [made.outputs[name].size for made in alike if name in made.outputs]
        if named:
            found[name] = sum(named) / len(named) * (times if name in texts else 1.0)
        elif name in texts:
            made = (blob.size for each in alike for path, blob in each.outputs.items() if _is_text(path))
            found[name] = sum(made) / len(alike) * times / len(texts)
    return found
