"""The graph of a training config: its stages' steps, in an order in which they can run."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

from translations_assets.config.schema import TrainingConfig
from translations_assets.config.stage_names import resolve_stage
from translations_assets.errors import GraphError
from translations_assets.graph.step import Step


class Graph:
    """The steps of a config by stage; `stages` maps a name to its steps, upstream stages first.

    `checks` maps the stages that only compute numbers to judge another stage by, to that stage.
    """

    def __init__(
        self,
        config: TrainingConfig,
        stages: dict[str, tuple[Step, ...]],
        upstream: Mapping[str, tuple[str, ...]],
        checks: Mapping[str, str] | None = None,
    ) -> None:
        self.config = config
        self.stages = stages
        self.upstream = upstream
        self.checks = checks or {}
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

    def machine(self, stage: str) -> str:
        """The kind of machine that the config asks for, `spot` or `standard`; empty when it does not."""
        asked = {
            name: machine.removeprefix("gcp-")
            for kind, machine in self.config.taskcluster.worker_classes.items()
            for name in ([kind] if kind == "default" else resolve_stage(kind))
        }
        return asked.get(stage) or asked.get("default", "")

    def stage_closure(self, targets: Iterable[str]) -> list[str]:
        """The target stages and all stages upstream of them, in running order."""
        wanted = set(targets)
        for name in reversed(self.stages):
            if name in wanted:
                wanted.update(self.upstream[name])
        return [name for name in self.stages if name in wanted]

    def up_to(self, target: str | None) -> list[str]:
        """The stages that a target names, all that they need, and their checks, in running order.

        Without a target the config's own counts, else all. Raises ConfigError for a name that is unknown.
        """
        name = target or self.config.target_stage
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

    def step_closure(self, targets: Iterable[Step], known: Collection[Step] = ()) -> list[Step]:
        """The target steps and every step whose outputs they need, in running order.

        What only steps that are known need is left out.
        """
        wanted = set(targets)
        for step in reversed(self.steps):
            if step in wanted and step not in known:
                wanted.update(step.upstream())
        return [step for step in self.steps if step in wanted]
