"""Pods without a cluster: the command that a pod runs, as a process in an empty folder."""

from __future__ import annotations

import os
import site
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from translations_assets.runners.pod import bootstrap
from translations_assets.runners.pod.bundle import worker_bundle
from translations_assets.runners.wire import NODE, POD, RECORD, PodRequest, Reply, unpack_reply
from translations_assets.running.job import Job, Outcome
from translations_assets.running.protocols import Store
from translations_assets.store.open import reader_of

# As in an image, which holds the libraries and no checkout: -S passes over the .pth file that names it
_IMAGE = "import sys; sys.path += {folders!r}; exec({text!r})"


@dataclass(frozen=True)
class Ended:
    """A pod that has ended: exit code, what its scripts printed, its replies in order."""

    code: int
    log: str
    replies: list[tuple[int, Reply]]

    @property
    def outcomes(self) -> list[Outcome]:
        """Outcomes of its jobs."""
        return [reply for _, reply in self.replies if isinstance(reply, Outcome)]


def command(store: Store, *jobs: Job, worker: bytes = b"", **request: Any) -> list[str]:
    """The command of a pod that makes attempts of some jobs."""
    values: dict[str, Any] = {"store": store.url, "gpus": 0, "machine": "spot", **request}
    asked = store.add_bytes(PodRequest(jobs=jobs, **values).to_bytes())
    code = store.add_bytes(worker or worker_bundle())
    text = Path(bootstrap.__file__).read_text(encoding="utf-8")
    image = _IMAGE.format(folders=site.getsitepackages(), text=text)
    return [sys.executable, "-I", "-S", "-c", image, reader_of(store), store.url, code.digest, asked.digest]


def start(
    words: list[str], folder: Path, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a pod with that command; its scratch disk is a folder below `folder`."""
    (folder / "scratch").mkdir(exist_ok=True)
    given = {"PATH": os.environ["PATH"], "TMPDIR": str(folder / "scratch"), NODE: "node-7", POD: "pod-1"}
    return subprocess.Popen(
        words,
        cwd=folder / "scratch",
        env={**given, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def ended(pod: subprocess.Popen[bytes], before: bytes = b"") -> Ended:
    """Wait for a pod's end; `before` is what was read of its output already."""
    output, _ = pod.communicate(timeout=120)
    lines = (before + output).splitlines(keepends=True)
    replies = [unpack_reply(line) for line in lines if line.startswith(RECORD)]
    log = b"".join(line for line in lines if not line.startswith(RECORD))
    return Ended(pod.returncode, log.decode(), replies)


def run(store: Store, folder: Path, *jobs: Job, **request: Any) -> Ended:
    """Run a pod to its end."""
    return ended(start(command(store, *jobs, **request), folder))


def read_until(pod: subprocess.Popen[bytes], text: bytes) -> bytes:
    """Read a pod's output up to a line that contains a text."""
    assert pod.stdout is not None
    read = b""
    while line := pod.stdout.readline():
        read += line
        if text in line:
            return read
    raise AssertionError(f"{text!r} never came, but {read!r}")
