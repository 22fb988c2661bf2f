"""The world of a simulation: machines, processes, people, and the one store that all use."""

from __future__ import annotations

import gc
import logging
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, cast, get_args

from tests.running.conftest import demo_config, graph_of, write_repository
from tests.session import new_folder
from tests.simulation.checks import Checks, WatchedBudget
from tests.simulation.kernel import Event, Kernel, Machine, Process
from tests.simulation.plan import Happening, Plan
from tests.simulation.scripts import made_up
from tests.simulation.service import Faults, Service
from tests.simulation.threads import in_simulation
from translations_assets.common.errors import TranslationsError
from translations_assets.config.deployment import Costs, WorkerClassName
from translations_assets.graph.graph import Graph
from translations_assets.graph.stage import Stage, stage, step
from translations_assets.graph.step import Output, Step
from translations_assets.keys.key import KeyMaker
from translations_assets.records.retention import Rules
from translations_assets.runners.local import LocalRunner
from translations_assets.running.engine import Engine
from translations_assets.running.events import StepEvent
from translations_assets.running.prices import Prices
from translations_assets.running.session import Session
from translations_assets.store.bucket.leases import Leases
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.gc import collect
from translations_assets.store.verify import verify

DAYS = 3 * 86400.0  # between phases
RULES = Rules(keep_days=1, keep_refs=1, grace_days=0)
OLD = 0.4  # share of runs that make again what was made days before
LONGEST = 6 * 3600.0  # that a run may take once nothing goes wrong any more
PARTITION = "en-ru"
SPACES = ("ann", "bob")
_BUG = re.compile(r"\ba bug\b|\b[A-Z]\w+(?:Error|Exception)\b")  # in the words with which a step ends
LIMITED = 0.3  # share of runs that have a budget
PRICES = Prices(  # a second costs 1
    Costs.model_validate({"worker-classes": {name: {"price": 3600} for name in get_args(WorkerClassName)}}),
    None,
    lambda stage: "",
)


@cache
def _graph(version: int) -> Graph:
    """Two texts → a training, which is resumable and not repeatable → its evaluation; as of some days."""

    @stage(group="demo")
    def texts(config: Any) -> list[Output]:
        """Two texts."""
        made = [
            step(
                "pipeline.demo.write",
                label=f"write-{name}",
                args={"word": f"{name}{version}"},
                outputs=["text.txt"],
            )
            for name in ("a", "b")
        ]
        return [one["text.txt"] for one in made]

    @stage(group="demo")
    def model(config: Any, texts: list[Output]) -> Output:
        """A model."""
        made = step(
            "pipeline.demo.train",
            label="train",
            inputs={"texts": texts},
            outputs=["text.txt"],
            repeatable=False,
            resumable=True,
        )
        return made["text.txt"]

    @stage(group="demo")
    def evaluation(config: Any, model: Output) -> Output:
        """The model's score."""
        return step("pipeline.demo.count", label="score", inputs={"model": model}, outputs=["text.txt"])[
            "text.txt"
        ]

    stages: Mapping[str, Stage] = {made.name: made for made in (texts, model, evaluation)}
    return graph_of(stages)


@cache
def _keys() -> KeyMaker:
    root = write_repository(new_folder() / "repository")
    shutil.copy(root / "pipeline/demo/join.py", root / "pipeline/demo/train.py")
    return KeyMaker(root)


@dataclass(eq=False)
class Run:
    """A run of the graph.

    words   how it ended; empty while it has not
    budget  of some runs
    """

    name: str
    process: Process
    cancel: Event
    session: Session | None = None
    words: str = ""
    budget: WatchedBudget | None = None


class World:
    """A plan that is being carried out."""

    def __init__(self, plan: Plan, folder: Path, trace: Callable[[str], None] | None) -> None:
        self.plan, self._folder = plan, folder
        self.kernel = Kernel(plan.seed)
        self._trace = trace
        self.service = Service(self.kernel, Faults(plan.faults), trace=trace and self.tell)
        self.machines = [
            Machine(f"machine {number}", offset, rate) for number, (offset, rate) in enumerate(plan.clocks)
        ]
        self.processes: list[Process] = []
        self.parents: dict[Process, Process] = {}  # worker → its orchestrator
        self.runs: list[Run] = []
        self.checks = Checks(self)
        self.service.after = self.checks.after
        self._number = 0

    def tell(self, words: str) -> None:
        """Add to the trace."""
        if self._trace:
            self._trace(f"{self.kernel.now:12.3f}  {words}")

    def start(self, name: str, machine: Machine) -> Process:
        """Begin a process."""
        self._number += 1
        process = self.kernel.start(f"{name} {self._number}", machine)
        self.processes.append(process)
        return process

    def store(self, process: Process) -> BucketStore:
        """The store, as a process opens it."""
        objects = self.service.of(process)
        store = BucketStore(objects, Leases(objects))
        self.checks.opened(process, store)
        return store

    def carry_out(self) -> None:
        """Let everything happen that is planned, phase by phase, and see to the end of all runs."""
        begin = self.kernel.now
        for phase in sorted({one.phase for one in self.plan.happenings}):
            begin = max(self.kernel.now, begin + DAYS * (phase > 0))
            self.kernel.run(lambda: False, begin)
            for one in self.plan.happenings:
                if one.phase == phase:
                    self.kernel.run(lambda: False, begin + one.at)
                    self.tell(f"--- {one.kind} {one.chance:.2f} {one.seconds:.0f} s")
                    _HAPPEN[one.kind](self, one)
            self._settle()
        self.checks.at_end()

    def _settle(self) -> None:
        """Let time pass until all runs have ended, and nothing is under way."""
        ended = self._wait_for([run.process for run in self.runs])
        self.checks.require(
            ended,
            "a run neither ends nor fails: "
            + ", ".join(run.name for run in self.runs if run.process.is_alive),
        )
        self._wait_for(self.processes)
        self.checks.settled()

    def _wait_for(self, processes: list[Process]) -> bool:
        """Let time pass until some processes have ended; False when they take too long."""
        limit = self.kernel.now + LONGEST
        return all(self.kernel.run(lambda one=process: not one.is_alive, limit) for process in [*processes])  # type: ignore[misc]

    # What happens

    def _pick(self, one: Happening, among: list[Any]) -> Any:
        return among[int(one.chance * len(among))] if among else None

    def _run(self, one: Happening, start: str = "", space: int = 0) -> None:
        process = self.start("run", self._pick(one, self.machines))
        run = Run(f"run-{len(self.runs) + 1}", process, Event(self.kernel))
        self.runs.append(run)
        if one.chance * 100 % 1 < LIMITED:
            is_hard = one.chance * 1000 % 1 < 0.5
            limit, workers = 1 + 300 * one.chance, partial(self._workers, run)
            run.budget = WatchedBudget(limit, PRICES, is_hard, workers=workers, require=self.checks.require)
        is_old = one.chance * 10 % 1 < OLD  # of the days before: what it needs may be collected meanwhile
        graph = _graph(max(0, one.phase - is_old))
        self.kernel.spawn(process, "run", partial(self._orchestrate, run, graph, start, SPACES[space]))

    def _workers(self, run: Run, step: Step) -> list[Process]:
        """The processes that a run has begun to make a step."""
        name = f"worker of {step.label} "
        return [
            worker
            for worker, parent in self.parents.items()
            if parent is run.process and worker.name.startswith(name)
        ]

    def _orchestrate(self, run: Run, graph: Graph, start: str, space: str) -> None:
        try:
            run.words = self._made(run, graph, start, space)
        except TranslationsError as error:
            run.words = str(error)
        self.tell(f"{run.name} ended: {run.words.splitlines()[0]}")
        self.checks.ended(run)
        run.process.end()

    def _made(self, run: Run, graph: Graph, start: str, space: str) -> str:
        store = self.store(run.process)
        runner = LocalRunner(self._folder / run.name, cpus=8, gpus=())
        session = run.session = Session(
            run.name,
            PARTITION,
            space,
            demo_config,
            graph,
            store,
            _keys(),
            repeat=graph.downstream_stages(start) if start else (),
            budget=run.budget,
        )
        session.record.keep_alive()
        try:
            for name, steps in graph.stages.items():
                Engine(store, runner).run(session, steps, cast(Any, run.cancel), partial(self._told, run))
                session.results.publish(name)
            return "done"
        finally:
            session.end()

    def _told(self, run: Run, event: StepEvent) -> None:
        self.checks.told(run, event.what.kind)
        message = getattr(event.what, "message", "").partition("\n")[0]
        words = message.replace(str(self._folder), "FOLDER")
        self.checks.require(not _BUG.search(words), words)
        self.tell(f"{run.name}: {event.step.label} {event.what.kind} {words}")

    def _cancel(self, one: Happening) -> None:
        if run := self._pick(one, [run for run in self.runs if run.process.is_alive]):
            run.cancel.set()

    def _act(self, name: str, one: Happening, act: Callable[[BucketStore], object]) -> None:
        """Let a person type a command."""
        process = self.start(name, self._pick(one, self.machines))

        def work() -> None:
            try:
                act(self.store(process))
            except TranslationsError as error:
                self.tell(f"{process.name}: {error}")
            process.end()

        self.kernel.spawn(process, name, work)

    def _gc(self, one: Happening) -> None:
        def clear(store: BucketStore) -> None:
            collect(store, RULES, delete=True)
            self.checks.collected(self.kernel.process)

        self._act("gc", one, clear)

    def _verify(self, one: Happening) -> None:
        self._act("verify", one, lambda store: self.checks.verified(verify(store)))

    def _pin(self, one: Happening) -> None:
        if run := self._pick(one, self.runs):
            self._act("pin", one, lambda store: store.pin(run.name, "mine"))

    def _unpin(self, one: Happening) -> None:
        if run := self._pick(one, self.runs):
            self._act("unpin", one, lambda store: store.unpin(run.name))

    def _kill(self, what: str, one: Happening) -> None:
        living = [each for each in self.processes if each.is_alive and each.name.startswith(what)]
        if process := self._pick(one, living):
            self.tell(f"{process.name} is killed")
            process.end()

    def _kill_machine(self, one: Happening) -> None:
        machine = self._pick(one, self.machines)
        for process in self.processes:
            if process.machine is machine:
                process.end()

    def _pause(self, one: Happening, *, sleeps: bool = False) -> None:
        machine = self._pick(one, self.machines)
        until = max(machine.paused_until, self.kernel.now + one.seconds)
        if sleeps:
            machine.slept += until - max(machine.paused_until, self.kernel.now)
        machine.paused_until = until

    def _fill_disk(self, one: Happening) -> None:
        self._pick(one, self.machines).full_until = self.kernel.now + one.seconds

    def _cut(self, one: Happening) -> None:
        self.service.cut(self._pick(one, self.machines), one.seconds)

    def _set_clock(self, one: Happening) -> None:
        self._pick(one, self.machines).offset += (one.seconds - 90.0) * 4


_HAPPEN: Mapping[str, Callable[[World, Happening], None]] = {
    "run": World._run,
    "start": lambda world, one: world._run(one, start="model"),
    "other space": lambda world, one: world._run(one, space=1),
    "cancel": World._cancel,
    "gc": World._gc,
    "pin": World._pin,
    "unpin": World._unpin,
    "verify": World._verify,
    "kill run": lambda world, one: world._kill("run", one),
    "kill worker": lambda world, one: world._kill("worker", one),
    "kill machine": World._kill_machine,
    "pause machine": World._pause,
    "sleep machine": lambda world, one: world._pause(one, sleeps=True),
    "cut machine": World._cut,
    "set clock": World._set_clock,
    "fill disk": World._fill_disk,
}


@contextmanager
def world_of(plan: Plan, trace: Callable[[str], None] | None = None) -> Iterator[World]:
    """The world of a plan, ready to be carried out."""
    logger = logging.getLogger("translations_assets")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="simulation.", dir="/dev/shm") as folder:
        world = World(plan, Path(folder), trace)
        with in_simulation(world.kernel), made_up(world), _collected_at_end():
            try:
                yield world
            finally:
                world.kernel.close()
                logger.setLevel(level)


@contextmanager
def _collected_at_end() -> Iterator[None]:
    """Free what the dead have left at the end, and not at any time: it ends as if it were alive."""
    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
    gc.disable()
    try:
        yield
    finally:
        gc.collect()
        gc.enable()
        sys.unraisablehook = hook
