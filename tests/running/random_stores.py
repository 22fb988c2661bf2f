"""Random small graphs and stores: what was made, what became of it, and what a new run is asked for."""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tests.running.conftest import FakeRunner, demo_config, graph_of
from translations_assets.common.errors import TranslationsError
from translations_assets.graph.graph import Graph
from translations_assets.graph.stage import Stage, step
from translations_assets.graph.step import Step
from translations_assets.keys.key import KeyMaker
from translations_assets.records.manifest import Manifest
from translations_assets.records.run import RunOptions
from translations_assets.running.engine import Engine
from translations_assets.running.session import Session
from translations_assets.store.local import LocalStore

SCRIPTS = ("write", "join", "count")
STAGES = ("clean_corpus", "merge_corpus", "alignments_original", "train_teacher")
PARTITION, SPACE = "en-ru", "ann"
FIRST = "run-1"  # made everything that was made before

Fate = Literal["whole", "contents lost", "manifest lost", "manifest damaged", "retired"]


@dataclass(frozen=True)
class StepPlan:
    """A step to be made up. `word` is its argument, of which `constant` outputs do not depend."""

    label: str
    stage: str
    upstream: tuple[str, ...]
    repeatable: bool
    constant: bool
    word: str = "old"


@dataclass
class Case:
    """A graph as it was and as it is; of each step that was made its fate; and what a new run is asked for.

    made    the stages that the first run made; `published`: those of them that have a ref
    ended   whether the first run's record says that it has ended
    """

    before: list[StepPlan]
    now: list[StepPlan]
    made: list[str]
    published: list[str]
    ended: bool
    fates: dict[str, Fate]
    repeat: list[str]
    repair: bool
    fixed: list[str]
    graph: Graph = field(init=False)

    def __post_init__(self) -> None:
        self.graph = _graph(self.now)

    @property
    def options(self) -> RunOptions:
        """The options of the new run."""
        return RunOptions(start=self.repeat[0] if self.repeat else "", repair=self.repair)

    def step(self, label: str) -> StepPlan:
        """A step of the graph as it is."""
        return next(one for one in self.now if one.label == label)


def draw(rng: random.Random) -> Case:
    """A case."""
    stages = list(STAGES[: rng.randint(1, len(STAGES))])
    before: list[StepPlan] = []
    for number in range(rng.randint(len(stages), 6)):
        stage = stages[min(number, len(stages) - 1)]
        earlier = [other.label for other in before if other.stage != stage or rng.random() < 0.5]
        upstream = rng.sample(earlier, rng.randint(min(1, len(earlier)), min(2, len(earlier))))
        before.append(
            StepPlan(f"step-{number}", stage, tuple(upstream), rng.random() < 0.5, rng.random() < 0.4)
        )
    now = [
        StepPlan(
            one.label,
            one.stage,
            one.upstream,
            one.repeatable,
            one.constant,
            rng.choice(["old"] * 5 + ["new"]),
        )
        for one in before
    ]
    fates: tuple[Fate, ...] = ("contents lost", "manifest lost", "manifest damaged", "retired")
    made = stages[: rng.randint(0, len(stages))] if rng.random() < 0.3 else stages
    start = rng.randint(0, len(stages)) if rng.random() < 0.4 else len(stages)
    struck: dict[str, Fate] = {
        one.label: rng.choice(fates) if rng.random() < 0.3 else "whole" for one in before
    }
    return Case(
        before=before,
        now=now,
        made=made,
        published=[stage for stage in made if rng.random() < 0.6],
        ended=rng.random() < 0.6,
        fates=struck,
        repeat=stages[start:],
        repair=rng.random() < 0.4,
        fixed=[label for label, fate in struck.items() if fate == "whole" and rng.random() < 0.2],
    )


def _graph(steps: list[StepPlan]) -> Graph:
    made: dict[str, Step] = {}
    names = list(dict.fromkeys(one.stage for one in steps))

    def stage(name: str) -> Stage:
        def function(config: Any, **upstream: Any) -> None:
            for number, one in enumerate(steps):
                if one.stage == name:
                    inputs = [made[label]["out.txt"] for label in one.upstream]
                    made[one.label] = step(
                        f"pipeline.demo.{SCRIPTS[number % len(SCRIPTS)]}",
                        label=one.label,
                        args={"word": one.word, "number": number},
                        inputs={"texts": inputs},
                        outputs=["out.txt"],
                        repeatable=one.repeatable,
                    )

        return Stage(name, "demo", function, tuple(names[: names.index(name)]))

    return graph_of({name: stage(name) for name in names})


@dataclass
class Place:
    """A store in which the first run of a case has made its steps, some of which have had their fate."""

    case: Case
    folder: Path
    keys: KeyMaker
    manifests: dict[str, Manifest] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.store = LocalStore(self.folder)
        self._make()
        for label, manifest in self.manifests.items():
            self._strike(manifest, self.case.fates[label])

    def runner(self) -> FakeRunner:
        """A runner whose constant steps always write the same."""
        return FakeRunner(contents={one.label: one.label.encode() for one in self.case.now if one.constant})

    def session(self, run: str, graph: Graph | None = None, **fields: Any) -> Session:
        """A session over the store."""
        graph = graph or self.case.graph
        return Session(run, PARTITION, SPACE, demo_config, graph, self.store, self.keys, **fields)

    def _make(self) -> None:
        graph = _graph(self.case.before)
        session = self.session(FIRST, graph)
        steps = [one for one in graph.steps if one.stage in self.case.made]
        self.run(session, steps, self.runner())
        session.record.write()
        for stage in self.case.published:
            session.results.publish(stage)
        if self.case.ended:
            session.end()
        for one in steps:
            result = session.results.result(one)
            assert result is not None
            assert result.manifest is not None
            self.manifests[one.label] = result.manifest

    def run(self, session: Session, steps: list[Step], runner: FakeRunner) -> str:
        """Run steps by the engine; what it raised."""
        try:
            Engine(self.store, runner).run(session, steps, threading.Event(), lambda event: None)
        except TranslationsError as error:
            return f"{type(error).__name__}: {error}"
        return ""

    def _strike(self, manifest: Manifest, fate: Fate) -> None:
        path = self.store.manifest_file(manifest.key, manifest.generation)
        if fate == "contents lost":
            for blob in manifest.outputs.values():
                self.store.quarantine(blob, "a test lost it")
        elif fate == "retired":
            self.store.retire(manifest.key, manifest.generation)
        elif fate == "manifest lost":
            path.unlink(missing_ok=True)
        elif fate == "manifest damaged" and path.exists():
            path.chmod(0o644)
            path.write_bytes(b"{}\n")

    def fixed(self) -> Mapping[Step, Manifest]:
        """Results given to the new run: those of the first, some of other words."""
        return {
            self.case.graph.step(label): self.manifests[label]
            for label in self.case.fixed
            if label in self.manifests
        }
