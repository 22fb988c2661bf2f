"""Kills parts of a run of the tiny pair at random moments, starts it again, and looks at what comes of it."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

import psutil

from tests.end_to_end.damage import copy_of
from tests.end_to_end.evidence import (
    defects,
    digests,
    graph_of,
    manifest_files,
    newest,
    processes,
    repeated,
    results,
    scratch,
    seconds_until,
    store_folder,
    unequal,
)
from tests.end_to_end.tiny import BIN, PARTITION, Place
from tests.runners.scripts import alive

VICTIMS = ("orchestrator", "worker", "group", "everything")
GONE_SECONDS = 60.0  # what a kill leaves behind has to be gone by then
_RUN_SECONDS = 600.0
_LOOK_SECONDS = 0.02
_EARLY = 0.2  # share of kills some time after the start, whether or not a step runs yet


@dataclass
class Disturbance:
    """Runs of a place that are killed and started again until one ends by itself.

    victims  kinds of what is killed, in turn:
      orchestrator  the process of `translations train` alone
      worker        one of its workers alone
      group         the process group of `translations train`
      everything    all processes of the place at once, as when a machine goes away
    longest_wait  seconds until the next kill, once a step runs
    """

    place: Place
    target: str
    chance: random.Random
    victims: Iterator[str] = field(default_factory=lambda: cycle(VICTIMS))
    longest_wait: float = 6.0
    killed: Counter[str] = field(default_factory=Counter)
    starts: int = 0
    slowest_end: float = 0.0
    problems: list[str] = field(default_factory=list)

    def run(self, kills: int) -> int:
        """Kill so many times at most, then let the run end; how many times it was."""
        done, run, left = 0, self._start(), set[str]()
        kept = manifest_files(self.place)
        while done < kills and not self._ended_at_random_moment(run):
            made = len(manifest_files(self.place)) > len(kept)
            kind = next(self.victims)
            if not self._kill(kind, run):
                break  # it has just ended
            done += 1
            self.killed[kind] += 1
            if made:  # a worker has started since, which sweeps what the last kill left
                self._complain(sorted(left & scratch(self.place)), "was left by the kill before")
            kept = self._check_kept(kept)
            if run.poll() is not None:
                left, run = scratch(self.place), self._start()
        if not self._ended(run, _RUN_SECONDS):
            run.kill()
            self.problems.append(f"the run does not end within {_RUN_SECONDS} s")
        elif run.returncode:
            self.problems.append(f"the last run failed: {self._output(self.starts)[-2000:]}")
        self._check_kept(kept)
        self._check_end()
        return done

    def _start(self) -> subprocess.Popen[bytes]:
        self.starts += 1
        command = [str(BIN / "translations"), "train", PARTITION, "--yes", "--target", self.target]
        with self._output_file(self.starts).open("wb") as output:
            return subprocess.Popen(
                command,
                env=self.place.environment,
                cwd=self.place.root,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _output_file(self, start: int) -> Path:
        return self.place.root / f"output-{start}.txt"

    def _output(self, start: int) -> str:
        return self._output_file(start).read_text(encoding="utf-8", errors="replace")

    def _ended_at_random_moment(self, run: subprocess.Popen[bytes]) -> bool:
        """Let some time go by, mostly in which steps run; whether the run has ended by itself meanwhile."""
        if self.chance.random() < _EARLY:
            return self._ended(run, self.chance.uniform(0.2, 5.0))
        while not _workers(run.pid) and run.poll() is None:
            time.sleep(_LOOK_SECONDS)
        return self._ended(run, self.chance.uniform(0.0, self.longest_wait))

    def _ended(self, run: subprocess.Popen[bytes], seconds: float) -> bool:
        try:
            run.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _kill(self, kind: str, run: subprocess.Popen[bytes]) -> bool:
        """Kill, and see that what depends on it ends; False when there was nothing to kill."""
        if kind == "worker":
            return self._kill_worker(run)
        if run.poll() is not None:
            return False
        if kind == "group":
            os.killpg(run.pid, signal.SIGKILL)
        else:
            self._kill_all([run.pid] if kind == "orchestrator" else [run.pid, *processes(self.place)])
        run.wait(GONE_SECONDS)
        self._see_gone(kind, lambda: processes(self.place))
        return True

    def _kill_worker(self, run: subprocess.Popen[bytes]) -> bool:
        """Kill a worker that has a script; the orchestrator goes on and tries the step again."""
        while not (workers := _workers(run.pid)):
            if run.poll() is not None:
                return False
            time.sleep(_LOOK_SECONDS)
        worker, scripts = self.chance.choice(workers)
        self._kill_all([worker])
        self._see_gone("worker", lambda: [pid for pid in (worker, *scripts) if alive(pid)])
        return True

    def _kill_all(self, pids: list[int]) -> None:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _see_gone(self, kind: str, living: Callable[[], list[int]]) -> None:
        seconds = seconds_until(lambda: not living(), GONE_SECONDS)
        self.slowest_end = max(self.slowest_end, seconds)
        self._complain([f"process {pid}" for pid in living()], f"lives {seconds} s after a kill of {kind}")

    def _check_kept(self, kept: dict[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
        now = manifest_files(self.place)
        self._complain([name for name in kept if now.get(name) != kept[name]], "was finished, and changed")
        return now

    def _check_end(self) -> None:
        """Check the state after a run has ended by itself."""
        graph = graph_of(self.place)
        stages = graph.stage_closure([self.target] if self.target != "all" else graph.stages)
        wanted = {step.label for stage in stages for step in graph.stages[stage]}
        self._complain(sorted(wanted - set(results(self.place))), "has no result")
        self._complain(defects(self.place), "in the store")
        self._complain(repeated(self.place), "although finished")
        self._complain(sorted(scratch(self.place)), "is left at the end")
        self._complain([f"process {pid}" for pid in processes(self.place)], "lives after the end")
        told = Counter(
            label
            for start in range(1, self.starts + 1)
            for label in re.findall(r"\] (\S+) done after", self._output(start))
        )
        self._complain([label for label, times in told.items() if times > 1], "was told to be done twice")

    def _complain(self, things: list[str], what: str) -> None:
        self.problems += [f"{thing} {what}" for thing in things]


def _workers(pid: int) -> list[tuple[int, list[int]]]:
    """The workers of a run that have a script, each with its own children."""
    return [(worker, scripts) for worker in _children(pid) if (scripts := _children(worker))]


def _children(pid: int) -> list[int]:
    """Live processes that a process started itself."""
    with suppress(psutil.NoSuchProcess):
        return [child.pid for child in psutil.Process(pid).children() if alive(child.pid)]
    return []


def repeatable_labels(place: Place) -> list[str]:
    """Labels of the steps that are declared to give the same bytes again."""
    return [step.label for step in graph_of(place).steps if step.repeatable]


def without_repeatable(place: Place, root: Path) -> Place:
    """Another place that has of the first's results only those that cannot be repeated byte by byte."""
    shutil.copytree(place.root / "configs", root / "configs")
    other = Place(root)
    for folder in ("blobs", "steps"):
        shutil.copytree(store_folder(place) / folder, store_folder(other) / folder)
    labels = set(repeatable_labels(place))
    for label, manifest in newest(other).items():
        if label in labels:
            shutil.rmtree(store_folder(other) / "steps" / manifest.key[:2] / manifest.key)
    return other


def trained_as(other: Place, place: Place) -> Place:
    """The other place, given the first's results that cannot be repeated byte by byte in place of its own."""
    one, two = store_folder(place), store_folder(other)
    shutil.copytree(one / "blobs", two / "blobs", dirs_exist_ok=True, copy_function=_copy_new)
    repeatable = set(repeatable_labels(place))
    for label, manifest in results(place).items():
        if label not in repeatable:
            step = Path("steps", manifest.key[:2], manifest.key)
            shutil.rmtree(two / step)
            shutil.copytree(one / step, two / step)
    return other


def _copy_new(source: str, target: str) -> None:
    if not Path(target).exists():
        shutil.copy2(source, target)


def differences(place: Place, root: Path, target: str, made: Place | None = None) -> tuple[int, list[str]]:
    """Make every repeatable step again, undisturbed, in another store, from the same trained models.

    made  a place with the same config, in which the target was made undisturbed: only what is made from the
          models is made again

    How many steps were compared, and what differs.
    """
    other = trained_as(copy_of(made, root), place) if made else without_repeatable(place, root)
    done = other.run("translations", "train", PARTITION, "--yes", "--target", target)
    if done.returncode:
        return 0, [f"the undisturbed run failed: {done.stderr[-2000:]}"]
    one, two = digests(place), digests(other)
    labels = [label for label in repeatable_labels(place) if label in one]
    return len(labels), [f"{label} has other bytes" for label in unequal(one, two, labels)]
