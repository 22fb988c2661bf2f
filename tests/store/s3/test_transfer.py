"""Large contents on their way to a bucket of S3 and back; `gcs/test_transfer` has what is not S3's own."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.conftest import S3_OBJECTS
from tests.store.faults import Fault, Kind
from tests.store.s3_server import BUCKET, S3Server
from translations_assets.common.errors import DamagedError, StoreError, StoreUnreachable
from translations_assets.records.manifest import Blob
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.bucket.transfer import AT_ONCE, PIECE, digests_of
from translations_assets.store.contents import Digests, digest_bytes

DATA = os.urandom(1 << 20) * 40 + b"the end"
PART = r"PUT .*partNumber"
COMPLETE = r"POST .*uploadId"


@pytest.fixture
def big(tmp_path: Path) -> Path:
    """A file that is sent and fetched in several pieces."""
    path = tmp_path / "corpus.zst"
    path.write_bytes(DATA)
    return path


def name_of(blob: Blob) -> str:
    """The object that has the contents."""
    return f"blobs/{blob.digest[:2]}/{blob.digest}"


def begun(s3: S3Server) -> int:
    """How many uploads are neither complete nor given up."""
    return len(s3.backend.buckets[BUCKET].multiparts)


def test_a_large_file_goes_there_and_back(
    store: BucketStore, s3: S3Server, big: Path, tmp_path: Path
) -> None:
    blob = store.add_blob(big)
    assert blob == digest_bytes(DATA)
    assert s3.names() == [name_of(blob)]
    assert s3.contents(name_of(blob)) == DATA
    assert len([request for request in s3.requests if "partNumber" in request]) == 3
    store.place_blob(blob, tmp_path / "placed")
    assert (tmp_path / "placed").read_bytes() == DATA
    assert stat.S_IMODE((tmp_path / "placed").stat().st_mode) == 0o444
    assert store.read_blob(blob) == DATA
    s3.requests.clear()
    store.add_blob(big)
    assert [request.split()[0] for request in s3.requests] == ["HEAD"], "it is there"


@pytest.mark.parametrize("size", [AT_ONCE, AT_ONCE + 1])
def test_sizes_around_the_largest_that_goes_at_once(store: BucketStore, tmp_path: Path, size: int) -> None:
    (tmp_path / "file").write_bytes(DATA[:size])
    blob = store.add_blob(tmp_path / "file")
    store.place_blob(blob, tmp_path / "placed")
    assert (tmp_path / "placed").read_bytes() == DATA[:size]


@pytest.mark.parametrize("kind", ["lost request", "lost answer", "status", "cut body"])
@pytest.mark.parametrize("requests", [r"POST .*\?uploads", PART, COMPLETE])
def test_an_upload_survives_requests_that_fail(
    store: BucketStore, s3: S3Server, big: Path, kind: Kind, requests: str
) -> None:
    fault = Fault(kind, times=2, requests=requests, after=1000)
    s3.faults.append(fault)
    blob = store.add_blob(big)
    assert fault.times == 0
    assert s3.names() == [name_of(blob)]
    assert s3.contents(name_of(blob)) == DATA


def test_an_upload_whose_last_answer_was_lost_is_done(store: BucketStore, s3: S3Server, big: Path) -> None:
    """Services that do not know the upload any more say so to who completes it again."""
    s3.faults.append(Fault("lost answer", requests=COMPLETE))
    s3.faults.append(Fault("status", requests=COMPLETE, status=404, code="NoSuchUpload"))
    blob = store.add_blob(big)
    assert [fault.times for fault in s3.faults] == [0, 0]
    assert s3.contents(name_of(blob)) == DATA


def test_a_broken_upload_leaves_nothing(s3: S3Server, big: Path) -> None:
    hurried = BucketStore(replace(S3_OBJECTS, prefix="", patience=0.3))
    s3.faults.append(Fault("status", times=1000, requests=PART))
    with pytest.raises(StoreUnreachable, match="is away"):
        hurried.add_blob(big)
    assert s3.names() == []
    assert begun(s3) == 0
    s3.faults.clear()
    assert hurried.has_blob(hurried.add_blob(big))


@pytest.mark.parametrize("size", [100, len(DATA)])
def test_a_file_that_changes_while_it_is_sent_is_not_stored(
    store: BucketStore, s3: S3Server, big: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    os.truncate(big, size)

    def change_after(path: Path) -> Digests:
        digests = digests_of(path)
        path.write_bytes(b"other" + DATA[5:size])
        return digests

    monkeypatch.setattr("translations_assets.store.bucket.store.digests_of", change_after)
    with pytest.raises(StoreError, match=r"corpus\.zst changed while it was being stored"):
        store.add_blob(big)
    assert s3.names() == []
    assert begun(s3) == 0


@pytest.mark.parametrize("kind", ["cut answer", "lost answer", "lost request", "status"])
def test_a_download_survives_connections_that_break(
    store: BucketStore, s3: S3Server, big: Path, tmp_path: Path, kind: Kind
) -> None:
    blob = store.add_blob(big)
    s3.faults.append(Fault(kind, times=3, requests="GET .* bytes=", after=3_000_000))
    store.place_blob(blob, tmp_path / "placed")
    assert (tmp_path / "placed").read_bytes() == DATA


def test_a_download_goes_on_where_an_earlier_one_was_given_up(
    store: BucketStore, s3: S3Server, big: Path, tmp_path: Path
) -> None:
    blob = store.add_blob(big)
    hurried = BucketStore(replace(S3_OBJECTS, prefix="", patience=0.2))
    s3.faults.append(Fault("status", times=1000, requests=f"GET .* bytes={2 * PIECE}-"))
    with pytest.raises(StoreUnreachable, match="is away"):
        hurried.place_blob(blob, tmp_path / "placed")
    s3.faults.clear()
    s3.requests.clear()
    hurried.place_blob(blob, tmp_path / "placed")
    assert (tmp_path / "placed").read_bytes() == DATA
    assert not [request for request in s3.requests if f"bytes={PIECE}-" in request], "it is there"


def test_what_changed_on_its_way_is_fetched_again_and_no_damage(
    store: BucketStore, s3: S3Server, big: Path, tmp_path: Path
) -> None:
    blob = store.add_blob(big)
    s3.faults.append(Fault("flipped answer", requests="GET .* bytes="))
    with pytest.raises(StoreUnreachable, match="was corrupted"):
        store.place_blob(blob, tmp_path / "placed")
    store.place_blob(blob, tmp_path / "placed")
    assert (tmp_path / "placed").read_bytes() == DATA


@pytest.mark.parametrize("data", [DATA[:-1] + b"X", DATA[:-1], b""])
def test_damaged_contents_are_put_aside(
    store: BucketStore, s3: S3Server, big: Path, tmp_path: Path, data: bytes
) -> None:
    blob = store.add_blob(big)
    s3.damage(name_of(blob), data)
    with pytest.raises(DamagedError, match=blob.digest):
        store.place_blob(blob, tmp_path / "placed")
    assert not store.has_blob(blob)
    aside, reason = s3.names()
    assert aside.startswith(f"quarantine/{blob.digest[:2]}.{blob.digest}.")
    assert reason == f"{aside}.reason.json"
    store.add_blob(big)
    store.place_blob(blob, tmp_path / "placed")


def test_two_writers_of_one_large_file_both_succeed(store: BucketStore, s3: S3Server, big: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        blobs = set(pool.map(lambda _: store.add_blob(big), range(4)))
    assert blobs == {digest_bytes(DATA)}
    assert s3.names() == [name_of(*blobs)]
    assert begun(s3) == 0


def test_contents_that_are_touched_while_they_are_read(
    store: BucketStore, s3: S3Server, big: Path, tmp_path: Path
) -> None:
    """A touch makes another version, and removes the one that was found."""
    blob = store.add_blob(big)
    found = store.files.objects.stat(name_of(blob))
    assert found
    s3.age()
    assert store.files.objects.touch(name_of(blob))
    assert store.files.objects.read_range(found, 0, 5) == DATA[:5]
    store.files.objects.delete(name_of(blob))
    with pytest.raises(StoreError, match="was deleted from the store s3://tests while it was read"):
        store.files.objects.read_range(found, 0, 5)
