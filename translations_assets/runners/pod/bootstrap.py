"""The first code in a pod: fetches the worker's code and its request from the store, and becomes the worker.

    python -I -c "$(cat bootstrap.py)" READER STORE WORKER_SHA256 REQUEST_SHA256

The image holds Python and the locked libraries, not the worker's code: so a worker is always the one that
its orchestrator speaks to, and a change of code builds no image. Nothing of the project can be imported here:
READER is a program that defines how a file of this store is read (`store.open.reader_of`).
"""

from __future__ import annotations

import hashlib
import io
import os
import runpy
import shutil
import signal
import sys
import tarfile
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeAlias

Read: TypeAlias = "Callable[[str, str], bytes]"

PAUSES = (1, 2, 4, 8, 15, 30, 60)  # seconds; a new node may have neither network nor credentials at first


def main() -> None:
    """Become the worker: same process, its own arguments, `__main__`."""
    reader, store, worker, request = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="worker-") as name:
        folder = Path(name)
        # Process 1 of a container gets no signal that it has no handler for
        signal.signal(signal.SIGTERM, lambda *_: stop(folder))
        defined: dict[str, Read] = {}
        exec(reader, defined)
        read = defined["read"]
        unpack(fetch(read, store, worker), folder / "code")
        (folder / "request.json").write_bytes(fetch(read, store, request))
        sys.path.insert(0, str(folder / "code"))
        sys.argv[1:] = [str(folder / "request.json")]
        runpy.run_module("translations_assets.runners.pod.main", run_name="__main__", alter_sys=True)


def fetch(read: Read, store: str, digest: str) -> bytes:
    """Contents of the store by their SHA-256, tried again for two minutes unless they are not there."""
    for pause in (*PAUSES, None):
        data, problem = try_to_fetch(read, store, digest)
        if data is not None:
            return data
        if pause is not None:
            say(f"{problem}; next try in {pause} s")
            time.sleep(pause)
    give_up(problem)


def try_to_fetch(read: Read, store: str, digest: str) -> tuple[bytes | None, str]:
    """The contents, or what is wrong."""
    try:
        data = read(store, f"blobs/{digest[:2]}/{digest}")
    except FileNotFoundError:
        give_up(f"{store} does not hold {digest}")
    except Exception as error:  # the client's own errors have no common base
        return None, f"{digest} cannot be fetched from {store}: {type(error).__name__}: {error}"
    if hashlib.sha256(data).hexdigest() != digest:
        return None, f"{digest} in {store} has other contents"
    return data, ""


def unpack(bundle: bytes, folder: Path) -> None:
    """Unpack the worker's code; plain files and folders inside the folder only."""
    with tarfile.open(fileobj=io.BytesIO(bundle)) as tar:
        tar.extractall(folder, filter="data")


def say(text: str) -> None:
    """A line in the pod's log; written at once, since a signal's handler must not print."""
    os.write(1, f"[worker] {text}\n".encode())


def give_up(problem: str) -> NoReturn:
    """End; another attempt, elsewhere, may do better."""
    say(problem)
    sys.exit(os.EX_TEMPFAIL)


def stop(folder: Path) -> NoReturn:
    """End at a signal, and leave no folder.

    No exception ends it: Python drops one that a handler raises in a callback, such as a weak reference's.
    """
    say("ended by SIGTERM before it started")
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(os.EX_TEMPFAIL)


if __name__ == "__main__":
    try:
        main()
    except OSError:  # the node's fault: no space, no folder that can be written
        traceback.print_exc()
        sys.exit(os.EX_TEMPFAIL)
