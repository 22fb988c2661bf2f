"""Times whole commands, as a person would feel them."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

BIN = Path(sys.executable).parent


def seconds(command: Sequence[str], environment: Mapping[str, str], cwd: Path | None = None) -> float:
    """Wall-clock seconds of one run of a command; its output is shown when it fails."""
    start = time.perf_counter()
    done = subprocess.run(
        command, env={**os.environ, **environment}, cwd=cwd, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}")
    return time.perf_counter() - start


def processor_seconds() -> float:
    """Sum up the processor time of this process and its ended children: others change it little."""
    return sum(os.times()[:4])


def report(name: str, values: Sequence[float], bar: str) -> None:
    """Print minimum, median and maximum of several runs beside the bar."""
    print(
        f"{name}: {min(values):.2f} / {statistics.median(values):.2f} / {max(values):.2f} s "
        f"(min / median / max of {len(values)} runs; bar: {bar})"
    )
