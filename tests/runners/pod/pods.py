"""Pods without a cluster: the command that a pod runs, as a process in an empty folder."""

from __future__ import annotations

import itertools
import os
import site
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from translations_assets.runners.batch.member import member
from translations_assets.runners.batch.stored_log import StoredLog
from translations_assets.runners.pod import bootstrap
from translations_assets.runners.pod.bundle import worker_bundle
from translations_assets.runners.wire import LAST_WORDS, NODE, POD, PodRequest, Reply, unpack_reply
from translations_assets.running.events import JobEvent
from translations_assets.running.job import Job, Outcome
from translations_assets.running.protocols import Store
from translations_assets.store.open import open_store, reader_of

# As in an image, which holds the libraries and no checkout: -S passes over the .pth file that names it
_NUMBERS = itertools.count(1)
_IMAGE = "import sys; sys.path += {folders!r}; exec({text!r})"


@dataclass(frozen=True)
class Ended:
    """A pod that has ended: exit code, what it printed, its replies in order of its jobs."""

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


class Pod(subprocess.Popen[bytes]):
    """A pod that runs: its name, the command's last words, and the file for those to the kubelet."""

    name: str
    words: list[str]
    last_words: Path


def start(words: list[str], folder: Path, environment: Mapping[str, str] | None = None) -> Pod:
    """Start a pod with that command; its scratch disk is a folder below `folder`."""
    (folder / "scratch").mkdir(exist_ok=True)
    name = f"pod-{next(_NUMBERS)}"
    last_words = folder / f"last words of {name}"
    last_words.touch()
    given = {
        "PATH": os.environ["PATH"],
        "TMPDIR": str(folder / "scratch"),
        NODE: "node-7",
        POD: name,
        LAST_WORDS: str(last_words),
    }
    pod = Pod(
        words,
        cwd=folder / "scratch",
        env={**given, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    pod.name, pod.words, pod.last_words = name, words, last_words
    return pod


def ended(pod: Pod, before: bytes = b"") -> Ended:
    """Wait for a pod's end; `before` is what was read of its output already."""
    output, _ = pod.communicate(timeout=120)
    return Ended(pod.returncode, (before + output).decode(), list(_replies(pod)))


def _replies(pod: Pod) -> Iterator[tuple[int, Reply]]:
    """A pod's replies: of each job those that are stored with its log, and how it ended."""
    *_, reader, url, _, digest = pod.words
    defined: dict[str, Any] = {}
    exec(reader, defined)
    try:
        request = PodRequest.from_bytes(defined["read"](url, f"blobs/{digest[:2]}/{digest}"))
    except FileNotFoundError:
        return
    store = open_store(url)
    words = dict(map(unpack_reply, pod.last_words.read_bytes().splitlines()))
    for number, job in enumerate(request.jobs):
        log = StoredLog(store, member(job), pod.name)
        yield from ((number, new) for new in log.read(ended=True) if isinstance(new, JobEvent))
        if manifest := store.generation(*job.step):
            yield number, Outcome("done", manifest)
        elif number in words:
            word = words[number]
            short = replace(word, log_tail="") if isinstance(word, Outcome) else None
            assert log.outcome in (None, short)
            yield number, word


def run(store: Store, folder: Path, *jobs: Job, **request: Any) -> Ended:
    """Run a pod to its end."""
    return ended(start(command(store, *jobs, **request), folder))


def read_until(pod: Pod, text: bytes) -> bytes:
    """Read a pod's output up to a line that contains a text."""
    assert pod.stdout is not None
    read = b""
    while line := pod.stdout.readline():
        read += line
        if text in line:
            return read
    raise AssertionError(f"{text!r} never came, but {read!r}")
