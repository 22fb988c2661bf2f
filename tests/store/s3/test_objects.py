"""What is S3's own of the operations on a bucket; `bucket/test_objects` tests the rest."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.store.faults import Fault
from tests.store.s3_server import BUCKET, S3Server
from translations_assets.common.errors import StoreError, StoreUnreachable
from translations_assets.store.s3 import objects as adapter
from translations_assets.store.s3.client import client
from translations_assets.store.s3.objects import S3Objects


def asked(s3: S3Server) -> list[str]:
    """What the server was asked since, without names."""
    return [request.split()[0] for request in s3.requests]


def test_requests_of_each_operation(
    objects: S3Objects, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As docs/deployment.md tells what they cost."""
    first = 0
    monkeypatch.setattr(adapter, "_found", set())
    for action, requests in (
        (lambda: objects.stat("missing"), "HEAD HEAD"),  # is it the bucket that is missing?
        (lambda: objects.stat("missing"), "HEAD"),
        (lambda: objects.create("a", b"one"), "PUT"),
        (lambda: objects.read("a"), "GET"),
        (lambda: objects.stat("a"), "HEAD"),
        (lambda: objects.replace("b", b"one", 0), "PUT GET"),
        (lambda: objects.write("c", b"one"), "PUT GET"),
        (lambda: objects.write("c", b"two"), "PUT GET DELETE"),
        (lambda: objects.touch("a"), "HEAD PUT GET DELETE"),
        (lambda: objects.copy("a", "d"), "HEAD PUT GET"),
        (lambda: list(objects.walk("")), "GET"),
        (lambda: objects.delete("a"), "GET DELETE"),
    ):
        action()
        assert " ".join(asked(s3)[first:]) == requests
        first = len(s3.requests)


def test_what_a_killed_writer_left_is_removed_by_the_next(objects: S3Objects, s3: S3Server) -> None:
    """Versions that were replaced are removed by who replaces; killed before, it leaves them."""
    for text in (b"one", b"two", b"three"):
        s3.backend.put_object(BUCKET, "store/a", text)
    assert s3.names() == ["store/a"] * 3
    there = objects.read("a")
    assert there
    assert objects.replace("a", b"four", there[1])
    assert s3.names() == ["store/a"]
    for text in (b"five", b"six"):
        s3.backend.put_object(BUCKET, "store/a", text)
    assert objects.delete("a")
    assert s3.names() == [], "an earlier version would be the object again"
    assert objects.create("a", b"seven")


def test_a_removal_that_breaks_off_leaves_the_latest(objects: S3Objects, s3: S3Server) -> None:
    for text in (b"one", b"two"):
        s3.backend.put_object(BUCKET, "store/a", text)
    s3.faults.append(Fault("none", requests="DELETE"))
    s3.faults.append(Fault("status", requests="DELETE", status=403))
    with pytest.raises(StoreError, match="remove store/a"):
        objects.delete("a")
    found = objects.read("a")
    assert found
    assert found[0] == b"two"


def test_what_others_removed_is_not_there(objects: S3Objects, s3: S3Server) -> None:
    """Other programs leave a marker in place of the object."""
    objects.write("a", b"one")
    client(objects.timeout).delete_object(Bucket=BUCKET, Key="store/a")
    assert objects.read("a") is None
    assert objects.stat("a") is None
    assert list(objects.walk("")) == []
    assert not objects.delete("a")
    assert s3.names() == []


def test_who_replaces_while_it_is_removed_keeps_the_new_one(
    objects: S3Objects, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look and the removal."""
    first = objects.replace("a", b"one", 0)
    assert first
    remove = S3Objects._remove

    def replaced(self: S3Objects, name: str, version: adapter.Version) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(S3Objects, "_remove", remove)
            if objects.read("a") == (b"one", first):
                assert objects.replace("a", b"two", first)
        remove(self, name, version)

    monkeypatch.setattr(S3Objects, "_remove", replaced)
    objects.delete("a", first)
    monkeypatch.undo()
    assert s3.contents("store/a") == b"two"


def test_who_touches_at_the_same_time(objects: S3Objects, s3: S3Server) -> None:
    """The version that one of them copies is removed by another."""
    objects.write("a", b"one")
    for _ in range(5):
        s3.age()
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(objects.touch, ["a"] * 8))
    assert objects.touch("a")
    assert s3.names() == ["store/a"]


def test_notes_stay_with_what_is_touched_or_copied(objects: S3Objects) -> None:
    objects.replace("a.json", b"{}", 0, {"began": "12"})
    assert objects.touch("a.json")
    assert objects.copy("a.json", "b")
    for name in ("a.json", "b"):
        found = objects.stat(name)
        assert found
        assert dict(found.notes) == {"began": "12"}
    kept = client(objects.timeout).head_object(Bucket=BUCKET, Key="store/b")
    assert kept["ContentType"] == "application/json"


def test_what_is_written_while_it_is_touched_keeps_its_own_notes(
    objects: S3Objects, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects.replace("a", b"one", 0, {"began": "1"})
    look = S3Objects._head

    def overtaken(self: S3Objects, name: str) -> dict[str, object]:
        answer = look(self, name)
        if answer["Metadata"]["began"] == "1":
            objects._put(name, b"two", {"began": "2"})
            objects._tidy(name)
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(S3Objects, "_head", overtaken)
        assert objects.touch("a")
    found = objects.stat("a")
    assert found
    assert dict(found.notes) == {"began": "2"}
    assert s3.contents("store/a") == b"two"
    assert s3.names() == ["store/a"]


def test_contents_that_no_single_request_can_copy(
    objects: S3Objects, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bytes(11 << 20)
    objects.replace("a", data, 0, {"began": "12"})
    monkeypatch.setattr(adapter, "LARGEST_COPY", 5 << 20)
    monkeypatch.setattr(adapter._COPIED, "multipart_threshold", 5 << 20)
    monkeypatch.setattr(adapter._COPIED, "multipart_chunksize", 5 << 20)
    before = objects.stat("a")
    assert before
    assert objects.touch("a")
    assert [request for request in s3.requests if "uploadId" in request]
    after = objects.stat("a")
    assert after
    assert (after.size, after.crc32c, after.notes) == (len(data), before.crc32c, before.notes)
    assert s3.contents("store/a") == data


def test_contents_that_changed_on_their_way_are_read_again(objects: S3Objects, s3: S3Server) -> None:
    objects.write("a", b"one")
    s3.faults.append(Fault("flipped answer", requests="GET /tests/store/a"))
    found = objects.read("a")
    assert found
    assert found[0] == b"one"


@pytest.mark.parametrize("times", [1, 3])
def test_small_contents_that_are_cut_off_on_their_way_are_sent_again(
    objects: S3Objects, s3: S3Server, times: int
) -> None:
    fault = Fault("cut body", times=times, requests="PUT", after=1000)
    s3.faults.append(fault)
    assert objects.create("a", b"one" * 1000)
    assert fault.times == 0
    assert s3.contents("store/a") == b"one" * 1000
    assert s3.names() == ["store/a"]


def test_a_removal_whose_answer_is_lost_is_done(objects: S3Objects, s3: S3Server) -> None:
    objects.write("a", b"one")
    s3.faults.append(Fault("lost answer", requests="DELETE"))
    assert objects.delete("a")
    assert s3.names() == []


def test_a_certificate_that_is_not_trusted_is_told(
    objects: S3Objects, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3.url.replace("http:", "https:"))
    with pytest.raises(StoreError, match="name its authority in AWS_CA_BUNDLE") as error:
        objects.read("a")
    assert not isinstance(error.value, StoreUnreachable)


def test_an_address_that_redirects_is_told(objects: S3Objects, s3: S3Server) -> None:
    """As a web server before the service does, from http to https."""
    s3.faults.append(Fault("status", times=10_000, status=301))
    for action in (lambda: objects.read("a"), lambda: objects.create("a", b"")):
        with pytest.raises(StoreError, match="address redirects. Name in AWS_ENDPOINT_URL_S3 .* https://"):
            action()


def test_an_address_of_another_kind_of_server_is_told(
    objects: S3Objects, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A web server answers with pages."""
    page = b"<html><body>It works!<br></body></html>"
    monkeypatch.setattr(
        s3, "_done", lambda environ: ("404 Not Found", [("Content-Length", str(len(page)))], page)
    )
    with pytest.raises(StoreError, match="could not list store/.*") as error:
        objects.folder("")
    assert not isinstance(error.value, StoreUnreachable)
    assert "AWS_ENDPOINT_URL_S3" in str(error.value)


def test_a_conditional_write_that_meets_another_is_made_again(objects: S3Objects, s3: S3Server) -> None:
    fault = Fault("status", times=2, requests="PUT", status=409, code="ConditionalRequestConflict")
    s3.faults.append(fault)
    assert objects.create("a", b"one")
    assert fault.times == 0


@pytest.mark.parametrize(
    ("code", "status", "told"),
    [
        ("AccessDenied", 403, "s3:ListBucketVersions.*s3:DeleteObjectVersion"),
        ("ExpiredToken", 400, "have expired. On your own machine: aws configure, or aws sso login"),
        ("InvalidAccessKeyId", 403, "AWS_SECRET_ACCESS_KEY"),
        ("SignatureDoesNotMatch", 403, "The credentials are not accepted"),
        ("RequestTimeTooSkewed", 403, "The clock of this machine is wrong"),
        ("AuthorizationHeaderMalformed", 400, "another region. Set AWS_REGION .*get-bucket-location"),
    ],
)
def test_what_does_not_pass_is_told_with_its_remedy(
    objects: S3Objects, s3: S3Server, code: str, status: int, told: str
) -> None:
    s3.faults.append(Fault("status", times=1000, status=status, code=code))
    start = time.monotonic()
    for action in (lambda: objects.read("a"), lambda: objects.create("a", b""), lambda: objects.folder("")):
        with pytest.raises(StoreError, match=told) as error:
            action()
        assert not isinstance(error.value, StoreUnreachable)
    assert time.monotonic() - start < objects.patience, "it is not asked again"


def test_without_credentials_the_remedy_is_told(objects: S3Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(StoreError, match="Unable to locate credentials. On your own machine: aws configure"):
        replace(objects, timeout=(7.25, 7.25)).read("a")  # a client of its own


def test_an_addressing_that_is_none_is_told(objects: S3Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_S3_ADDRESSING", "host")
    with pytest.raises(
        StoreError, match="TRANSLATIONS_S3_ADDRESSING='host' is unknown; give path or virtual"
    ):
        objects.read("a")


@pytest.mark.parametrize(
    ("endpoint", "setting", "url"),
    [
        ("http://127.0.0.1:9", "", "http://127.0.0.1:9/bucket/a"),
        ("http://objects.local:9", "", "http://objects.local:9/bucket/a"),
        ("http://objects.local:9", "virtual", "http://bucket.objects.local:9/a"),
        ("", "", "https://bucket.s3.amazonaws.com/a"),
        ("", "path", "https://s3.amazonaws.com/bucket/a"),
    ],
)
def test_where_requests_name_the_bucket(
    objects: S3Objects, monkeypatch: pytest.MonkeyPatch, endpoint: str, setting: str, url: str
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", endpoint)
    monkeypatch.setenv("TRANSLATIONS_S3_ADDRESSING", setting)
    if not endpoint:
        monkeypatch.delenv("AWS_ENDPOINT_URL_S3")
    made = client(objects.timeout).generate_presigned_url(
        "get_object", Params={"Bucket": "bucket", "Key": "a"}
    )
    assert made.partition("?")[0] == url
