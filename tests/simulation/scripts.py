"""Scripts of the simulation's graph, which take virtual time, and a worker that runs one.

The worker is the real one: it owns the step, places inputs, ships the log, stores checkpoint sets and the
result. Only its script, and what it asks the machine's kernel for, are made up.
"""

from __future__ import annotations

import hashlib
import json
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import patch

from tests.simulation.kernel import Event, Kernel
from tests.simulation.service import full_disk
from translations_assets.common.background import Repeating
from translations_assets.runners import attempt, local, work_folder, worker
from translations_assets.runners.control import Control, LifeLine
from translations_assets.runners.wire import Detached, Ending, Reply, Request
from translations_assets.running import engine
from translations_assets.running.events import JobEvent, Started
from translations_assets.running.job import Outcome
from translations_assets.running.protocols import Store
from translations_assets.running.runner import Submission

if TYPE_CHECKING:
    from tests.simulation.world import World

SETS = 4  # that a training saves
STOPPING_SECONDS = 3.0  # a script that is told to end may take


class Script:
    """A script's process: see `runners.script.ScriptProcess`."""

    pid, cpu_seconds, largest_memory = 1, 0.0, 0

    def __init__(
        self,
        world: World,
        script: str,
        command: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        log: Path,
    ) -> None:
        self._world, self._script, self._command, self._folder, self._log = world, script, command, cwd, log
        self._kernel = kernel = world.kernel
        self.started = 0.0
        self._ended, self._told = Event(kernel), Event(kernel)
        self._code: int | None = None
        world.checks.begins(kernel.process)
        kernel.spawn(kernel.process, "script", self._main)

    def exited(self) -> bool:
        """True if the script has ended."""
        return self._ended.is_set()

    def terminate(self) -> None:
        """Ask the script to end."""
        self._told.set()

    def kill(self, beside: int = 0) -> int:
        """Kill what is left of it; its exit code."""
        self._code = -signal.SIGKILL if self._code is None else self._code
        return self._code

    def _main(self) -> None:
        process = self._kernel.process
        process.script_began = process.clock
        try:
            code = self._run()
        except OSError as error:
            with self._log.open("a") as file:
                file.write(f"{error}\n")
            code = 1
        process.script_ended = process.clock
        if self._code is None:
            self._code = code
        self._ended.set()

    def _run(self) -> int:
        """Work; the exit code."""
        random = self._kernel.random
        with self._log.open("a") as file:
            file.write("begun\n")
        seconds, code = self._world.plan.script_seconds(random), self._world.plan.script_code(random)
        if self._script.endswith("train"):
            if stopped := self._train(seconds):
                return stopped
        elif self._told.wait(seconds):
            return -signal.SIGTERM
        if self._code is None and not code:
            self._write_outputs()
        return code

    def _train(self, seconds: float) -> int:
        """Save sets while time passes, from the newest on that is there."""
        folder = self._folder / "checkpoints"
        done = max((self._read_set(path) for path in folder.iterdir()), default=0)
        for number in range(done + 1, SETS + 1):
            told = self._told.wait(seconds / SETS)
            if self._code is not None:
                return -signal.SIGKILL
            self._save(folder, number)
            if told:
                return -signal.SIGTERM
        return 0

    def _save(self, folder: Path, number: int) -> None:
        self._need_room()
        made = folder / f".{number}"
        made.mkdir()
        for name in ("model", "optimizer"):
            (made / name).write_text(json.dumps([number, name]))
        made.rename(folder / f"update-{number}")

    def _read_set(self, folder: Path) -> int:
        """The updates of a set; its files must be whole, and of one moment."""
        read = [json.loads((folder / name).read_text()) for name in ("model", "optimizer")]
        number = int(folder.name.removeprefix("update-"))
        assert read == [[number, "model"], [number, "optimizer"]], f"{folder.name} is half of a set: {read}"
        return number

    def _need_room(self) -> None:
        if not self._kernel.process.has_disk:
            raise full_disk()

    def _write_outputs(self) -> None:
        self._need_room()
        folder = self._folder / "out"
        folder.mkdir(exist_ok=True)
        inputs = sorted(path for path in (self._folder / "in").rglob("*") if path.is_file())
        read = [hashlib.sha256(path.read_bytes()).hexdigest() for path in inputs]
        chance = self._kernel.random.getrandbits(64) if self._script.endswith("train") else 0
        text = json.dumps([self._script, self._command, read, chance])
        (folder / "text.txt").write_text(text)


class _Control(Control):
    """Waits as the real one, on virtual time; no signals are there."""

    def __init__(self, kernel: Kernel) -> None:
        self.cancelled = self.lease_lost = self._signal = ""
        self.committing = False
        self._kernel, self._event = kernel, Event(kernel)

    def wait(self, seconds: float) -> None:
        """Wait for `cancel`, at most so long."""
        self._event.wait(seconds)
        self._event.clear()

    def cancel(self, reason: str) -> None:
        """Have the worker end."""
        self.cancelled = self.cancelled or reason
        self._event.set()


class _LifeLine(LifeLine):
    """Watches its orchestrator's end, or its closing of the line."""

    def __init__(
        self,
        kernel: Kernel,
        closed: Sequence[Event],
        control: Control,
        waiters: Callable[[], int],
        detached: Callable[[], None],
        report: Callable[[str], object],
    ) -> None:
        super().__init__(-1, control, waiters, detached, report)
        self._kernel, self._lines = kernel, closed

    def _check(self) -> None:
        self._kernel.wait(self._lines)
        self._closed = self._closed or self._clock.monotonic()
        if self._may_detach(self._clock.monotonic() - self._closed) and not self._reported:
            self._detached()
            self._reported = True


class WorkerProcess:
    """A worker and its life line: see `runners.local.WorkerProcess`, which starts a real process."""

    def __init__(
        self,
        world: World,
        submission: Submission,
        slots: object,
        errors: object,
        leave: Callable[[], None],
        start: object,
    ) -> None:
        self._world, self._kernel, self._submission, self._leave = world, world.kernel, submission, leave
        self._closed, self._said = Event(world.kernel), Event(world.kernel)
        self._replies: list[Reply] = []
        self._orchestrator = world.kernel.process
        self._process = world.start(f"worker of {submission.job.label}", self._orchestrator.machine)
        world.parents[self._process] = self._orchestrator
        self._deadline = float("inf")
        self._saves = False

    def run(self, request: Request) -> Ending | Detached:
        """Have it make an attempt, forward its events, and report the outcome."""
        self._kernel.spawn(self._process, "worker", lambda: self._main(request))
        while True:
            while self._replies:
                reply = self._replies.pop(0)
                if not isinstance(reply, JobEvent):
                    return reply
                self._saves = self._saves or (isinstance(reply, Started) and self._submission.job.resumable)
                self._submission.on_event(reply)
            if not self._process.is_alive:
                return Outcome("temporary", message="the worker was killed")
            if self._submission.cancel.is_set() and self._deadline == float("inf"):
                self._deadline = self._kernel.now + 8.0
                self._leave()
                self._closed.set()
            if self._kernel.now > self._deadline:
                if self._saves:
                    return Detached()
                self._process.end()
            self._said.clear()
            if self._deadline == float("inf"):
                cancel = cast(Event, self._submission.cancel)  # in the simulation it is one
                self._kernel.wait((self._said, self._process.ended, cancel))
            else:
                self._kernel.wait((self._said, self._process.ended), 0.2)

    def _say(self, reply: Reply) -> None:
        self._replies.append(reply)
        self._said.set()

    def _main(self, request: Request) -> None:
        control = _Control(self._kernel)

        def owned(store: Store, note: Callable[[str], None]) -> None:
            lines = [self._closed, self._orchestrator.ended]
            job = request.job

            def waiters() -> int:
                return store.owners.waiters(job.key, job.generation)

            _LifeLine(self._kernel, lines, control, waiters, lambda: self._say(Detached()), note).start()

        self._world.checks.works(self._process, request.job.step)
        ending = worker.make_attempt(
            request, lambda: self._world.store(self._process), control, self._say, owned=owned
        )
        self._say(ending)
        self._process.end()


class _Monitor:
    peak_memory = peak_disk = 0

    def __init__(self, *_: object) -> None:
        pass

    def sample(self) -> None:
        """Measure nothing."""


def _seldom(
    name: str, action: Callable[[], None], seconds: float, report: Callable[[str], None]
) -> Repeating:
    """What is shipped while a script runs is looked at each five seconds, not each."""
    return Repeating(name, action, 5 * seconds, report)


@contextmanager
def made_up(world: World) -> Iterator[None]:
    """Within the block workers run the simulation's scripts, and ask the machine for nothing."""
    replaced: list[tuple[Any, dict[str, Any]]] = [
        (local, {"WorkerProcess": lambda *args: WorkerProcess(world, *args)}),
        (local, {"_OWNER_SECONDS": 4.0}),
        (local, {"script_memory": lambda: 1 << 30, "workspace": lambda gpus: 1000}),
        (
            attempt,
            {
                "ScriptProcess": lambda *args, **kwargs: Script(world, *args, **kwargs),
                "Monitor": _Monitor,
                "other_programs": lambda programs: "",
                "out_of_memory_kills": lambda: 0,
                "toolchain": lambda libraries, gpus: {},
                "unpack": lambda *_: None,
            },
        ),
        # fewer looks in vain
        (engine, {"LOOK_SECONDS": 5.0}),
        (attempt, {"_CHECK_SECONDS": 5.0, "Repeating": _seldom}),
        (work_folder, {"end_processes": lambda path: None}),
    ]
    with ExitStack() as stack:
        for module, names in replaced:
            stack.enter_context(patch.multiple(module, **names))
        yield
