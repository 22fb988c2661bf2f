"""Uploads of a file over connections that break: the store's own, and google-cloud-storage's in chunks.

python -m benchmarks.uploads
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tests.store.gcs_server import BUCKET, Fault, GcsServer, serve
from translations_assets.store.bucket.transfer import digests_of
from translations_assets.store.gcs.objects import GcsObjects

_SIZE = 20 << 20
_SENT = r"PUT .*upload_id=.* bytes \d+-"
_FAULTS = {
    "nothing breaks": [],
    "cut once, after 5 MB": [Fault("cut body", requests=_SENT, after=5_000_000)],
    "each connection cut after 1.2 MB": [Fault("cut body", 18, _SENT, after=1_200_000)],
    "the session is forgotten": [
        Fault("cut body", requests=_SENT, after=9_000_001),
        Fault("status", requests="PUT .*upload_id=", status=410),
    ],
}


def main() -> None:
    """Print what becomes of each upload, the requests and seconds that it took."""
    with tempfile.TemporaryDirectory() as folder, serve(BUCKET) as server:
        os.environ["STORAGE_EMULATOR_HOST"] = server.url
        path = Path(folder) / "file"
        path.write_bytes(os.urandom(_SIZE))
        objects = GcsObjects(BUCKET, patience=0.5, timeout=(2.0, 2.0), pauses=(0.05, 0.1))
        digests = digests_of(path)
        ways: dict[str, Callable[[], object]] = {
            "own": lambda: objects.upload(path, "file", digests),
            "library, 8 MiB": lambda: _by_library(objects, path, 8 << 20),
            "library, 32 MiB": lambda: _by_library(objects, path, 32 << 20),
        }
        for name, faults in _FAULTS.items():
            for way, upload in ways.items():
                server.clear()
                server.faults.extend(replace(fault) for fault in faults)
                print(f"{name:34} {way:16} {_outcome(server, upload)}")


def _by_library(objects: GcsObjects, path: Path, chunk: int) -> None:
    blob = objects.blob("file")
    blob.chunk_size = chunk
    with path.open("rb") as file:
        blob.upload_from_file(
            file,
            size=path.stat().st_size,
            if_generation_match=0,
            checksum="crc32c",
            **objects.limits(),
        )


def _outcome(server: GcsServer, upload: Callable[[], object]) -> str:
    began = time.perf_counter()
    try:
        upload()
        outcome = "stored"
    except Exception as error:
        outcome = f"not stored: {type(error).__name__}"
    return f"{outcome:32} {len(server.requests):3} requests {time.perf_counter() - began:5.1f} s"


if __name__ == "__main__":
    main()
