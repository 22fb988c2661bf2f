"""The first code of a pod: what it refuses and how it ends."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.runners.pod import pods
from tests.runners.pod.pods import command, start
from tests.runners.scripts import COPY, eventually, job, tar
from translations_assets.runners.pod.bundle import worker_bundle
from translations_assets.store.local import LocalStore

SIGNAL_IN_CALLBACK = """
import os, signal, weakref

class Thing: pass

def read(store, path):
    thing = Thing()
    kept = weakref.ref(thing, lambda _: [os.kill(os.getpid(), signal.SIGTERM), *map(str, range(9))])
    del thing
    return b""
"""


def blob(store: LocalStore, digest: str) -> Path:
    """Path of contents in the store."""
    return store.root / "blobs" / digest[:2] / digest


@pytest.mark.parametrize("lost", [-2, -1], ids=["worker", "request"])
def test_contents_that_are_not_there_are_named(store: LocalStore, tmp_path: Path, lost: int) -> None:
    words = command(store, job(store, COPY))
    blob(store, words[lost]).unlink()
    pod = pods.ended(start(words, tmp_path))
    assert pod.code == 75
    assert pod.log == f"[worker] {store.url} does not hold {words[lost]}\n"


def test_contents_that_differ_are_not_run(store: LocalStore, tmp_path: Path) -> None:
    words = command(store, job(store, COPY))
    worker = blob(store, words[-2])
    worker.chmod(0o644)
    worker.write_bytes(tar({"translations_assets/runners/pod/main.py": "print('other code')"}))
    pod = start(words, tmp_path)
    before = pods.read_until(pod, b"has other contents; next try in 1 s")
    pod.send_signal(signal.SIGTERM)
    ended = pods.ended(pod, before)
    assert ended.code == 75
    assert "other code" not in ended.log
    assert ended.log.endswith("[worker] ended by SIGTERM before it started\n")


def test_a_signal_in_a_callback_ends_it_too(store: LocalStore, tmp_path: Path) -> None:
    """An exception would be dropped there; the interpreter's own imports have such callbacks."""
    words = command(store, job(store, COPY))
    pod = start([*words[:-4], SIGNAL_IN_CALLBACK, *words[-3:]], tmp_path)
    output, _ = pod.communicate(timeout=120)
    assert (pod.returncode, output) == (75, b"[worker] ended by SIGTERM before it started\n")
    assert not list((tmp_path / "scratch").iterdir())


def test_contents_that_come_late_are_waited_for(store: LocalStore, tmp_path: Path) -> None:
    """A folder in place of the file is what fails here; in a cluster it is the network."""
    words = command(store, job(store, COPY))
    worker = blob(store, words[-2])
    worker.unlink()
    worker.mkdir()
    pod = start(words, tmp_path)
    before = pods.read_until(pod, b"next try in 1 s")
    worker.rmdir()
    worker.write_bytes(worker_bundle())
    assert pods.ended(pod, before).code == 0


def test_a_bundle_cannot_write_outside(store: LocalStore, tmp_path: Path) -> None:
    words = command(store, job(store, COPY), worker=tar({"../../outside.py": ""}))
    assert pods.ended(start(words, tmp_path)).code != 0
    assert not list(tmp_path.rglob("outside.py"))


def test_a_disk_that_cannot_be_written_is_worth_another_attempt(store: LocalStore, tmp_path: Path) -> None:
    """The scratch disk's folder for work is a file here."""
    (tmp_path / "scratch").mkdir()
    (tmp_path / "scratch" / "work").touch()
    pod = pods.run(store, tmp_path, job(store, COPY))
    assert pod.code == 75
    assert str(tmp_path / "scratch") in pod.outcomes[0].message


def test_nothing_of_the_worker_stays(store: LocalStore, tmp_path: Path) -> None:
    pod = start(command(store, job(store, COPY)), tmp_path)
    assert eventually(lambda: pod.poll() is not None)
    assert pods.ended(pod).code == 0
    assert not list((tmp_path / "scratch").glob("worker-*"))
