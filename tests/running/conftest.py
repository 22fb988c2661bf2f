"""Fixtures of the engine's tests: a small repository, stages over it, a runner that makes up results."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.memory_store import MemoryStore
from translations_assets.common.background import CLOCK, Clock
from translations_assets.common.errors import DamagedError
from translations_assets.config.load import parse_config
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.graph import Graph
from translations_assets.graph.stage import Stage, build_graph, stage, step
from translations_assets.graph.step import Input, Output, RepoFile
from translations_assets.keys.key import KeyMaker
from translations_assets.records.manifest import Manifest
from translations_assets.running.engine import Engine
from translations_assets.running.events import Explained, Started, StepEvent, StepResult
from translations_assets.running.job import Job, Outcome
from translations_assets.running.protocols import Store
from translations_assets.running.runner import Submission
from translations_assets.running.session import Session
from translations_assets.running.tasks import Work

CONFIG = """\
experiment: {name: small, src: en, trg: ru}
datasets: {train: [opus_ParaCrawl/v9], devtest: [flores_dev], test: [flores_devtest]}
"""
WRITE = """\
import numpy

from pipeline.demo.words import WORD


def main():
    print(WORD, numpy.zeros(1))


if __name__ == "__main__":
    main()
"""
PLAIN = """\
def main():
    print("done")


if __name__ == "__main__":
    main()
"""
LOCK = """\
certifi==2025.8.3 \\
    --hash=sha256:e564105f78ded564e3ae7c923924435e1daa7463faeab5bb932bc53ffae63407
    # via requests
numpy==2.2.6 \\
    --hash=sha256:e29554e2bef54a90aa5cc07da6ce955accb83f21ab5de01a62c8478897b264fd
    # via translations-assets (pyproject.toml)
requests==2.32.5 \\
    --hash=sha256:dbba0bac56e100853db0ea71b82b4dfd5fe2bf6d3754a8893c3af500cec7d7cf
    # via translations-assets (pyproject.toml)
"""
FILES = {
    "pipeline/__init__.py": '"""Scripts."""\n',
    "pipeline/demo/__init__.py": '"""Scripts."""\n',
    "pipeline/demo/words.py": 'WORD = "tree"\nUNUSED = 1\n',
    "pipeline/demo/write.py": WRITE,
    "pipeline/demo/join.py": PLAIN,
    "pipeline/demo/count.py": PLAIN,
    "pipeline/demo/settings.yml": "# how to join\nseparator: ' '\nlimits: {lines: 10}\n",
    "requirements/main.lock": LOCK,
}
SETTINGS = RepoFile("pipeline/demo/settings.yml")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A folder with three scripts, a lock and a settings file."""
    return write_repository(tmp_path / "repository")


def write_repository(root: Path) -> Path:
    """Write the small repository into a folder."""
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def demo_stages(words: Mapping[str, str]) -> dict[str, Stage]:
    """Texts (a step for each word, by name) → join → count, which is not repeatable."""

    @stage(group="demo")
    def texts(config: Any) -> list[Output]:
        """One text for each word."""
        return [
            step("pipeline.demo.write", label=f"write-{name}", args={"word": word}, outputs=["text.txt"])[
                "text.txt"
            ]
            for name, word in words.items()
        ]

    @stage(group="demo")
    def join(config: Any, texts: list[Output]) -> Output:
        """All texts in one."""
        inputs: dict[str, Input] = {"texts": texts, "settings": SETTINGS}
        return step("pipeline.demo.join", label="join", inputs=inputs, outputs=["joined.txt"])["joined.txt"]

    @stage(group="demo")
    def count(config: Any, join: Output) -> Output:
        """The number of words."""
        made = step(
            "pipeline.demo.count",
            label="count",
            inputs={"text": join},
            outputs=["number.txt"],
            repeatable=False,
        )
        return made["number.txt"]

    return {made.name: made for made in (texts, join, count)}


@cache
def demo_config() -> TrainingConfig:
    """The training config of the demo."""
    return parse_config(CONFIG, "small.yml")


def graph_of(stages: Mapping[str, Stage]) -> Graph:
    """The graph of some stages."""
    return build_graph(demo_config(), stages)


def demo_graph(**words: str) -> Graph:
    """The graph of the demo's stages, by default for the texts `a` and `b`."""
    return graph_of(demo_stages(words or {"a": "one", "b": "two"}))


def one_stage(labels: dict[str, str]) -> dict[str, Stage]:
    """A stage with a step for each label, given its word; no step reads another's output."""

    def texts(config: Any) -> None:
        for label, word in labels.items():
            step("pipeline.demo.write", label=label, args={"word": word}, outputs=["text.txt"])

    return {"texts": Stage("texts", "demo", texts, ())}


def text_of(job: Job) -> bytes:
    """Output of the made-up script: a function of nothing but its command line and its inputs."""
    asked = repr([job.script, job.command, sorted((path, blob.digest) for path, blob in job.inputs.items())])
    return hashlib.sha256(asked.encode()).hexdigest().encode()


@dataclass
class FakeRunner:
    """Runs jobs in the caller's thread, and keeps what the protocol says of owners and of cancelling.

    ends      label → how its next attempts end, in order; afterwards they succeed
    contents  label → what it writes in place of `text_of`
    gates     label → wait for this before ending
    """

    ends: dict[str, list[Outcome]] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    gates: dict[str, threading.Event] = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)

    @property
    def ran(self) -> list[str]:
        """Labels of the attempts that were begun, in order."""
        return [job.label for job in self.jobs]

    def run(self, submission: Submission) -> Work[Outcome]:
        """Run one attempt; see `running.runner.Runner`."""
        while not submission.cancel.is_set():
            with submission.store.owners.lock(*submission.job.step) as owner:
                if owner:
                    return self._run(submission)
            yield 0.005
        return Outcome("cancelled")

    def _run(self, submission: Submission) -> Outcome:
        job, store, cancel = submission.job, submission.store, submission.cancel
        if manifest := store.generation(*job.step):
            return Outcome("done", manifest)
        self.jobs.append(job)
        ends = self.ends.get(job.label)
        if not ends or not ends[0].unreachable:
            store.append_log(job.key, job.generation, job.attempt, 0, b"begun")
        submission.on_event(Started(pid=1))
        gate = self.gates.get(job.label)
        while gate is not None and not gate.wait(0.005):
            if cancel.is_set():
                return Outcome("cancelled")
        try:
            for blob in job.inputs.values():
                store.read_blob(blob)
        except DamagedError as error:
            return Outcome("failed", message=str(error))
        return ends.pop(0) if ends else Outcome("done", self._commit(job, store))

    def _commit(self, job: Job, store: Store) -> Manifest:
        text = self.contents.get(job.label, text_of(job))
        return store.commit(
            Manifest(
                key=job.key,
                generation=job.generation,
                outputs={name: store.add_bytes(text) for name in job.outputs},
                label=job.label,
                bundle=job.bundle,
                provenance=job.provenance,
                attempt=job.attempt,
                host="here",
                started=1.0,
                ended=2.0,
            )
        )


@dataclass
class Bench:
    """A repository, a store and a runner, with sessions and runs over them."""

    root: Path
    store: Store = field(default_factory=MemoryStore)
    runner: FakeRunner = field(default_factory=FakeRunner)
    cancel: threading.Event = field(default_factory=threading.Event)
    events: list[StepEvent] = field(default_factory=list)
    clock: Clock = CLOCK

    def session(self, graph: Graph | None = None, run: str = "run-1", **fields: Any) -> Session:
        """A fresh session of the partition en-ru, with the code as it is now."""
        made_from = {"parse": demo_config, "graph": graph or demo_graph()}
        fields = {**made_from, "store": self.store, "keys": KeyMaker(self.root), **fields}
        return Session(run, "en-ru", "ann", **fields)

    def run(self, session: Session, *stages: str) -> list[StepResult]:
        """Run the steps of stages, by default of all, in one call of the engine."""
        steps = [step for name in stages or session.graph.stages for step in session.graph.stages[name]]
        return Engine(self.store, self.runner, clock=self.clock).run(
            session, steps, self.cancel, self.events.append
        )

    def make(self, *stages: str, **words: str) -> list[str]:
        """Run stages of the demo's graph in a fresh session; the labels that ran."""
        before = len(self.runner.jobs)
        self.run(self.session(demo_graph(**words)), *stages)
        return self.runner.ran[before:]

    def lose(self, label: str) -> None:
        """Lose the contents that a finished step left."""
        assert isinstance(self.store, MemoryStore)
        for manifest in self.store.manifests():
            if manifest.label == label:
                for blob in manifest.outputs.values():
                    self.store.quarantine(blob, "a test lost it")

    def why(self, label: str) -> str:
        """Reason for which a step ran the last time."""
        mine = [event.what for event in self.events if event.step.label == label]
        return [what.reason for what in mine if isinstance(what, Explained)][-1]

    def told(self, label: str) -> list[str]:
        """The kinds of events that a step had, in order, but for its explanation, which comes at any time."""
        kinds = [event.what.kind for event in self.events if event.step.label == label]
        return [kind for kind in kinds if kind != "explained"]


@pytest.fixture
def bench(repository: Path) -> Bench:
    """An empty store in memory over the small repository."""
    return Bench(repository)
