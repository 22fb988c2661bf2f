"""Objects of S3, or of a service that speaks as S3 does, in a bucket that keeps versions.

Conditions go by an object's ETag, a digest of its contents, so they hold for writes only whose contents are
unlike those before. No condition tells that an object was touched, and many services overlook one on a
removal. So what is removed is a version: one that has been replaced, or touched, since it was seen is no
longer the object, and its removal harms nobody. Versions that are replaced are removed by who replaces them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from boto3.s3.transfer import TransferConfig
from botocore.exceptions import ClientError

from translations_assets.store.bucket.objects import (
    PATIENCE,
    PAUSES,
    TIMEOUT,
    Objects,
    Stat,
    bucket_and_prefix,
    media_type,
    was_deleted,
)
from translations_assets.store.bucket.patience import repeat
from translations_assets.store.bucket.transfer import AT_ONCE, checksum, whole_file
from translations_assets.store.contents import Digests
from translations_assets.store.s3 import probe
from translations_assets.store.s3.client import client
from translations_assets.store.s3.errors import (
    asked_pause,
    is_bare,
    is_missing,
    is_refused,
    passes,
    store_errors,
)
from translations_assets.store.s3.upload import S3Upload, md5

LARGEST_COPY = 5 << 30  # bytes that the service copies by one request
_COPIED = TransferConfig(multipart_threshold=LARGEST_COPY, multipart_chunksize=1 << 30)
_CHECKSUM = "crc32c"  # noted with each object, as services differ in the checksums that they know
_found: set[tuple[str, str]] = set()  # buckets that were there, by their endpoint and name


class Version(NamedTuple):
    """One of an object's versions; of a marker that says it was deleted, the generation is 0."""

    id: str
    generation: int
    is_latest: bool


@dataclass(frozen=True)
class S3Objects(Objects):
    """The objects of a bucket whose names begin with a prefix; names are given without it.

    patience  seconds for which a request is repeated while what is wrong may pass
    timeout   seconds to connect, and between two pieces of an answer
    pauses    seconds: about the first, and at most the longest
    is_store  whether the service must have all that a store needs
    """

    lists_notes = False

    bucket_name: str
    prefix: str = ""  # empty, or ends with /
    patience: float = PATIENCE
    timeout: tuple[float, float] = TIMEOUT
    pauses: tuple[float, float] = PAUSES
    is_store: bool = False

    @property
    def url(self) -> str:
        """`s3://bucket/prefix`."""
        return f"s3://{self.bucket_name}/{self.prefix}".rstrip("/")

    @classmethod
    def at(cls, url: str) -> S3Objects:
        """Those at `s3://bucket/prefix`; nothing is asked of the service. Raises StoreError."""
        return cls(*bucket_and_prefix(url, "s3"))

    def hurried(self, seconds: float) -> S3Objects:
        """These objects, whose requests are repeated for so many seconds only."""
        return replace(self, patience=seconds, timeout=(seconds, seconds))

    def for_store(self) -> S3Objects:
        """These objects, which refuse the first write if the service lacks something that a store needs."""
        return replace(self, is_store=True)

    def read(self, name: str) -> tuple[bytes, int] | None:
        """An object's contents and generation, None when it does not exist."""
        with self._asking("read", name):
            data, answer = self._get(name)
            if checksum(data) != answer["Metadata"].get(_CHECKSUM, checksum(data)):
                data, answer = self._get(name)  # it may have changed on its way only
            return data, _generation(answer)
        return None

    def _get(self, name: str, **given: str) -> tuple[bytes, dict[str, Any]]:
        def ask() -> tuple[bytes, dict[str, Any]]:
            answer = self.client.get_object(Bucket=self.bucket_name, Key=self.prefix + name, **given)
            with closing(answer["Body"]) as body:
                return body.read(), answer

        got: tuple[bytes, dict[str, Any]] = self._repeat(ask)
        return got

    def create(self, name: str, data: bytes) -> bool:
        """Write an object that is not there yet; False when the name is taken."""
        failures: list[Exception] = []
        with self.store_errors("write", name):
            if self._put(name, data, failures=failures, IfNoneMatch="*"):
                return True
            found = self.read(name) if failures else None  # else no earlier request can have been ours
            return found is not None and found[0] == data

    def replace(
        self, name: str, data: bytes, generation: int, notes: Mapping[str, str] | None = None
    ) -> int | None:
        """Write an object in place of the generation that was read (0: of none), with something noted.

        Its new generation; None when another one is there by now. The contents must be unlike all before.
        """
        with self.store_errors("write", name):
            condition = {"IfNoneMatch": "*"}
            if generation:
                there = self.stat(name)
                if there is None or there.generation != generation:
                    return None
                condition = {"IfMatch": f'"{there.tag}"'}
            failures: list[Exception] = []
            if not self._put(name, data, notes, failures, **condition) and not failures:
                return None
            found = self.read(name)
            if found is None or found[0] != data:
                return None
            if generation:
                self._tidy(name)
            return found[1]

    def write(self, name: str, data: bytes) -> None:
        """Write an object, whatever is there."""
        with self.store_errors("write", name):
            self._put(name, data)
            self._tidy(name)

    def _put(
        self,
        name: str,
        data: bytes,
        notes: Mapping[str, str] | None = None,
        failures: list[Exception] | None = None,
        **condition: str,
    ) -> bool:
        """Write an object; False when the condition does not hold."""
        self._check_service()
        described = self._described(name, checksum(data), notes or {})
        try:
            checked = {"Body": data, "ContentMD5": md5(data)}
            self.ask(self.client.put_object, failures, name=name, **checked, **described, **condition)
        except ClientError as error:
            if is_refused(error) or (is_missing(error) and "IfMatch" in condition):
                return False
            raise
        return True

    def upload(self, path: Path, name: str, digests: Digests) -> bool:
        """Write a file's contents to an object; False when the name is taken.

        Raises StoreError when these are not, or no longer, those of the digests.
        """
        with path.open("rb") as file, self.store_errors("write", name):
            if digests.blob.size <= AT_ONCE:
                return self.create(name, whole_file(file, path, digests))
            self._check_service()
            if self.stat(name) is not None:  # not every service knows the condition on an upload in parts
                return False
            ask, described = partial(self.ask, name=name), self._described(name, digests.crc32c)
            return S3Upload(self.client, ask, described, file, path, digests).run()

    def read_range(self, found: Stat, start: int, end: int) -> bytes:
        """Bytes `start` to before `end` of the object that was found; StoreError when it was deleted."""
        there: Stat | None = found
        for _ in range(2):
            if there is None or (there.size, there.crc32c) != (found.size, found.crc32c):
                break
            with self._asking("read", found.name):
                return self._get(found.name, Range=f"bytes={start}-{end - 1}", IfMatch=f'"{there.tag}"')[0]
            there = self.stat(found.name)  # of contents that were sent in parts, a touch changes the ETag
        raise was_deleted(found, self)

    def copy(self, name: str, target: str, *, replace: bool = True) -> bool:
        """Write an object's contents, and what is noted with it, under another name.

        False when it does not exist, or (not to `replace`) the name is taken: that is looked up before.
        """
        with self._asking("copy", name):
            if not replace and self.stat(target) is not None:
                return False
            self._copy(name, target)
            return True
        return False

    def touch(self, name: str) -> bool:
        """Set the time of an object's last change to now, by a copy; False when it does not exist."""
        with self._asking("touch", name):
            self._copy(name, name)
            return True
        return False

    def _copy(self, name: str, target: str) -> None:
        """Copy an object, again when another has replaced or touched it meanwhile."""
        self._check_service()
        while True:
            answer = self._head(name)
            try:
                self._copy_version(name, target, answer)
            except ClientError as error:
                if not is_missing(error):
                    raise
            else:
                break
        self._tidy(target)

    def _copy_version(self, name: str, target: str, answer: Mapping[str, Any]) -> None:
        source = {"Bucket": self.bucket_name, "Key": self.prefix + name}
        if "VersionId" in answer:  # the one that was looked at: a later one may have other notes
            source["VersionId"] = answer["VersionId"]
        described = {
            "Metadata": answer["Metadata"],
            "ContentType": answer.get("ContentType", media_type(name)),
        }
        if answer["ContentLength"] <= LARGEST_COPY:
            self.ask(
                self.client.copy_object,
                name=target,
                CopySource=source,
                MetadataDirective="REPLACE",
                **described,
            )
        else:
            self.ask(self.client.copy, name=target, CopySource=source, ExtraArgs=described, Config=_COPIED)

    def delete(self, name: str, generation: int | None = None, metageneration: int | None = None) -> bool:
        """Remove an object, if it still is what was seen; False when it is not, or not there."""
        with self._asking("remove", name):
            self._check_service()
            versions = self._versions(name)
            latest = next((version for version in versions if version.is_latest), None)
            if latest is None or (generation is not None and latest.generation != generation):
                return False
            for version in sorted(versions, key=lambda version: version.is_latest):
                self._remove(
                    name, version
                )  # the latest at last: else one before it would be the object again
            return latest.generation > 0
        return False

    def stat(self, name: str) -> Stat | None:
        """Return the facts about an object, None when it does not exist."""
        with self._asking("look at", name):
            answer = self._head(name)
            notes = dict(answer["Metadata"])
            crc32c = notes.pop(_CHECKSUM, "")
            return _stat(name, answer["ContentLength"], answer)._replace(crc32c=crc32c, notes=notes)
        return None

    def walk(self, prefix: str) -> Iterator[Stat]:
        """The objects whose names begin with a prefix, in order, by page."""
        with self.store_errors("list", prefix):
            for page in self._pages(self.client.list_objects_v2, prefix):
                yield from map(self._listed, page.get("Contents", ()))

    def folder(self, folder: str) -> tuple[list[Stat], list[str]]:
        """List the objects and folders directly below a folder (a name that ends with /, or empty).

        The folders are given by their last name, without the /.
        """
        objects, folders, below = list[Stat](), list[str](), len(self.prefix + folder)
        with self.store_errors("list", folder):
            for page in self._pages(self.client.list_objects_v2, folder, Delimiter="/"):
                objects += map(self._listed, page.get("Contents", ()))
                folders += (found["Prefix"][below:-1] for found in page.get("CommonPrefixes", ()))
        return objects, sorted(folders)

    @contextmanager
    def _asking(self, doing: str, name: str) -> Iterator[None]:
        """Leave a block early when the object does not exist, or is not what was seen."""
        with self.store_errors(doing, name):
            try:
                yield
            except ClientError as error:
                if is_missing(error):
                    if is_bare(error):
                        self._find_bucket()
                elif not is_refused(error):
                    raise

    def _find_bucket(self) -> None:
        """Raise the client's error when the bucket is missing; asked once in a process."""
        bucket = str(self.client.meta.endpoint_url), self.bucket_name
        if bucket not in _found:
            self._ask_bucket(self.client.head_bucket)
            _found.add(bucket)

    @property
    def client(self) -> Any:
        """The client, with this object's limits of time."""
        return client(self.timeout)

    def ask(
        self, method: Callable[..., Any], failures: list[Exception] | None = None, *, name: str, **given: Any
    ) -> Any:
        """Make a request about an object; `failures` receives the errors that caused repeats."""
        return self._ask_bucket(method, failures, Key=self.prefix + name, **given)

    def _ask_bucket(
        self, method: Callable[..., Any], failures: list[Exception] | None = None, **given: Any
    ) -> Any:
        return self._repeat(lambda: method(Bucket=self.bucket_name, **given), failures)

    def _repeat(self, ask: Callable[[], Any], failures: list[Exception] | None = None) -> Any:
        return repeat(ask, passes, asked_pause, patience=self.patience, pauses=self.pauses, failures=failures)

    def store_errors(self, doing: str, name: str) -> AbstractContextManager[None]:
        """Turn the client's errors into StoreError, with what could not be done."""
        return store_errors(self.bucket_name, f"{doing} {self.prefix}{name}")

    def _described(
        self, name: str, crc32c: str, notes: Mapping[str, str] = MappingProxyType({})
    ) -> dict[str, Any]:
        """Parameters of a request that makes an object: what is noted with it."""
        return {"ContentType": media_type(name), "Metadata": {_CHECKSUM: crc32c, **notes}}

    def _check_service(self) -> None:
        if self.is_store:
            probe.check(self.client, self.bucket_name, self.prefix, self._repeat)

    def _head(self, name: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.ask(self.client.head_object, name=name)
        return answer

    def _pages(self, method: Callable[..., Any], prefix: str, **given: Any) -> Iterator[dict[str, Any]]:
        going_on: dict[str, Any] = {}
        while True:
            page = self._ask_bucket(method, Prefix=self.prefix + prefix, **given, **going_on)
            yield page
            if not page["IsTruncated"]:
                return
            going_on = {"ContinuationToken": page["NextContinuationToken"]}

    def _listed(self, found: dict[str, Any]) -> Stat:
        return _stat(found["Key"].removeprefix(self.prefix), found["Size"], found)

    def _versions(self, name: str) -> list[Version]:
        """All versions of an object; objects whose names begin with its name are listed after it."""
        versions, going_on = list[Version](), dict[str, Any]()
        key = self.prefix + name
        while True:
            page = self._ask_bucket(self.client.list_object_versions, Prefix=key, **going_on)
            for kind in ("Versions", "DeleteMarkers"):
                for found in page.get(kind, ()):
                    if found["Key"] == key:
                        generation = _generation(found) if kind == "Versions" else 0
                        versions.append(Version(found["VersionId"], generation, found["IsLatest"]))
            if not page["IsTruncated"] or page["NextKeyMarker"] != key:
                return versions
            going_on = {"KeyMarker": key, "VersionIdMarker": page["NextVersionIdMarker"]}

    def _tidy(self, name: str) -> None:
        """Remove versions that were replaced: who replaced them may have been killed before it could."""
        for version in self._versions(name):
            if not version.is_latest:
                self._remove(name, version)

    def _remove(self, name: str, version: Version) -> None:
        self.ask(self.client.delete_object, name=name, VersionId=version.id)


def _stat(name: str, size: int, found: Mapping[str, Any]) -> Stat:
    modified = int(found["LastModified"].timestamp()) * 10**9
    return Stat(name, size, _generation(found), 0, modified, modified, tag=found["ETag"].strip('"'))


def _generation(found: Mapping[str, Any]) -> int:
    """A number for an object as it was written or touched: by its second, then by its contents."""
    modified: datetime = found["LastModified"]
    tag = hashlib.sha256(found["ETag"].strip('"').encode()).digest()
    return int(modified.timestamp()) << 64 | int.from_bytes(tag[:8], "big")
