"""Tests of a store in a bucket where it differs from one in a folder; `test_contract` tests the rest."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE
from tests.store.bucket.conftest import Service, flip
from tests.store.values import KEY, manifest, ref
from translations_assets.common.errors import StoreError, StoreUnreachable
from translations_assets.records.manifest import Manifest
from translations_assets.records.run import RunRecord
from translations_assets.store.bucket.leases import Leases
from translations_assets.store.bucket.objects import Objects
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.open import open_store

PERIOD = 3.0  # seconds: generous, as a busy machine must not lose its leases


@pytest.fixture
def finished(store: BucketStore) -> Manifest:
    """A step that is finished."""
    return store.commit(manifest({"model": store.add_bytes(b"weights")}))


def test_what_stands_where(store: BucketStore, service: Service, finished: Manifest, tmp_path: Path) -> None:
    digest = finished.outputs["model"].digest
    store.append_log(KEY, 1, 1, 0, b"text\n")
    store.add_ref(ref("run-1", 1.0))
    store.write_run("run-1", RunRecord())
    store.pin("run-1", "the release")
    store.add_config("en-ru.mine", "experiment: {}\n")
    (tmp_path / "model.npz").write_bytes(b"weights")
    with store.owners.lock(KEY, 2):
        store.add_checkpoint(KEY, 2, "000100", tmp_path)
        names = [name for name in service.names() if not name.startswith("leases/")]
    token = next(name.split("/")[3] for name in names if name.startswith("checkpoints/"))
    assert int(token) > 0
    assert names == [
        f"blobs/{digest[:2]}/{digest}",
        f"checkpoints/{KEY}/2/{token}/000100/files/model.npz",
        f"checkpoints/{KEY}/2/{token}/000100/set.json",
        "configs/en-ru.mine.yml",
        f"logs/{KEY}/1.1/0",
        "pins/run-1.json",
        "refs/ann%2Fmain/en-ru.big-vocab/merge_corpus/run-1.json",
        "runs/run-1.json",
        f"steps/{KEY[:2]}/{KEY}/1.json",
    ]


def test_another_process_opens_it_by_its_url(
    store: BucketStore, service: Service, finished: Manifest
) -> None:
    code = (
        "import sys; from translations_assets.store.open import open_store; store = open_store(sys.argv[1]);"
        "made = store.latest(sys.argv[2]); print(store.url, store.read_blob(made.outputs['model']).decode())"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, store.url, KEY], capture_output=True, text=True, check=True
    )
    assert told.stdout == f"{store.url} weights\n"
    assert isinstance(open_store(f"{store.url}/folder"), BucketStore)


def test_a_store_in_a_folder_imports_no_services_client(tmp_path: Path) -> None:
    code = (
        "import sys; from translations_assets.store.open import open_store;"
        "open_store(sys.argv[1]).config_names();"
        "print([name for name in sys.modules if name.startswith(('google', 'boto'))])"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert told.stdout == "[]\n"


def test_a_damaged_manifest_is_put_aside(store: BucketStore, service: Service, finished: Manifest) -> None:
    name = f"steps/{KEY[:2]}/{KEY}/1.json"
    service.damage(name, service.contents(name).replace(b"split-en-ru", b"split-en-de"))
    assert KEY not in store.damaged()
    assert store.latest(KEY) is None
    assert store.damaged() == {KEY: 1}
    assert name not in service.names()
    aside = [name for name in service.names() if name.startswith("quarantine/")]
    assert len(aside) == 2
    assert b"SHA-256" in service.contents(aside[1])
    assert store.commit(finished) == finished
    assert store.latest(KEY) == finished


def test_a_record_that_is_damaged_is_left_out(store: BucketStore, service: Service) -> None:
    for run in ("run-1", "run-2"):
        store.add_ref(ref(run, 1.0))
        store.write_run(run, RunRecord())
    service.damage("refs/ann%2Fmain/en-ru.big-vocab/merge_corpus/run-1.json", b"{}")
    service.damage("runs/run-2.json", b"")
    assert [found.run for found in store.refs("ann/main", "en-ru.big-vocab", "merge_corpus")] == ["run-2"]
    assert store.read_run("run-2") is None
    assert store.read_run("run-1") == RunRecord()


def test_of_a_log_that_is_damaged_the_rest_is_read(store: BucketStore, service: Service) -> None:
    for part in range(3):
        store.append_log(KEY, 1, 1, part, b"part %d\n" % part)
    flip(service, f"logs/{KEY}/1.1/1")
    first, second, third = store.read_log(KEY, 1, 1)
    assert (first, third) == (b"part 0\n", b"part 2\n")
    assert b"part 1 of this log is damaged" in second


def test_more_than_a_page_of_refs_and_runs(store: BucketStore, service: Service) -> None:
    store.write_run("run-0000", RunRecord())
    service.multiply("runs/run-0000.json", [f"runs/run-{number:04}.json" for number in range(1, 1100)])
    assert len(store.runs()) == 1100


def test_contents_that_are_found_are_touched_once_an_hour(store: BucketStore, service: Service) -> None:
    blob = store.add_bytes(b"text")
    service.requests.clear()
    store.add_bytes(b"text")
    assert [request.split()[0] in ("GET", "HEAD") for request in service.requests] == [True], (
        "it was written just now"
    )
    for use in (
        lambda: store.add_bytes(b"text"),
        lambda: store.commit(manifest({"text": blob})),
    ):
        service.age()
        use()
        found = store.files.objects.stat(f"blobs/{blob.digest[:2]}/{blob.digest}")
        assert found
        assert abs(time.time_ns() - found.modified) < 60 * 10**9


def test_the_digest_of_what_is_read_is_compared(store: BucketStore, service: Service) -> None:
    blob = store.add_bytes(b"text")
    name = f"blobs/{blob.digest[:2]}/{blob.digest}"
    service.damage(name, b"tex_")
    assert store.has_blob(blob), "the right size"
    with pytest.raises(StoreError, match="differ from their digest"):
        store.read_blob(blob)
    assert name not in service.names()
    store.add_bytes(b"text")
    service.damage(name, b"longer")
    assert store.add_bytes(b"text") == blob, "a wrong size is seen before anything is sent"
    assert store.read_blob(blob) == b"text"


# Checkpoints of several owners


@pytest.fixture
def owners(objects: Objects) -> list[BucketStore]:
    """Machines that share a bucket, and renew their leases every two seconds."""
    return [BucketStore(objects, Leases(objects, period=PERIOD)) for _ in range(3)]


def save(store: BucketStore, name: str, folder: Path, text: str = "") -> None:
    """Store a checkpoint set of one file."""
    folder.mkdir(exist_ok=True)
    (folder / "model.npz").write_text(text or name)
    store.add_checkpoint(KEY, 1, name, folder)


def placed(store: BucketStore, folder: Path) -> dict[str, str]:
    """The sets that a new owner is given, and what is in them."""
    folder.mkdir()
    return {
        name: (folder / name / "model.npz").read_text() for name in store.place_checkpoints(KEY, 1, folder)
    }


def test_the_next_owner_goes_on_from_the_newest_sets_of_all(
    owners: list[BucketStore], tmp_path: Path
) -> None:
    first, second, third = owners
    with first.owners.lock(KEY, 1):
        for name in ("000100", "000200", "000300"):
            save(first, name, tmp_path / "set", f"{name} of the first")
    with second.owners.lock(KEY, 1):
        assert list(placed(second, tmp_path / "second")) == ["000200", "000300"]
        save(second, "000300", tmp_path / "set", "000300 of the second")
        save(second, "000400", tmp_path / "set", "000400 of the second")
    with third.owners.lock(KEY, 1):
        assert placed(third, tmp_path / "third") == {
            "000300": "000300 of the second",
            "000400": "000400 of the second",
        }
        third.drop_checkpoints(KEY, 1)
        assert placed(third, tmp_path / "none") == {}


def test_a_set_counts_once_its_manifest_is_there(
    owners: list[BucketStore], service: Service, tmp_path: Path
) -> None:
    store = owners[0]
    with store.owners.lock(KEY, 1):
        for name in ("000100", "000200"):
            save(store, name, tmp_path / "set")
        manifests = [name for name in service.names() if name.endswith("/000200/set.json")]
        store.files.objects.delete(manifests[0])
        assert placed(store, tmp_path / "placed") == {"000100": "000100"}
        save(store, "000200", tmp_path / "set", "again")
        assert placed(store, tmp_path / "again")["000200"] == "again"


def test_sets_of_killed_writers_push_out_no_whole_one(
    owners: list[BucketStore], service: Service, tmp_path: Path
) -> None:
    store = owners[0]
    with store.owners.lock(KEY, 1):
        for name in ("000100", "000200", "000300"):
            save(store, name, tmp_path / "set")
        for manifest in [name for name in service.names() if name.endswith("/000300/set.json")]:
            store.files.objects.delete(manifest)
        save(store, "000150", tmp_path / "set")
        assert list(placed(store, tmp_path / "placed")) == ["000150", "000200"]


def test_a_damaged_set_is_put_aside_whole(
    owners: list[BucketStore], service: Service, tmp_path: Path
) -> None:
    store = owners[0]
    with store.owners.lock(KEY, 1):
        for name in ("000100", "000200"):
            save(store, name, tmp_path / "set")
        damaged = next(name for name in service.names() if name.endswith("/000200/files/model.npz"))
        service.damage(damaged, b"00020_")
        assert "model.npz" in store.wrong_in_set(list(store.checkpoint_sets())[1][2])
        assert placed(store, tmp_path / "placed") == {"000100": "000100"}
        assert not (tmp_path / "placed" / "000200").exists()
        left = [name.split("/") for name in service.names() if "000200" in name]
        assert {name[0] for name in left} == {"quarantine"}
        assert {name[-1] for name in left if len(name) > 2} == {"set.json", "model.npz"}


def test_who_has_lost_a_step_stores_no_checkpoint(
    owners: list[BucketStore], service: Service, tmp_path: Path
) -> None:
    """The first owner sleeps until the second has taken the step over."""
    first, second, _ = owners
    told: list[str] = []
    with first.owners.lock(KEY, 1, told.append) as mine:
        assert mine
        save(first, "000100", tmp_path / "set")
        lease = next(name for name in service.names() if name.startswith("leases/"))
        first.files.objects.write(lease, b'{"owner": "another", "lapse": 1}')  # as after a takeover
        until = time.monotonic() + PATIENCE
        while not told and time.monotonic() < until:
            time.sleep(0.05)
        assert told
        with pytest.raises(StoreError, match="ownership of the step was lost"):
            save(first, "000200", tmp_path / "set")
    assert placed(second, tmp_path / "placed") == {"000100": "000100"}


def test_a_write_that_is_carried_out_late_changes_nothing(
    store: BucketStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answer was lost, the run has written its record again, and only then the service gets to it."""
    store.write_run("run-1", RunRecord("run-1", started=1.0))
    late: list[Callable[[], object]] = []

    def held_up(objects: Objects, *request: Any) -> int | None:
        late.append(partial(replace, objects, *request))
        raise StoreUnreachable("No answer.")

    replace = type(store.files.objects).replace
    with monkeypatch.context() as patch:
        patch.setattr(type(store.files.objects), "replace", held_up)
        with pytest.raises(StoreUnreachable):
            store.write_run("run-1", RunRecord("run-1", started=1.0, heartbeat=2.0))
    store.write_run("run-1", RunRecord("run-1", started=1.0, heartbeat=3.0))
    assert [request() for request in late] == [None]
    assert store.read_run("run-1") == RunRecord("run-1", started=1.0, heartbeat=3.0)


def test_a_record_that_others_write_meanwhile_is_written(
    store: BucketStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects, heartbeats = type(store.files.objects), iter([1.0, 2.0])
    replace = objects.replace

    def meet(mine: Objects, *request: Any) -> int | None:
        if heartbeat := next(heartbeats, None):
            store.write_run("run-1", RunRecord("run-1", heartbeat=heartbeat))
        return replace(mine, *request)

    monkeypatch.setattr(objects, "replace", meet)
    store.write_run("run-1", RunRecord("run-1", heartbeat=3.0))
    assert store.read_run("run-1") == RunRecord("run-1", heartbeat=3.0)


def test_two_pins_at_once_do_not_meet(
    store: BucketStore, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pins, `verify` and `gc` each hold the same lease."""
    monkeypatch.setattr("translations_assets.store.bucket.store._LAPSE", 0.3)
    monkeypatch.setattr("translations_assets.store.bucket.store._POLL_SECONDS", 0.05)
    store.write_run("run-1", RunRecord())
    other = BucketStore(store.files.objects)
    with other.files.reserved("gc") as mine:
        assert mine
        with pytest.raises(StoreError, match="Pin the run when that has ended"):
            store.pin("run-1", "the release")
    store.pin("run-1", "the release")
    assert list(store.pins()) == ["run-1"]


def test_large_files_of_a_checkpoint(owners: list[BucketStore], tmp_path: Path) -> None:
    data = os.urandom(1 << 20) * 10
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "optimizer.npz").write_bytes(data)
    with owners[0].owners.lock(KEY, 1):
        save(owners[0], "000100", tmp_path / "set")
    assert placed(owners[1], tmp_path / "placed") == {"000100": "000100"}
    assert (tmp_path / "placed" / "000100" / "optimizer.npz").read_bytes() == data
