"""Pods whose store is a bucket."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runners.pod import pods
from tests.runners.pod.pods import command, read_until
from tests.runners.scripts import KEY, job, output, written
from tests.store import gcs_server, s3_server
from tests.store.faults import Fault
from tests.store.gcs_server import GcsServer
from tests.store.s3_server import S3Server
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.open import open_store

Server = GcsServer | S3Server

# Saves when it is told to end; the attempt after that takes its result from what was saved.
SAVING = """
    import os, pathlib, signal, sys
    sets = pathlib.Path(os.environ["TRANSLATIONS_CHECKPOINTS"])
    earlier = sorted(path.name for path in sets.iterdir())

    def save(*_):
        new = sets / f".{len(earlier)}"
        new.mkdir()
        (new / "updates").write_text("100")
        new.rename(sets / f"{len(earlier):06}")
        sys.exit(0)

    signal.signal(signal.SIGTERM, save)
    print("training", flush=True)
    if len(earlier) < 2:
        signal.pause()
    pathlib.Path("out").mkdir()
    pathlib.Path("out/copy.txt").write_text(f"from {earlier}")
"""


@pytest.fixture(params=["gs", "s3"])
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server with an empty bucket."""
    serve = gcs_server.serve if request.param == "gs" else s3_server.serve
    with serve("tests") as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.fixture
def bucket(server: Server) -> BucketStore:
    """An empty store in the bucket, below a prefix."""
    scheme = "gs" if isinstance(server, GcsServer) else "s3"
    store = open_store(f"{scheme}://tests/some/store")
    assert isinstance(store, BucketStore)
    return store


def start(words: list[str], folder: Path, server: Server) -> pods.Pod:
    """Start a pod that speaks to the server."""
    return pods.start(words, folder, server.environment)


def test_code_inputs_and_results_go_through_the_bucket(
    bucket: BucketStore, server: Server, tmp_path: Path
) -> None:
    text = bucket.add_bytes(b"a text")
    script = written("(out / 'same.txt').write_text(pathlib.Path('in/text/mono.en').read_text())")
    work = job(bucket, script, inputs={"text/mono.en": text}, outputs=("copy.txt", "same.txt"))
    pod = pods.ended(start(command(bucket, work), tmp_path, server))
    assert pod.code == 0, pod.log
    assert pod.outcomes[0].manifest == bucket.latest(KEY)
    assert output(bucket, pod.outcomes[0], "same.txt") == "a text"
    assert not [name for name in server.names() if "/leases/" in name]


def test_a_bucket_that_is_busy_or_away_is_asked_again(
    bucket: BucketStore, server: Server, tmp_path: Path
) -> None:
    words = command(bucket, job(bucket, written("")))
    server.faults = [
        Fault("status", 1, words[-2], status=503),
        Fault("cut answer", 1, words[-2], after=1000),
        Fault("lost answer", 1, words[-1]),
    ]
    pod = pods.ended(start(words, tmp_path, server))
    assert pod.code == 0, pod.log
    assert pod.log.count("; next try in ") == 3


def test_contents_that_the_bucket_lacks_are_named_at_once(
    bucket: BucketStore, server: Server, tmp_path: Path
) -> None:
    words = command(bucket, job(bucket, written("")))
    pod = pods.ended(start([*words[:-1], "12" * 32], tmp_path, server))
    assert pod.code == 75
    assert pod.log == f"[worker] {bucket.url} does not hold {'12' * 32}\n"


def test_a_training_that_loses_its_machine_twice_goes_on_each_time(
    bucket: BucketStore, server: Server, tmp_path: Path
) -> None:
    for attempt in (1, 2):
        pod = start(command(bucket, job(bucket, SAVING, resumable=True, attempt=attempt)), tmp_path, server)
        before = read_until(pod, b"training\n")
        pod.send_signal(signal.SIGTERM)
        ended = pods.ended(pod, before)
        assert (ended.code, ended.outcomes[0].kind) == (75, "temporary")
    last = pods.ended(
        start(command(bucket, job(bucket, SAVING, resumable=True, attempt=3)), tmp_path, server)
    )
    assert output(bucket, last.outcomes[0]) == "from ['000000', '000001']"
    assert not [name for name in server.names() if "/checkpoints/" in name]
