"""A service that lacks something a store needs is refused before anything is written."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.store.conftest import S3_OBJECTS
from tests.store.faults import Fault
from tests.store.s3_server import BUCKET, S3Server
from translations_assets.common.errors import StoreError
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.s3 import probe
from translations_assets.store.s3.objects import S3Objects


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was tried out yet."""
    monkeypatch.setattr(probe, "_passed", set())


@pytest.fixture
def unversioned(s3: S3Server) -> Iterator[None]:
    """A bucket that keeps no versions, as buckets are made."""
    s3.backend.buckets[BUCKET].versioning_status = None
    yield
    s3.backend.buckets[BUCKET].versioning_status = "Enabled"


def test_a_service_is_tried_out_once_in_a_process(store: BucketStore, s3: S3Server) -> None:
    store.runs()
    assert not any("clock/" in request for request in s3.requests), "nothing is written yet"
    store.add_bytes(b"text")
    asked = [request.split()[0] for request in s3.requests if "clock" in request]
    assert asked == ["PUT", "PUT", "PUT", "PUT", "DELETE", "HEAD", "GET", "GET", "DELETE"]
    s3.requests.clear()
    BucketStore(S3_OBJECTS).add_bytes(b"more")
    assert not any("clock" in request for request in s3.requests)
    assert not [name for name in s3.names() if name.startswith("clock")]


@pytest.mark.usefixtures("unversioned")
def test_a_bucket_without_versions_is_refused_with_the_remedy(store: BucketStore, s3: S3Server) -> None:
    told = (
        r"at http://127.*s3://tests: the bucket does not keep versions.*put-bucket-versioning --bucket tests"
    )
    for _ in range(2):
        with pytest.raises(StoreError, match=told):
            store.add_bytes(b"text")
    assert s3.names() == []


@pytest.mark.usefixtures("unversioned")
def test_a_service_that_lacks_something_is_tried_out_once(store: BucketStore, s3: S3Server) -> None:
    """Only where answers were lost may the trial be at fault."""
    with pytest.raises(StoreError):
        store.add_bytes(b"text")
    writes = [request for request in s3.requests if request.startswith("PUT") and "clock/" in request]
    assert len(writes) == 1


@pytest.mark.usefixtures("unversioned")
def test_a_bucket_without_versions_takes_publications(s3: S3Server, objects: S3Objects) -> None:
    """They are created and replaced, and never removed."""
    assert objects.create("model.bin", b"one")
    there = objects.stat("model.bin")
    assert there
    assert objects.replace("model.bin", b"two", there.generation)
    assert objects.replace("model.bin", b"three", there.generation) is None
    assert s3.names() == ["store/model.bin"]
    assert s3.contents("store/model.bin") == b"two"


@pytest.mark.parametrize(
    ("condition", "told"),
    [("HTTP_IF_NONE_MATCH", "If-None-Match"), ("HTTP_IF_MATCH", "If-Match")],
)
def test_a_service_that_overlooks_a_condition_is_refused(
    store: BucketStore, s3: S3Server, monkeypatch: pytest.MonkeyPatch, condition: str, told: str
) -> None:
    done = s3._done
    monkeypatch.setattr(
        s3, "_done", lambda environ: done({key: value for key, value in environ.items() if key != condition})
    )
    with pytest.raises(
        StoreError, match=rf"\(Werkzeug/.*overlooks the condition .*\({told}\).*newer release"
    ):
        store.add_bytes(b"text")
    assert s3.names() == []


def test_a_service_that_removes_more_than_a_version_is_refused(
    store: BucketStore, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = s3._done
    monkeypatch.setattr(
        s3,
        "_done",
        lambda environ: done(
            {**environ, "QUERY_STRING": ""} if environ["REQUEST_METHOD"] == "DELETE" else environ
        ),
    )
    with pytest.raises(StoreError, match="with one version of an object it removes others"):
        store.add_bytes(b"text")


def test_a_service_whose_clocks_differ_is_refused(
    store: BucketStore, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = s3._done

    def late(environ: dict[str, object]) -> tuple[str, list[tuple[str, str]], bytes]:
        answer = done(environ)
        for name in s3.backend.buckets[BUCKET].keys:
            for version in s3.backend.buckets[BUCKET].keys.getlist(name):
                if version.version_id not in moved:
                    moved.add(version.version_id)
                    version.last_modified -= timedelta(minutes=5)
        return answer

    moved: set[str] = set()
    monkeypatch.setattr(s3, "_done", late)
    with pytest.raises(StoreError, match="by its own clock it is .* Have the clocks of its machines set"):
        store.add_bytes(b"text")


@pytest.mark.parametrize("kind", ["lost answer", "lost request"])
def test_lost_answers_refuse_no_service(store: BucketStore, s3: S3Server, kind: str) -> None:
    """A condition fails because an earlier request of ours has done the work."""
    s3.faults.append(Fault(kind, requests="PUT .*clock"))  # type: ignore[arg-type]
    s3.faults.append(Fault(kind, requests="DELETE .*clock"))  # type: ignore[arg-type]
    assert store.has_blob(store.add_bytes(b"text"))
