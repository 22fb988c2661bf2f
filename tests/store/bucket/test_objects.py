"""The few operations on a bucket, over servers that fail in all the ways that a service may."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.store.bucket.conftest import Adapter, Service
from tests.store.faults import Fault, Kind
from translations_assets.common.errors import StoreError, StoreUnreachable
from translations_assets.store.bucket.objects import Objects


@pytest.fixture
def objects(objects: Adapter) -> Adapter:
    """An empty bucket's objects below `store/`."""
    return replace(objects, prefix="store/")


def test_an_object_is_written_once(objects: Objects) -> None:
    generation = objects.replace("a", b"one", 0)
    assert generation
    assert not objects.create("a", b"two")
    assert not objects.create("a", b"one"), "it is there already, whoever wrote it"
    assert objects.read("a") == (b"one", generation)
    assert objects.read("b") is None
    assert objects.create("b", b"two")


def test_an_object_is_replaced_as_it_was_read(objects: Objects) -> None:
    first = objects.replace("a", b"one", 0)
    assert first
    second = objects.replace("a", b"two", first)
    assert second
    assert second != first
    assert objects.replace("a", b"three", first) is None
    assert objects.replace("missing", b"", first) is None
    assert objects.replace("a", b"four", 0) is None
    assert objects.read("a") == (b"two", second)


def test_an_object_is_removed_as_it_was_seen(objects: Objects, service: Service) -> None:
    objects.write("a", b"one")
    service.age()
    seen = objects.stat("a")
    assert seen
    assert [found.generation for found in objects.walk("a")] == [seen.generation]
    assert objects.touch("a")
    assert not objects.delete("a", seen.generation, seen.metageneration), "it was touched since"
    again = objects.stat("a")
    assert again
    assert not objects.delete("a", again.generation + 1)
    assert objects.delete("a", again.generation, again.metageneration)
    assert not objects.delete("a")
    assert not objects.touch("a")
    assert objects.stat("a") is None
    assert service.names() == []


def test_a_touch_moves_the_time_of_the_last_change_only(objects: Objects, service: Service) -> None:
    objects.replace("a", b"one", 0, {"began": "12"})
    noted = objects.stat("a")
    service.age()
    assert objects.touch("a")
    after = objects.stat("a")
    assert noted
    assert after
    assert (after.crc32c, after.size) == (noted.crc32c, 3)
    assert abs(time.time_ns() - after.modified) < 60 * 10**9
    assert service.names() == ["store/a"]


def test_a_copy_replaces_only_what_it_may(objects: Objects, service: Service) -> None:
    objects.replace("a", b"one", 0, {"began": "12"})
    objects.write("b", b"two")
    assert not objects.copy("a", "b", replace=False)
    assert objects.read("b") == (b"two", objects.stat("b").generation)  # type: ignore[union-attr]
    assert not objects.copy("missing", "c")
    assert objects.copy("a", "b")
    assert objects.copy("b", "c", replace=False)
    assert service.names() == ["store/a", "store/b", "store/c"]
    copied = objects.stat("c")
    assert copied
    assert dict(copied.notes) == {"began": "12"}
    assert service.contents("store/c") == b"one"


@pytest.mark.parametrize("kind", ["lost answer", "lost request"])
def test_a_request_that_is_made_again_finds_its_own_work(
    objects: Objects, service: Service, kind: Kind
) -> None:
    service.faults.append(Fault(kind, requests=service.writes))
    first = objects.replace("a", b"mine", 0)
    assert first
    service.faults.append(Fault(kind, requests=service.writes))
    second = objects.replace("a", b"mine, too", first)
    assert objects.read("a") == (b"mine, too", second)
    service.faults.append(Fault(kind, requests=service.writes))
    assert objects.create("b", b"mine, three")
    assert len([request for request in service.requests if request.startswith(service.writes)]) == 6
    assert service.names() == ["store/a", "store/b"]


def test_a_request_that_is_made_again_does_not_take_anothers_work_for_its_own(
    objects: Objects, service: Service
) -> None:
    objects.write("a", b"another's")
    there = objects.stat("a")
    assert there
    service.faults.append(Fault("lost answer", requests=service.writes))
    assert not objects.create("a", b"mine")
    assert service.contents("store/a") == b"another's"


def actions(objects: Objects) -> list[Callable[[], object]]:
    """Everything that can be asked for; each succeeds after those before it."""
    return [
        lambda: objects.replace("a", b"one", 0),
        lambda: objects.create("b", b"two"),
        lambda: objects.write("a", b"two"),
        lambda: objects.read("a"),
        lambda: objects.stat("a"),
        lambda: objects.touch("a"),
        lambda: list(objects.walk("")),
        lambda: objects.folder(""),
        lambda: objects.copy("a", "c"),
        lambda: objects.delete("a"),
    ]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_busy_service_is_asked_again(objects: Objects, service: Service, status: int) -> None:
    for action in actions(objects):
        fault = Fault("status", times=2, status=status)
        service.faults.append(fault)
        assert action() is not False
        assert fault.times == 0
    assert service.names() == ["store/b", "store/c"]


@pytest.mark.parametrize("kind", ["lost request", "cut answer", "slow"])
def test_connections_that_break_or_hang_are_made_again(
    objects: Adapter, service: Service, kind: Kind
) -> None:
    objects.write("a", b"one" * 1000)
    there = objects.stat("a")
    assert there
    impatient = replace(objects, timeout=(5.0, 0.5))
    faults = [Fault(kind, times=2, after=2, seconds=1.5) for _ in range(2)]
    service.faults.append(faults[0])
    assert impatient.read("a") == (b"one" * 1000, there.generation)
    service.faults.append(faults[1])
    assert impatient.read_range(there, 3, 6) == b"one"
    assert [fault.times for fault in faults] == [0, 0]


@pytest.mark.parametrize(
    ("asked", "pause"), [("7", 7), ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("soon", 0), ("900", 60)]
)
def test_a_service_that_says_when_to_come_again_is_left_alone_until_then(
    objects: Adapter, service: Service, monkeypatch: pytest.MonkeyPatch, asked: str, pause: float
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    service.faults.append(Fault("status", status=429, retry_after=asked))
    objects.write("a", b"one")
    assert pauses[0] == pytest.approx(min(pause, objects.patience), abs=0.1)


def test_a_service_that_stays_away_is_told_as_such(objects: Adapter, service: Service) -> None:
    service.faults.append(Fault("status", times=1000))
    for action in actions(replace(objects, patience=0.3)):
        with pytest.raises(StoreUnreachable, match=r"://tests could not .*503 .*is away"):
            action()


def test_a_server_that_is_not_there_is_told_as_such(
    objects: Adapter, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("STORAGE_EMULATOR_HOST", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with pytest.raises(StoreUnreachable, match="could not read store/a"):
        replace(objects, patience=0.3).read("a")


def test_a_missing_bucket_is_no_empty_store(objects: Adapter) -> None:
    elsewhere = replace(objects, bucket_name="nowhere")
    for action in actions(elsewhere):
        with pytest.raises(StoreError, match=r"or make it: .*//nowhere") as told:
            action()
        assert not isinstance(told.value, StoreUnreachable)


def test_more_than_a_page_is_listed_whole_and_in_order(objects: Objects, service: Service) -> None:
    objects.write("many/0000", b"x")
    service.multiply("store/many/0000", [f"store/many/{number:04}" for number in range(1, 2500)])
    service.multiply("store/many/0000", [f"store/deep/{number:04}/a" for number in range(1, 2500)])
    assert [found.name for found in objects.walk("many/")] == [f"many/{number:04}" for number in range(2500)]
    below, folders = objects.folder("many/")
    assert (len(below), folders) == (2500, [])
    below, folders = objects.folder("deep/")
    assert (below, len(folders)) == ([], 2499)
    assert objects.folder("") == ([], ["deep", "many"])


def test_a_prefix_is_not_the_beginning_of_another(objects: Adapter, service: Service) -> None:
    objects.write("a", b"one")
    objects.write("a/b", b"three")
    replace(objects, prefix="store-2/").write("b", b"two")
    assert [found.name for found in objects.walk("")] == ["a", "a/b"]
    assert service.names() == ["store-2/b", "store/a", "store/a/b"]
    assert objects.delete("a")
    assert service.names() == ["store-2/b", "store/a/b"]
    whole = replace(objects, prefix="")
    assert [found.name for found in whole.walk("")] == ["store-2/b", "store/a/b"]


def test_the_url_of_a_bucket(objects: Adapter) -> None:
    scheme = objects.url.partition("://")[0]
    for url in (f"{scheme}://bucket", f"{scheme}://bucket/", f"{scheme}://b/x//y/"):
        assert objects.at(url).url == url.rstrip("/")
    for url in (f"{scheme}://", f"{scheme}:///folder", "ftp://bucket"):
        with pytest.raises(StoreError, match=f"{scheme}://bucket/folder"):
            objects.at(url)
