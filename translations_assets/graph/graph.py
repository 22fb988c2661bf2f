"""The graph: the stages' steps, in an order in which they can run."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

from translations_assets.common.errors import GraphError
from translations_assets.config.stage_names import resolve_stage
from translations_assets.graph.step import Output, Step


class Graph:
    """The steps by stage.

    stages    name → its steps, upstream stages first
    upstream  name → the names of the stages that it reads
    checks    the stages that only compute numbers to judge another stage by → that stage
    target    what is made when no target is named; all when it is empty
    """

    def __init__(
        self,
        stages: dict[str, tuple[Step, ...]],
        upstream: Mapping[str, tuple[str, ...]],
        checks: Mapping[str, str] | None = None,
        target: str = "",
    ) -> None:
        self.stages = stages
        self.upstream = upstream
        self.checks = checks or {}
        self.target = target
        self.by_label = {step.label: step for step in self.steps}
        if len(self.by_label) != len(self.steps):
            labels = [step.label for step in self.steps]
            twice = sorted({label for label in labels if labels.count(label) > 1})
            raise GraphError(f"Two steps have one label: {', '.join(twice)}.")

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """All steps; a step comes after those whose outputs it reads."""
        return tuple(step for steps in self.stages.values() for step in steps)

    def step(self, label: str) -> Step:
        """The step with a label; GraphError with the nearest labels when there is none."""
        try:
            return self.by_label[label]
        except KeyError:
            near = difflib.get_close_matches(label, self.by_label, n=3, cutoff=0.4)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise GraphError(f"No step is called {label!r}.{hint}") from None

    def stage_closure(self, targets: Iterable[str]) -> list[str]:
        """The target stages and all stages upstream of them, in running order."""
        wanted = set(targets)
        for name in reversed(self.stages):
            if name in wanted:
                wanted.update(self.upstream[name])
        return [name for name in self.stages if name in wanted]

    def up_to(self, target: str | None) -> list[str]:
        """The stages that a target names, all that they need, and their checks, in running order.

        Without a target the graph's own counts. Raises ConfigError for a name that is unknown.
        """
        name = target or self.target
        return self.with_checks(self.stage_closure(resolve_stage(name) if name else self.stages))

    def with_checks(self, stages: Iterable[str]) -> list[str]:
        """The given stages and those that check one of them and need no other stage, in running order."""
        given = set(stages)
        checks = {name for name in self.checks if given.issuperset(self.upstream[name])}
        return [name for name in self.stages if name in given | checks]

    def downstream_stages(self, starts: Iterable[str]) -> list[str]:
        """The given stages and all stages downstream of them, in running order."""
        found = set(starts)
        for name in self.stages:
            if found.intersection(self.upstream[name]):
                found.add(name)
        return [name for name in self.stages if name in found]

    def changed_stages(self, other: Graph) -> set[str]:
        """The stages that have other steps than in another graph, or read something else."""
        same: set[str] = set()
        for step in self.steps:
            known = other.by_label.get(step.label)
            if known and _shape(known) == _shape(step) and all(up.label in same for up in step.upstream()):
                same.add(step.label)
        return {
            name
            for name, steps in self.stages.items()
            if {step.label for step in steps} - same or len(steps) != len(other.stages.get(name, ()))
        }

    def step_closure(self, targets: Iterable[Step], known: Collection[Step] = ()) -> list[Step]:
        """The target steps and every step whose outputs they need, in running order.

        What only steps that are known need is left out.

        >>> graph.step_closure([graph.step("join")])
        [<Step write-a>, <Step write-b>, <Step join>]
        >>> graph.step_closure([graph.step("count")], known=[graph.step("join")])
        [<Step join>, <Step count>]
        """
        wanted = set(targets)
        for step in reversed(self.steps):
            if step in wanted and step not in known:
                wanted.update(step.upstream())
        return [step for step in self.steps if step in wanted]


def _shape(step: Step) -> tuple[object, ...]:
    """Return a step's own computation: compared by value, with earlier steps by their labels."""
    inputs = {
        path: (read.step.label, read.name) if isinstance(read, Output) else read
        for path, read in step.files().items()
    }
    return step.script, dict(step.args), inputs, step.outputs, step.programs
