"""Stages: pure functions from a training config and the upstream stages' handles to steps.

A stage's parameter names are its upstream stages, as with a Dagster asset. Calling `step(…)` inside a stage
adds a step to the graph that is being built; nothing runs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from translations_assets.common.errors import GraphError
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Arg, Input, Step, WorkerClass

StageFunction = Callable[..., Any]


@dataclass(frozen=True)
class Stage:
    """A stage of the pipeline; becomes one Dagster asset. `group` is its family in the UI.

    A stage that names another in `checks` computes numbers by which that one is judged, and becomes asset
    checks of it in place of an asset.
    """

    name: str
    group: str
    function: StageFunction
    upstream: tuple[str, ...]
    checks: str = ""

    @property
    def description(self) -> str:
        """The docstring, which people read in the UI."""
        return inspect.getdoc(self.function) or ""


# The stage that is being built, and its steps so far
_building: ContextVar[tuple[str, list[Step]]] = ContextVar("building")


def stage(group: str, checks: str = "") -> Callable[[StageFunction], Stage]:
    """Make a function a stage: `config` first, then its upstream stages by name.

    @stage(group="corpus")
    def merge_devset(config: TrainingConfig, dataset_devtest: list[Corpus]) -> Corpus:
        # its docstring is shown in the UI
        return corpus_step(config, "pipeline.clean.merge_parallel", label="merge-devset-en-ru", …)
    """

    def make(function: StageFunction) -> Stage:
        first, *upstream = inspect.signature(function).parameters
        if first != "config":
            raise GraphError(
                f"The first parameter of stage {function.__name__} must be `config`, not {first!r}."
            )
        return Stage(function.__name__, group, function, tuple(upstream), checks)

    return make


def step(
    script: str,
    *,
    label: str,
    outputs: Sequence[str],
    args: Mapping[str, Arg] | None = None,
    inputs: Mapping[str, Input | None] | None = None,
    worker: WorkerClass = "cpu",
    resumable: bool = False,
    repeatable: bool = True,
    attempts: int = 3,
    secrets: Sequence[str] = (),
    programs: Sequence[str] = (),
    aliases: Mapping[str, str] | None = None,
) -> Step:
    """Add a step to the stage that is being built; an input that is None or empty is left out."""
    stage, steps = _building.get()
    new = Step(
        script=script,
        label=label,
        stage=stage,
        args=dict(args or {}),
        inputs={name: handles for name, handles in (inputs or {}).items() if handles},
        outputs=tuple(outputs),
        worker=worker,
        resumable=resumable,
        repeatable=repeatable,
        attempts=attempts,
        secrets=tuple(secrets),
        programs=tuple(programs),
        aliases=dict(aliases or {}),
    )
    steps.append(new)
    return new


def build_graph(config: TrainingConfig, stages: Mapping[str, Stage]) -> Graph:
    """Call every stage in the order of their dependencies and collect the steps; takes milliseconds.

    Raises GraphError for an unknown upstream, a cycle, or two steps with one label.

    >>> @stage(group="demo")
    ... def text(config):
    ...     return step("pipeline.demo.write", label="write", outputs=["text.txt"])["text.txt"]
    >>> @stage(group="demo")
    ... def count(config, text):
    ...     step("pipeline.demo.count", label="count", inputs={"text": text}, outputs=["number.txt"])
    >>> build_graph(config, {"text": text, "count": count}).steps
    (<Step write>, <Step count>)
    """
    results: dict[str, Any] = {}
    steps: dict[str, tuple[Step, ...]] = {}
    for name in stage_order(stages):
        current = stages[name]
        made: list[Step] = []
        token = _building.set((name, made))
        try:
            results[name] = current.function(config, **{up: results[up] for up in current.upstream})
        finally:
            _building.reset(token)
        steps[name] = tuple(made)
    checks = {name: stages[name].checks for name in steps if stages[name].checks}
    upstream = {name: stages[name].upstream for name in steps}
    return Graph(steps, upstream, checks, config.target_stage)


def stage_order(stages: Mapping[str, Stage]) -> list[str]:
    """The names of the stages, each after its upstream stages; the given order otherwise."""
    for current in stages.values():
        unknown = [name for name in current.upstream if name not in stages]
        if unknown:
            raise GraphError(f"Stage {current.name} takes {', '.join(unknown)}, which no stage is called.")
    try:
        return list(TopologicalSorter({name: stages[name].upstream for name in stages}).static_order())
    except CycleError as error:
        raise GraphError(f"The stages {', '.join(error.args[1])} depend on each other.") from error
