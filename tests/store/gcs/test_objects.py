"""The few operations on a bucket, over a server that fails in all the ways that the service may."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest

from tests.store.conftest import OBJECTS
from tests.store.gcs_server import BUCKET, Fault, GcsServer
from translations_assets.common.errors import StoreError, StoreUnreachable
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.gcs.objects import GcsObjects

WRITE = "POST /upload"


@pytest.fixture
def objects(gcs: GcsServer) -> GcsObjects:
    """An empty bucket's objects below `store/`."""
    return replace(OBJECTS, prefix="store/")


def test_an_object_is_written_once(objects: GcsObjects) -> None:
    generation = objects.create("a", b"one")
    assert generation
    assert objects.create("a", b"two") is None
    assert objects.create("a", b"one") is None, "it is there already, whoever wrote it"
    assert objects.read("a") == (b"one", generation)
    assert objects.read("b") is None


def test_nothing_is_asked_besides(objects: GcsObjects, gcs: GcsServer) -> None:
    """Google's client would ask for the bucket when an object is not there."""
    before = threading.active_count()
    assert objects.read("a") is None
    objects.write("a", b"one")
    assert objects.stat("b") is None
    assert threading.active_count() <= before + 1, "at most the server's thread for our connection"
    assert [request.split("?")[0].split("/")[0] for request in gcs.requests] == ["GET ", "POST ", "GET "]


def test_an_object_is_replaced_as_it_was_read(objects: GcsObjects) -> None:
    first = objects.create("a", b"one")
    assert first
    second = objects.replace("a", b"two", first)
    assert second
    assert second != first
    assert objects.replace("a", b"three", first) is None
    assert objects.replace("missing", b"", first) is None
    assert objects.read("a") == (b"two", second)


def test_an_object_is_removed_as_it_was_seen(objects: GcsObjects) -> None:
    generation = objects.write("a", b"one")
    seen = objects.stat("a")
    assert seen
    assert objects.touch("a")
    assert not objects.delete("a", generation, seen.metageneration), "it was touched since"
    assert not objects.delete("a", generation + 1)
    assert objects.delete("a", generation)
    assert not objects.delete("a")
    assert not objects.touch("a")
    assert objects.stat("a") is None


def test_a_touch_moves_the_time_of_the_last_change_only(objects: GcsObjects) -> None:
    objects.write("a", b"one", {"began": "12"})
    before = objects.stat("a")
    assert objects.touch("a")
    after = objects.stat("a")
    assert before
    assert after
    assert (after.generation, after.created, after.size) == (before.generation, before.created, 3)
    assert after.modified > before.modified


def test_a_copy_replaces_only_what_it_may(objects: GcsObjects) -> None:
    objects.write("a", b"one")
    objects.write("b", b"two")
    assert not objects.copy("a", "b", replace=False)
    assert not objects.copy("missing", "c")
    assert objects.copy("a", "b")
    assert objects.copy("b", "c", replace=False)
    assert [objects.read(name) is not None for name in "abc"] == [True, True, True]
    found = objects.read("c")
    assert found
    assert found[0] == b"one"


@pytest.mark.parametrize("kind", ["lost answer", "lost request"])
def test_a_request_that_is_made_again_finds_its_own_work(
    objects: GcsObjects, gcs: GcsServer, kind: str
) -> None:
    gcs.faults.append(Fault(kind, requests=WRITE))  # type: ignore[arg-type]
    first = objects.create("a", b"mine")
    assert first
    gcs.faults.append(Fault(kind, requests=WRITE))  # type: ignore[arg-type]
    second = objects.replace("a", b"mine, too", first)
    assert objects.read("a") == (b"mine, too", second)
    assert len([request for request in gcs.requests if request.startswith(WRITE)]) == 4


def test_a_request_that_is_made_again_does_not_take_anothers_work_for_its_own(
    objects: GcsObjects, gcs: GcsServer
) -> None:
    objects.write("a", b"another's")
    gcs.faults.append(Fault("lost answer", requests=WRITE))
    assert objects.create("a", b"mine") is None
    assert objects.read("a") is not None


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_busy_service_is_asked_again(objects: GcsObjects, gcs: GcsServer, status: int) -> None:
    for action in (
        lambda: objects.write("a", b"one"),
        lambda: objects.read("a"),
        lambda: objects.stat("a"),
        lambda: objects.touch("a"),
        lambda: list(objects.walk("")),
        lambda: objects.folder(""),
        lambda: objects.copy("a", "b"),
        lambda: objects.delete("a"),
    ):
        gcs.faults.append(Fault("status", times=2, status=status))
        assert action()


@pytest.mark.parametrize(
    ("asked", "pause"), [("7", 7), ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("soon", 0), ("900", 60)]
)
def test_a_service_that_says_when_to_come_again_is_left_alone_until_then(
    objects: GcsObjects, gcs: GcsServer, monkeypatch: pytest.MonkeyPatch, asked: str, pause: float
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    gcs.faults.append(Fault("status", status=429, retry_after=asked))
    objects.write("a", b"one")
    assert pauses[0] == min(pause, objects.patience)


def test_a_service_that_stays_away_is_told_as_such(objects: GcsObjects, gcs: GcsServer) -> None:
    gcs.faults.append(Fault("status", times=1000))
    hurried = replace(objects, patience=0.3)
    for action in (
        lambda: hurried.read("a"),
        lambda: hurried.create("a", b""),
        lambda: hurried.write("a", b""),
        lambda: hurried.stat("a"),
        lambda: list(hurried.walk("")),
        lambda: hurried.delete("a"),
        lambda: hurried.touch("a"),
        lambda: hurried.copy("a", "b"),
    ):
        with pytest.raises(StoreUnreachable, match=r"gs://tests could not .*503 .*is away"):
            action()


def test_a_server_that_is_not_there_is_told_as_such(
    objects: GcsObjects, gcs: GcsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", "http://127.0.0.1:9")
    with pytest.raises(StoreUnreachable, match="could not read store/a"):
        replace(objects, patience=0.3).read("a")


def test_who_may_not_is_told_which_role_is_missing(objects: GcsObjects, gcs: GcsServer) -> None:
    gcs.faults.append(Fault("status", status=403))
    with pytest.raises(StoreError, match=r"roles/storage\.objectUser") as told:
        objects.read("a")
    assert not isinstance(told.value, StoreUnreachable)


def test_who_is_unknown_is_told_to_log_in(objects: GcsObjects, gcs: GcsServer) -> None:
    gcs.faults.append(Fault("status", times=5, status=401))
    with pytest.raises(StoreError, match="gcloud auth application-default login"):
        objects.read("a")


def test_without_credentials_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch, gcs: GcsServer) -> None:
    monkeypatch.delenv("STORAGE_EMULATOR_HOST")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "")
    monkeypatch.setenv("CLOUDSDK_CONFIG", "/nowhere")
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    with pytest.raises(StoreError, match="gcloud auth application-default login"):
        BucketStore(GcsObjects.at("gs://somebodys-bucket")).config_names()


def test_a_missing_bucket_is_no_empty_store(gcs: GcsServer) -> None:
    objects = replace(OBJECTS, bucket_name="nowhere")
    for action in (
        lambda: objects.read("a"),
        lambda: objects.stat("a"),
        lambda: objects.create("a", b""),
        lambda: list(objects.walk("")),
        lambda: objects.folder(""),
        lambda: objects.delete("a"),
        lambda: objects.touch("a"),
        lambda: objects.copy("a", "b"),
    ):
        with pytest.raises(StoreError, match="gcloud storage buckets create gs://nowhere"):
            action()


def test_more_than_a_page_is_listed_whole_and_in_order(objects: GcsObjects, gcs: GcsServer) -> None:
    objects.write("many/0000", b"x")
    for number in range(1, 2500):
        gcs.storage.objects[BUCKET][f"store/many/{number:04}"] = {
            **gcs.storage.objects[BUCKET]["store/many/0000"],
            "name": f"store/many/{number:04}",
        }
        gcs.storage.objects[BUCKET][f"store/deep/{number:04}/a"] = gcs.storage.objects[BUCKET][
            "store/many/0000"
        ]
    assert [found.name for found in objects.walk("many/")] == [f"many/{number:04}" for number in range(2500)]
    below, folders = objects.folder("many/")
    assert (len(below), folders) == (2500, [])
    below, folders = objects.folder("deep/")
    assert (below, len(folders)) == ([], 2499)
    assert objects.folder("") == ([], ["deep", "many"])


def test_a_prefix_is_not_the_beginning_of_another(objects: GcsObjects, gcs: GcsServer) -> None:
    objects.write("a", b"one")
    replace(objects, prefix="store-2/").write("b", b"two")
    assert [found.name for found in objects.walk("")] == ["a"]
    assert gcs.names() == ["store-2/b", "store/a"]
    whole = replace(objects, prefix="")
    assert [found.name for found in whole.walk("")] == ["store-2/b", "store/a"]


@pytest.mark.parametrize(
    ("url", "told"),
    [("gs://bucket", "gs://bucket"), ("gs://bucket/", "gs://bucket"), ("gs://b/x//y/", "gs://b/x//y")],
)
def test_the_url_of_a_bucket(url: str, told: str) -> None:
    assert BucketStore(GcsObjects.at(url)).url == told


@pytest.mark.parametrize("url", ["gs://", "gs:///folder", "s3://bucket"])
def test_what_names_no_bucket_is_refused(url: str) -> None:
    with pytest.raises(StoreError, match="gs://bucket/folder"):
        BucketStore(GcsObjects.at(url))
