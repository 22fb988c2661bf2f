"""Large contents on their way to a bucket and back, over connections that break and a network that lies."""

from __future__ import annotations

import os
import re
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.conftest import OBJECTS
from tests.store.faults import Fault, Kind
from tests.store.gcs_server import BUCKET, GcsServer
from translations_assets.common.errors import DamagedError, StoreError, StoreUnreachable
from translations_assets.records.manifest import Blob
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.bucket.transfer import AT_ONCE, PIECE, digests_of
from translations_assets.store.contents import Digests, digest_bytes

SIZE = 20_000_000
DATA = os.urandom(1 << 20) * (SIZE >> 20) + b"the end"
HALF = 9_000_001
SEND = "PUT .*upload_id="


@pytest.fixture
def big(tmp_path: Path) -> Path:
    """A file that is sent and fetched in several pieces."""
    path = tmp_path / "corpus.zst"
    path.write_bytes(DATA)
    return path


def sent(gcs: GcsServer) -> list[tuple[int, int]]:
    """From which byte to which each request has sent contents."""
    ranges = (re.search(r"PUT .* bytes (\d+)-(\d+)/", request) for request in gcs.requests)
    return [(int(found[1]), int(found[2])) for found in ranges if found]


def fetched(gcs: GcsServer) -> list[int]:
    """From which byte on each request has asked for contents."""
    ranges = (re.search(r"GET .* bytes=(\d+)-", request) for request in gcs.requests)
    return sorted(int(found[1]) for found in ranges if found)


def name_of(blob: Blob) -> str:
    """The object that has the contents."""
    return f"blobs/{blob.digest[:2]}/{blob.digest}"


def test_a_large_file_goes_there_and_back(
    store: BucketStore, gcs: GcsServer, big: Path, tmp_path: Path
) -> None:
    blob = store.add_blob(big)
    assert blob == digest_bytes(DATA)
    assert sent(gcs) == [(0, len(DATA) - 1)], "one request sends it from end to end"
    assert gcs.contents(name_of(blob)) == DATA
    store.place_blob(blob, tmp_path / "placed")
    assert (tmp_path / "placed").read_bytes() == DATA
    assert stat.S_IMODE((tmp_path / "placed").stat().st_mode) == 0o444
    assert fetched(gcs) == list(range(0, len(DATA), PIECE))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus.zst", "placed"]
    assert store.read_blob(blob) == DATA


def test_contents_that_are_there_are_not_sent_again(store: BucketStore, gcs: GcsServer, big: Path) -> None:
    store.add_blob(big)
    gcs.requests.clear()
    store.add_blob(big)
    assert [request.split()[0] for request in gcs.requests] == ["GET"]


@pytest.mark.parametrize("size", [AT_ONCE, AT_ONCE + 1])
def test_sizes_around_the_largest_that_goes_at_once(store: BucketStore, tmp_path: Path, size: int) -> None:
    (tmp_path / "file").write_bytes(DATA[:size])
    blob = store.add_blob(tmp_path / "file")
    store.place_blob(blob, tmp_path / "placed")
    assert (tmp_path / "placed").read_bytes() == DATA[:size]


@pytest.mark.parametrize("times", [1, 3])
def test_an_upload_that_is_cut_off_goes_on_where_it_was(
    store: BucketStore, gcs: GcsServer, big: Path, times: int
) -> None:
    gcs.faults.append(Fault("cut body", times=times, requests=SEND + r".* bytes \d+-", after=5_000_000))
    blob = store.add_blob(big)
    assert gcs.contents(name_of(blob)) == DATA
    starts = [start for start, _ in sent(gcs)]
    assert len(starts) == times + 1
    assert starts == sorted(set(starts)), "each goes on after what the service has kept"
    assert starts[-1] >= times * 4_900_000


@pytest.mark.parametrize("kind", ["lost request", "lost answer", "status"])
def test_an_upload_survives_requests_that_fail(
    store: BucketStore, gcs: GcsServer, big: Path, kind: Kind
) -> None:
    for requests in ("POST .*uploadType=resumable", SEND):
        gcs.faults.append(Fault(kind, times=2, requests=requests))
    blob = store.add_blob(big)
    assert gcs.contents(name_of(blob)) == DATA
    assert gcs.names() == [name_of(blob)]


def test_an_upload_that_the_service_forgot_begins_anew(store: BucketStore, gcs: GcsServer, big: Path) -> None:
    gcs.faults.append(Fault("cut body", requests=SEND, after=HALF))
    gcs.faults.append(Fault("status", requests=SEND, status=410))
    blob = store.add_blob(big)
    assert gcs.contents(name_of(blob)) == DATA
    assert [start for start, _ in sent(gcs)] == [0, 0]


def test_a_broken_upload_leaves_nothing(store: BucketStore, gcs: GcsServer, big: Path) -> None:
    hurried = BucketStore(replace(OBJECTS, prefix="", patience=0.3))
    gcs.faults.append(Fault("cut body", times=1000, requests=SEND + r".* bytes \d+-", after=10))
    with pytest.raises(StoreUnreachable, match="is away"):
        hurried.add_blob(big)
    assert gcs.names() == []
    gcs.faults.clear()
    assert hurried.has_blob(hurried.add_blob(big))


def test_an_upload_that_breaks_after_long_goes_on(store: BucketStore, gcs: GcsServer, big: Path) -> None:
    """The time for which it is tried again begins when it breaks."""
    gcs.faults.append(Fault("cut body", requests=SEND, after=HALF, seconds=0.6))
    blob = BucketStore(replace(OBJECTS, prefix="", patience=0.4)).add_blob(big)
    assert gcs.contents(name_of(blob)) == DATA
    assert len(sent(gcs)) == 2


def test_an_upload_that_gets_on_slowly_is_not_given_up(store: BucketStore, gcs: GcsServer, big: Path) -> None:
    """Each request gets 1 MB further; all together take longer than one may go without getting on."""
    gcs.faults.append(Fault("cut body", times=15, requests=SEND + r".* bytes \d+-", after=1_200_000))
    slow = BucketStore(replace(OBJECTS, prefix="", patience=0.4, pauses=(0.1, 0.1)))
    blob = slow.add_blob(big)
    assert gcs.contents(name_of(blob)) == DATA


@pytest.mark.parametrize("size", [100, len(DATA)])
def test_a_file_that_changes_while_it_is_sent_is_not_stored(
    store: BucketStore, gcs: GcsServer, big: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    os.truncate(big, size)

    def change_after(path: Path) -> Digests:
        digests = digests_of(path)
        path.write_bytes(b"other" + DATA[5:size])
        return digests

    monkeypatch.setattr("translations_assets.store.bucket.store.digests_of", change_after)
    with pytest.raises(StoreError, match=r"corpus\.zst changed while it was being stored"):
        store.add_blob(big)
    assert gcs.names() == []


def test_a_file_that_becomes_shorter_while_it_is_sent_is_not_stored(
    store: BucketStore, gcs: GcsServer, big: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_after(path: Path) -> Digests:
        digests = digests_of(path)
        os.truncate(path, HALF)
        return digests

    monkeypatch.setattr("translations_assets.store.bucket.store.digests_of", cut_after)
    with pytest.raises(StoreError, match=r"corpus\.zst changed while it was being stored"):
        store.add_blob(big)
    assert gcs.names() == []


@pytest.mark.parametrize("kind", ["cut answer", "lost answer", "lost request", "status"])
def test_a_download_survives_connections_that_break(
    store: BucketStore, gcs: GcsServer, big: Path, tmp_path: Path, kind: Kind
) -> None:
    blob = store.add_blob(big)
    gcs.faults.append(Fault(kind, times=3, requests="GET .* bytes=", after=3_000_000))
    store.place_blob(blob, tmp_path / "placed")
    assert (tmp_path / "placed").read_bytes() == DATA


def test_a_download_goes_on_where_an_earlier_one_was_given_up(
    store: BucketStore, gcs: GcsServer, big: Path, tmp_path: Path
) -> None:
    blob = store.add_blob(big)
    hurried = BucketStore(replace(OBJECTS, prefix="", patience=0.2))
    gcs.faults.append(Fault("status", times=1000, requests=f"GET .* bytes={2 * PIECE}-"))
    with pytest.raises(StoreUnreachable, match="is away"):
        hurried.place_blob(blob, tmp_path / "placed")
    assert not (tmp_path / "placed").exists()
    gcs.faults.clear()
    gcs.requests.clear()
    hurried.place_blob(blob, tmp_path / "placed")
    assert (tmp_path / "placed").read_bytes() == DATA
    assert fetched(gcs) == [2 * PIECE], "the first two pieces are there"


def test_what_changed_on_its_way_is_fetched_again_and_no_damage(
    store: BucketStore, gcs: GcsServer, big: Path, tmp_path: Path
) -> None:
    blob = store.add_blob(big)
    gcs.faults.append(Fault("flipped answer", requests="GET .* bytes="))
    with pytest.raises(StoreUnreachable, match="was corrupted"):
        store.place_blob(blob, tmp_path / "placed")
    store.place_blob(blob, tmp_path / "placed")
    assert (tmp_path / "placed").read_bytes() == DATA
    small = store.add_bytes(b"small")
    gcs.faults.append(Fault("flipped answer", requests="GET /download"))
    assert store.read_blob(small) == b"small"
    assert not any("quarantine" in name for name in gcs.names())


@pytest.mark.parametrize("data", [DATA[:-1] + b"X", DATA[:-1], b""])
def test_damaged_contents_are_put_aside(
    store: BucketStore, gcs: GcsServer, big: Path, tmp_path: Path, data: bytes
) -> None:
    blob = store.add_blob(big)
    gcs.damage(name_of(blob), data)
    with pytest.raises(DamagedError, match=blob.digest):
        store.place_blob(blob, tmp_path / "placed")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus.zst"]
    assert not store.has_blob(blob)
    aside, reason = gcs.names()
    assert aside.startswith(f"quarantine/{blob.digest[:2]}.{blob.digest}.")
    assert reason == f"{aside}.reason.json"
    assert gcs.contents(aside) == data
    store.add_blob(big)
    store.place_blob(blob, tmp_path / "placed")


def test_two_writers_of_one_large_file_both_succeed(store: BucketStore, gcs: GcsServer, big: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        blobs = set(pool.map(lambda _: store.add_blob(big), range(4)))
    assert blobs == {digest_bytes(DATA)}
    assert gcs.names() == [name_of(*blobs)]
    assert gcs.contents(name_of(*blobs), BUCKET) == DATA


def test_a_target_that_cannot_be_written_is_named(store: BucketStore, big: Path, tmp_path: Path) -> None:
    blobs = store.add_blob(big), store.add_bytes(b"small")
    for blob in blobs:
        with pytest.raises(StoreError, match="nowhere"):
            store.place_blob(blob, tmp_path / "nowhere" / "placed")
