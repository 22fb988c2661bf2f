"""Small steps for the tests of the runners: bundles of a script or two, and jobs that run them."""

from __future__ import annotations

import io
import os
import tarfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE
from translations_assets.runners.local import LocalRunner
from translations_assets.runners.slots import Claim, Slots
from translations_assets.running.events import JobEvent
from translations_assets.running.job import Job, Outcome
from translations_assets.running.protocols import Store
from translations_assets.running.runner import Runner, Submission
from translations_assets.running.tasks import finish

KEY = "ab" * 32

COPY = """
    import argparse, pathlib
    parser = argparse.ArgumentParser()
    parser.add_argument("--text", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    options.output.mkdir()
    (options.output / "copy.txt").write_text(options.text.read_text() if options.text else "no input")
"""


def job(store: Store, script: str, **changes: Any) -> Job:
    """A job that runs `script`, the text of a module, as `pipeline.script`."""
    members = {"pipeline/__init__.py": "", "pipeline/script.py": textwrap.dedent(script)}
    values: dict[str, Any] = {
        "key": KEY,
        "generation": 1,
        "attempt": 1,
        "label": "copy-en",
        "script": "pipeline.script",
        "command": ("--output", "out"),
        "inputs": {},
        "outputs": ("copy.txt",),
        "bundle": store.add_bytes(tar(members)),
        "worker": "cpu",
    }
    return Job(**{**values, **changes})


def tar(members: Mapping[str, str]) -> bytes:
    """A code bundle: name → text."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, text in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return buffer.getvalue()


def eventually(condition: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """True if something becomes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def leftovers(store: Path) -> list[str]:
    """Leftovers of processes that worked in a store: nothing but its two locks that are never removed."""
    names = [
        f"{folder}/{path.name}" for folder in ("work", "tmp", "locks") for path in (store / folder).glob("*")
    ]
    return sorted(set(names) - {"locks/blobs", "locks/gc"})


def alive(pid: int) -> bool:
    """True if a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # it may end between opening and reading
        return False


def processes_of(folder: Path) -> list[int]:
    """Live processes whose environment or command names a folder."""
    mark = str(folder).encode()
    return [int(name) for name in os.listdir("/proc") if name.isdecimal() and _mentions(int(name), mark)]


def _mentions(pid: int, mark: bytes) -> bool:
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
    return mark in environment and alive(pid) and pid != os.getpid()


def run(runner: LocalRunner, store: Store, work: Job) -> Outcome:
    """Run one attempt to its end."""
    return attempt(runner, work, store, threading.Event(), lambda event: None)


def attempt(
    runner: Runner, work: Job, store: Store, cancel: threading.Event, on_event: Callable[[JobEvent], None]
) -> Outcome:
    """The same, which can be cancelled, with its events."""
    woken, longest = threading.Event(), 0.1  # seconds; as often as who cancels would have it resumed
    if isinstance(cancel, Cancel):
        cancel.wakes.append(woken.set)
        longest = PATIENCE
    work_of_it = runner.run(Submission(work, store, cancel, on_event, woken.set))
    return finish(work_of_it, partial(_wait, woken, longest))


class Cancel(threading.Event):
    """Cancels attempts and wakes their work, which is resumed at no other time than it asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.wakes: list[Callable[[], None]] = []

    def set(self) -> None:
        super().set()
        for wake in self.wakes:
            wake()


@contextmanager
def held(slots: Slots, cpus: int, gpus: int, cancel: threading.Event) -> Iterator[Claim | None]:
    """Wait for slots and hold them; None when cancelled before."""
    woken = threading.Event()
    with slots.claim(cpus, gpus, woken.set) as claim:
        yield claim if finish(claim.acquire(cancel), partial(_wait, woken, 0.1)) else None


def _wait(woken: threading.Event, longest: float, seconds: float) -> None:
    woken.wait(min(seconds, longest))
    woken.clear()


def output(store: Store, outcome: Outcome, name: str = "copy.txt") -> str:
    """The text of an output of a step that is done."""
    assert outcome.manifest is not None, outcome.message + "\n" + outcome.log_tail
    return store.read_blob(outcome.manifest.outputs[name]).decode()


def written(script: str) -> str:
    """A script that makes its output folder, does something, and writes its output."""
    return f"""
import os, pathlib, sys, time
out = pathlib.Path("out")
out.mkdir()
{script}
(out / "copy.txt").write_text("done")
"""
