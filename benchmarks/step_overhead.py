"""The overhead of a step: scripts that do nothing, through the local runner and by themselves.

    python -m benchmarks.step_overhead --steps 1000 --slots 2

Prints milliseconds of wall-clock time a step, for both, in turns of 100 so that a busy machine slows both.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.runners.scripts import attempt
from translations_assets.records.manifest import Blob
from translations_assets.runners.local import LocalRunner
from translations_assets.running.job import Job, Outcome
from translations_assets.running.protocols import Store
from translations_assets.store.open import open_store

_TURN = 100
_FILES = {
    "pipeline/__init__.py": "",
    "pipeline/nothing.py": (
        "import pathlib, sys\n"
        "out = pathlib.Path(sys.argv[sys.argv.index('--output') + 1])\n"
        "out.mkdir(parents=True)\n"
        "(out / 'done').write_text(sys.argv[2])\n"
    ),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=1000, help="how many steps to run")
    parser.add_argument("--slots", type=int, default=2, help="how many of them at once")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        steps, plain = measure(Path(folder), options.steps, options.slots)
    print(f"{options.steps} steps, {options.slots} at once: {steps:.1f} ms a step through the local runner")
    print(f"the same scripts by `python -m` alone:  {plain:.1f} ms each")
    print(f"overhead:                               {steps - plain:.1f} ms a step")


def measure(folder: Path, steps: int, slots: int) -> tuple[float, float]:
    """Milliseconds of wall-clock time each: a step through the runner, the script by itself."""
    store = open_store(str(folder / "store"))
    bundle = store.add_bytes(_bundle())
    runner = LocalRunner(folder / "state", cpus=slots, gpus=[])
    code = folder / "code"
    for name, text in _FILES.items():
        (code / name).parent.mkdir(parents=True, exist_ok=True)
        (code / name).write_text(text)
    by_runner = by_python = 0.0
    with ThreadPoolExecutor(slots) as pool:
        for first in range(0, steps, _TURN):
            turn = range(first, min(first + _TURN, steps))
            by_runner += _timed(pool, turn, lambda n: _run_step(runner, store, bundle, n))
            by_python += _timed(pool, turn, lambda n: _run_plain(code, folder / f"plain.{n}", n))
    return by_runner / steps * 1000, by_python / steps * 1000


def _timed(pool: ThreadPoolExecutor, numbers: range, action: Callable[[int], None]) -> float:
    start = time.perf_counter()
    for _ in pool.map(action, numbers):
        pass
    return time.perf_counter() - start


def _run_step(runner: LocalRunner, store: Store, bundle: Blob, number: int) -> None:
    job = Job(
        key=f"{number:064x}",
        generation=1,
        attempt=1,
        label=f"nothing-{number}",
        script="pipeline.nothing",
        command=("--number", str(number), "--output", "out"),
        inputs={},
        outputs=("done",),
        bundle=bundle,
        worker="cpu",
    )
    outcome: Outcome = attempt(runner, job, store, threading.Event(), lambda event: None)
    if outcome.kind != "done":
        raise SystemExit(f"{job.label} did not finish: {outcome}")


def _run_plain(code: Path, output: Path, number: int) -> None:
    command = [sys.executable, "-m", "pipeline.nothing", "--number", str(number), "--output", str(output)]
    subprocess.run(command, cwd=code, check=True)


def _bundle() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, text in _FILES.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return buffer.getvalue()


if __name__ == "__main__":
    main()
