"""Tries out whether a service that speaks as S3 does has what a store needs; once in a process that writes.

Services differ, and one that overlooks a condition answers as if it had held: two workers would make one
step, and contents that are in use would be removed.
"""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Callable
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from translations_assets.common.errors import StoreError
from translations_assets.store.s3.errors import is_missing, is_refused

_FOLDER = "clock/"  # objects there are swept when they are old
_CLOCKS_SECONDS = 30  # by which the clocks of a service's machines may differ
_TRIES = 3  # when answers are lost, a condition may fail because of our own work
_guard = threading.Lock()
_passed: set[tuple[int, str, str]] = set()

Answer = dict[str, Any]
Repeat = Callable[[Callable[[], Any], list[Exception]], Any]

_UPDATE = "Use a newer release of the service, another service, or a store in a folder (docs/deployment.md)."


class _Lacking(Exception):
    """The service lacks something; the remedy."""

    def __init__(self, need: str, remedy: str = _UPDATE) -> None:
        super().__init__(need)
        self.remedy = remedy


def check(client: Any, bucket: str, prefix: str, repeat: Repeat) -> None:
    """Raise StoreError, with the remedy, when the service lacks something.

    prefix  of the store's objects, empty or with a / at its end
    repeat  makes a request, again while what is wrong may pass; notes what was wrong
    """
    known = os.getpid(), str(client.meta.endpoint_url), bucket
    if known in _passed:
        return
    with _guard:
        if known not in _passed:
            _try_out(client, bucket, prefix, repeat)
            _passed.add(known)


def _try_out(client: Any, bucket: str, prefix: str, repeat: Repeat) -> None:
    for left in reversed(range(_TRIES)):
        probe = _Probe(client, bucket, f"{prefix}{_FOLDER}{uuid.uuid4().hex}", repeat)
        try:
            probe.run()
            return
        except _Lacking as error:
            if not (probe.failures and left):
                raise StoreError(
                    f"The service at {client.meta.endpoint_url}{probe.server} cannot keep the store in "
                    f"s3://{bucket}: {error}. {error.remedy}"
                ) from error
        finally:
            probe.leave()


class _Probe:
    """An object that is written, listed and removed.

    failures  errors that caused repeats
    server    what the service calls itself, for people
    """

    def __init__(self, client: Any, bucket: str, key: str, repeat: Repeat) -> None:
        self._client, self._bucket, self._key, self._repeat = client, bucket, key, repeat
        self.failures: list[Exception] = []
        self.server = ""

    def run(self) -> None:
        first = self._write(b"1", IfNoneMatch="*")
        if first is None:
            raise _Lacking("it does not write an object on condition that none is there")
        if "VersionId" not in first:
            raise _Lacking(
                "the bucket does not keep versions of objects",
                f"Have it keep them: aws s3api put-bucket-versioning --bucket {self._bucket} "
                "--versioning-configuration Status=Enabled",
            )
        if self._write(b"2", IfNoneMatch="*") is not None:
            raise _Lacking("it overlooks the condition that no object is there (If-None-Match)")
        second = self._write(b"2", IfMatch=first["ETag"])
        if second is None or self._write(b"3", IfMatch=first["ETag"]) is not None:
            raise _Lacking("it overlooks the condition that an object is unchanged (If-Match)")
        self._compare(first, second)

    def _compare(self, first: Answer, second: Answer) -> None:
        """Look at the object in all ways after a write, and after the removal of the version before it."""
        self._ask(self._client.delete_object, VersionId=first["VersionId"])
        try:
            found = self._ask(self._client.head_object)
        except ClientError as error:
            if is_missing(error):
                raise _Lacking("with one version of an object it removes others") from error
            raise
        listed = self._versions().get(second["VersionId"])
        if found["ETag"] != second["ETag"] or listed is None or listed["ETag"] != second["ETag"]:
            raise _Lacking("what was written is not there at once")
        if int(listed["LastModified"].timestamp()) != int(found["LastModified"].timestamp()):
            raise _Lacking("it tells two times of one object")
        now = parsedate_to_datetime(found["ResponseMetadata"]["HTTPHeaders"]["date"])
        if abs((now - found["LastModified"]).total_seconds()) > _CLOCKS_SECONDS:
            raise _Lacking(
                f"by its own clock it is {now:%H:%M:%S}, and what it wrote just now is of "
                f"{found['LastModified']:%H:%M:%S}",
                "Have the clocks of its machines set (NTP).",
            )

    def leave(self) -> None:
        """Remove the object; what cannot be removed is swept later."""
        with suppress(BotoCoreError, ClientError):
            for version in self._versions():
                self._ask(self._client.delete_object, VersionId=version)

    def _write(self, data: bytes, **condition: str) -> Answer | None:
        """Write the object; None when the condition does not hold."""
        try:
            answer: Answer = self._ask(self._client.put_object, Body=data, **condition)
        except ClientError as error:
            if is_refused(error):
                return None
            raise
        if server := answer["ResponseMetadata"]["HTTPHeaders"].get("server"):
            self.server = f" ({server})"
        return answer

    def _versions(self) -> dict[str, Answer]:
        listed = self._repeat(
            lambda: self._client.list_object_versions(Bucket=self._bucket, Prefix=self._key), self.failures
        )
        return {found["VersionId"]: found for found in listed.get("Versions", ())}

    def _ask(self, method: Callable[..., Any], **given: Any) -> Any:
        return self._repeat(lambda: method(Bucket=self._bucket, Key=self._key, **given), self.failures)
