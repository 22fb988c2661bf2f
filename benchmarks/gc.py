"""`translations cache gc` of a store with 100,000 artifacts: seconds and peak memory, dry and with --delete.

    python -m benchmarks.gc [--artifacts N]

Each artifact has two outputs, two inputs and a log. A partition has 500; ten runs have made it, each with its
refs. Half of it is kept. On a machine with other work, compare the processor seconds.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.timing import BIN
from translations_assets.records.manifest import Blob, KeyParts, Manifest, Provenance, Ref, Usage
from translations_assets.records.run import RunRecord
from translations_assets.store.local import LocalStore

STEPS = 50  # of a run
RUNS = 10  # of a partition
STAGES = 10
DAY = 86400.0


@contextmanager
def unsynced() -> Iterator[None]:
    """Do not wait for the disk: the store is thrown away."""
    sync = os.fsync
    os.fsync = _nothing
    try:
        yield
    finally:
        os.fsync = sync


def _nothing(fd: object) -> None:
    """Stand in for `os.fsync`."""


def fill(store: LocalStore, artifacts: int) -> None:
    """Commit artifacts as runs of many partitions would, the last runs newest."""
    for partition in range(artifacts // (STEPS * RUNS)):
        for run in range(RUNS):
            fill_run(store, f"en-xx.{partition}", run)


def fill_run(store: LocalStore, partition: str, run: int) -> None:
    """The steps, refs and record of a run; each step reads what the two before it made."""
    made: list[Manifest] = []
    ended = time.time() - (RUNS - run) * 10 * DAY
    name = f"{partition} run {run}"
    for number in range(STEPS):
        inputs = {f"text/{one.label}": one.outputs["text.zst"] for one in made[-2:]}
        made.append(commit(store, partition, name, number, inputs, ended))
    for stage in range(STAGES):
        store.add_ref(ref(partition, name, stage, made[stage::STAGES], ended))
    uses = {one.label: (one.key, 1) for one in made}
    record = RunRecord(
        name, partition, "bench", started=ended - 3600, heartbeat=ended, ended=ended, uses=uses
    )
    store.write_run(name, record)


def commit(
    store: LocalStore, partition: str, run: str, number: int, inputs: dict[str, Blob], ended: float
) -> Manifest:
    """A finished step with a log."""
    stage, label = f"stage_{number % STAGES}", f"step {number}"
    outputs = {
        "text.zst": store.add_bytes(f"{run} {label}".encode() * 20),
        "stats.json": store.add_bytes(f"{run} {label} statistics".encode()),
    }
    bundle = store.add_bytes(f"code of {stage}".encode() * 100)
    digests = {path: blob.digest for path, blob in inputs.items()}
    parts = KeyParts(args={"part": number}, inputs=digests, libraries={"zstandard": "0.23"})
    made = Manifest(
        key=hashlib.sha256(f"{run} {label}".encode()).hexdigest(),
        generation=1,
        outputs=outputs,
        label=label,
        reason="benchmark",
        bundle=bundle,
        provenance=Provenance(parts, stage=stage, partition=partition, run=run, files=inputs),
        attempt=1,
        host="here",
        started=ended - 10,
        ended=ended,
        usage=Usage(10.0, 9.0, 1 << 20, 1 << 20),
    )
    store.append_log(made.key, 1, 1, 0, b"said\n")
    return store.commit(made)


def ref(partition: str, run: str, stage: int, made: list[Manifest], ended: float) -> Ref:
    """Make the ref that a run published for a stage."""
    return Ref(
        space="bench",
        partition=partition,
        stage=f"stage_{stage}",
        run=run,
        time=ended,
        steps={one.label: (one.key, 1) for one in made},
        outputs={one.label: one.outputs for one in made},
    )


def measure(root: Path, *options: str) -> None:
    """Run the command and print its last lines, its seconds and its peak memory."""
    command = [str(BIN / "translations"), "cache", "gc", "--keep-refs", "5", "--grace-days", "0", *options]
    start = time.perf_counter()
    process = subprocess.Popen(
        command, env={**os.environ, "TRANSLATIONS_STORE": str(root)}, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        sys.exit(f"{' '.join(command)} failed:\n{said}")
    print("    " + "\n    ".join(said.splitlines()[-3:]))
    cpu, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    print(f"{' '.join(command[1:])}: {seconds:.1f} s (bar: 60 s), {cpu:.1f} s of a processor, ", end="")
    print(f"{memory:.0f} MB (bar: 500 MB)", flush=True)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--artifacts", type=int, default=100_000, help="how many the store holds")
    artifacts = parser.parse_args().artifacts
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "store"
        start = time.perf_counter()
        with unsynced():
            fill(LocalStore(root), artifacts)
        print(
            f"filled a store with {artifacts:,} artifacts in {time.perf_counter() - start:.0f} s", flush=True
        )
        measure(root)
        measure(root, "--delete")


if __name__ == "__main__":
    main()
