"""The speed of contents to a bucket and back: through the store, and by Google's client alone.

    python -m benchmarks.gcs_throughput --megabytes 1000 --pairs 3

Both speak to the same emulator, a process of its own, in turns, so that a busy machine slows both. The store
also computes the SHA-256 before it sends, and compares it after it has fetched. Prints MB/s and the ratio.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from google.cloud.storage import Bucket, Client

from translations_assets.records.manifest import Blob
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.gcs.objects import GcsObjects

_BUCKET = "benchmark"
_PIECE = 1 << 20
_BAR = 0.8
_SECONDS = 1800  # after which the emulator ends by itself


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=int, default=100, help="size of the file")
    parser.add_argument("--pairs", type=int, default=3, help="how often each way is measured")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, _emulator():
        file = Path(folder) / "file"
        _fill(file, options.megabytes * 1_000_000)
        measured = _Measured(file)
        for _ in range(options.pairs):
            measured.pair()
    for way in ("up", "down"):
        _report(way, options.megabytes, measured.seconds[way, "store"], measured.seconds[way, "client"])


class _Measured:
    """Seconds by way (up, down) and by what was measured (store, client)."""

    def __init__(self, file: Path) -> None:
        self._file, self._target = file, file.with_name("fetched")
        self._store = BucketStore(GcsObjects.at(f"gs://{_BUCKET}/store"))
        self._bucket: Bucket = Client().bucket(_BUCKET)
        self.seconds: dict[tuple[str, str], list[float]] = {}

    def pair(self) -> None:
        """Send and fetch the file both ways, and forget it."""
        plain = self._bucket.blob("plain")
        self._time("up", "client", lambda: plain.upload_from_filename(str(self._file)))
        self._time("down", "client", lambda: plain.download_to_filename(str(self._target)))
        self._target.unlink()
        plain.delete()
        stored: list[Blob] = []
        self._time("up", "store", lambda: stored.append(self._store.add_blob(self._file)))
        self._time("down", "store", lambda: self._store.place_blob(stored[0], self._target))
        self._target.unlink()
        self._store.files.unlink(self._store.blob_file(stored[0].digest))

    def _time(self, way: str, what: str, action: Callable[[], object]) -> None:
        start = time.perf_counter()
        action()
        self.seconds.setdefault((way, what), []).append(time.perf_counter() - start)


def _report(way: str, megabytes: int, store: list[float], client: list[float]) -> None:
    ratio = statistics.median(client) / statistics.median(store)
    print(
        f"{way:4}: store {_rates(megabytes, store)}, client {_rates(megabytes, client)} MB/s "
        f"(slowest / median / fastest of {len(store)}); {ratio:.0%} of the client's (bar: {_BAR:.0%})"
    )


def _rates(megabytes: int, seconds: list[float]) -> str:
    return " / ".join(
        f"{megabytes / value:.0f}" for value in (max(seconds), statistics.median(seconds), min(seconds))
    )


def _fill(path: Path, size: int) -> None:
    with path.open("wb") as file:
        for start in range(0, size, _PIECE):
            file.write(os.urandom(min(_PIECE, size - start)))


@contextmanager
def _emulator() -> Iterator[None]:
    command = [sys.executable, "-m", "tests.store.gcs_server", _BUCKET, str(_SECONDS)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        try:
            os.environ["STORAGE_EMULATOR_HOST"] = json.loads(process.stdout.readline())["url"]
            yield
        finally:
            process.stdin.close()


if __name__ == "__main__":
    main()
