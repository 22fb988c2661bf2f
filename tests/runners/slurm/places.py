"""A store, a Slurm, and runs that use them."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.runners.scripts import Cancel, attempt, eventually, job, written
from tests.slurm.daemons import Slurm
from translations_assets.config.deployment import Slurm as Settings
from translations_assets.runners.slurm.runner import SlurmRunner
from translations_assets.running.events import JobEvent, Waiting
from translations_assets.running.job import Job, Outcome
from translations_assets.store.local import LocalStore

TALK = """
    import pathlib, sys, time
    root = pathlib.Path({root!r})
    number = 0
    while not (root / "go").exists():
        print("line", number, flush=True)
        number += 1
        time.sleep(0.05)
    pathlib.Path("out").mkdir()
    pathlib.Path("out/copy.txt").write_text("done")
"""


HOLD = written("print('begun', flush=True); time.sleep(600)")
SAVES = written(
    """
import signal
def stop(*_):
    print('told to end', flush=True)
    sys.exit(75)
signal.signal(signal.SIGTERM, stop)
print('begun', flush=True)
time.sleep(600)
"""
)


class Run:
    """One orchestrator: a runner of its own, and a thread for each step that it wants."""

    def __init__(self, place: Place, settings: Settings) -> None:
        self.place, self.cancel = place, Cancel()
        self.lines: dict[str, list[str]] = defaultdict(list)
        self.events: list[JobEvent] = []
        self.runner = SlurmRunner(settings, self._take_line)
        self._pool = ThreadPoolExecutor(64)

    def start(self, work: Job, cancel: Cancel | None = None) -> Future[Outcome]:
        """Begin an attempt, which ends with the run, or when it is cancelled by itself."""
        return self._pool.submit(
            attempt, self.runner, work, self.place.store, cancel or self.cancel, self.events.append
        )

    def make(self, work: Job) -> Outcome:
        """Make an attempt."""
        return self.start(work).result(120)

    def begun(self, label: str = "step-0") -> None:
        """Wait until a script has begun."""
        assert eventually(lambda: any("begun" in line or "line" in line for line in self.lines[label]), 60), (
            self.told
        )

    @property
    def told(self) -> list[str]:
        """Reported reasons for which steps wait."""
        return [event.message for event in self.events if isinstance(event, Waiting)]

    def close(self) -> None:
        """Cancel what this run does, and end."""
        self.cancel.set()
        self._pool.shutdown()
        self.runner.close()

    def _take_line(self, label: str, line: bytes) -> None:
        self.lines[label].append(line.decode())


class Place:
    """Resources that several runs share."""

    def __init__(self, root: Path, slurm: Slurm) -> None:
        self.root, self.slurm = root, slurm
        self.store = LocalStore(root / "store")
        self.runs: list[Run] = []

    def run(self, worker_class: Mapping[str, Any] | None = None, **slurm: Any) -> Run:
        """A new orchestrator, with a deployment of one worker class."""
        self.runs.append(Run(self, self.settings(worker_class, **slurm)))
        return self.runs[-1]

    def settings(self, worker_class: Mapping[str, Any] | None = None, **slurm: Any) -> Settings:
        """The settings of a cluster with one worker class."""
        values = {
            "folder": str(self.root / "jobs"),
            "python": [sys.executable],
            "worker-classes": {"cpu": worker_class or {}},
            **{name.replace("_", "-"): value for name, value in slurm.items()},
        }
        return Settings.model_validate_json(json.dumps(values))

    def talking(self, **changes: Any) -> Job:
        """A step that writes a line every 50 ms until `go` is called."""
        return self.job(TALK.format(root=str(self.root)), **changes)

    def job(self, script: str, number: int = 0, **changes: Any) -> Job:
        """A step of the stage `train_teacher`; steps with other numbers are other steps."""
        values = {"key": f"{number:064x}", "label": f"step-{number}", "stage": "train_teacher", **changes}
        return job(self.store, script, **values)

    def live(self) -> str:
        """The one job that goes on."""
        (uid,) = self.slurm.live()
        return uid

    def go(self) -> None:
        """Let the talking steps end."""
        (self.root / "go").touch()

    def close(self) -> None:
        """End all runs, and let their scripts end."""
        self.go()
        for run in self.runs:
            run.close()
        for uid in self.slurm.live():
            self.slurm.ask("scancel", uid, check=False)
