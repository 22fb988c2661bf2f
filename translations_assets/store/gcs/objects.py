"""Objects of Google Cloud Storage; requests are repeated with growing pauses."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from google.api_core.exceptions import BadRequest, NotFound, PreconditionFailed
from google.api_core.retry import Retry
from google.cloud.storage import Blob, Bucket
from google.cloud.storage.exceptions import DataCorruption, InvalidResponse

from translations_assets.common.errors import StoreError
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
from translations_assets.store.bucket.transfer import AT_ONCE, digests_of, whole_file
from translations_assets.store.contents import Digests, changed
from translations_assets.store.gcs.client import client
from translations_assets.store.gcs.errors import asked_pause, is_bucket_missing, passes, store_errors
from translations_assets.store.gcs.upload import SESSIONS, SessionGone, Upload

_KNOWN = "name,size,generation,metageneration,crc32c,updated,timeCreated,metadata"
_USED = "used"  # noted with an object to set the time of its last change, by the service's clock
_MICROSECOND = datetime.resolution


@dataclass(frozen=True)
class GcsObjects(Objects):
    """The objects of a bucket whose names begin with a prefix; names are given without it.

    patience  seconds for which a request is repeated while what is wrong may pass
    timeout   seconds to connect, and between two pieces of an answer
    pauses    seconds: about the first, and at most the longest
    """

    bucket_name: str
    prefix: str = ""  # empty, or ends with /
    patience: float = PATIENCE
    timeout: tuple[float, float] = TIMEOUT
    pauses: tuple[float, float] = PAUSES

    @property
    def url(self) -> str:
        """`gs://bucket/prefix`."""
        return f"gs://{self.bucket_name}/{self.prefix}".rstrip("/")

    @classmethod
    def at(cls, url: str) -> GcsObjects:
        """Those at `gs://bucket/prefix`; nothing is asked of the service. Raises StoreError."""
        return cls(*bucket_and_prefix(url, "gs"))

    def hurried(self, seconds: float) -> GcsObjects:
        """These objects, whose requests are repeated for so many seconds only."""
        return replace(self, patience=seconds, timeout=(seconds, seconds))

    @cached_property
    def _bucket(self) -> Bucket:
        return client().bucket(self.bucket_name)

    def read(self, name: str) -> tuple[bytes, int] | None:
        """An object's contents and generation, None when it does not exist."""
        with self._asking("read", name):
            try:
                return self._read(name)
            except DataCorruption:  # on its way: the service sends its checksum along
                return self._read(name)
        return None

    def _read(self, name: str) -> tuple[bytes, int]:
        blob = self.blob(name)
        data = blob.download_as_bytes(checksum="crc32c", single_shot_download=True, **self.limits())
        if blob.generation is None:  # some emulators leave it out of the answer
            blob.reload(**self.limits())
        return data, int(blob.generation)

    def create(self, name: str, data: bytes) -> bool:
        """Write an object that is not there yet; False when the name is taken."""
        return self.replace(name, data, 0) is not None

    def replace(
        self, name: str, data: bytes, generation: int, notes: Mapping[str, str] | None = None
    ) -> int | None:
        """Write an object in place of the generation that was read (0: of none), with something noted.

        Its new generation; None when another one is there by now.
        """
        failures: list[Exception] = []
        with self.store_errors("write", name):
            try:
                return self._write(name, data, notes, failures, if_generation_match=generation)
            except PreconditionFailed:
                found = self.read(name) if failures else None  # else no earlier request can have been ours
                return found[1] if found and found[0] == data else None

    def write(self, name: str, data: bytes) -> None:
        """Write an object, whatever is there."""
        with self.store_errors("write", name):
            self._write(name, data)

    def _write(
        self,
        name: str,
        data: bytes,
        notes: Mapping[str, str] | None = None,
        failures: list[Exception] | None = None,
        **conditions: int,
    ) -> int:
        blob = self.blob(name)
        blob.metadata = notes
        limits = self.limits(failures)
        blob.upload_from_string(
            data, content_type=media_type(name), checksum="crc32c", **limits, **conditions
        )
        return int(blob.generation)

    def upload(self, path: Path, name: str, digests: Digests) -> bool:
        """Write a file's contents to an object; False when the name is taken.

        Raises StoreError when these are not, or no longer, those of the digests.
        """
        size = digests.blob.size
        with path.open("rb") as file, self.store_errors("write", name):
            if size <= AT_ONCE:
                return self.create(name, whole_file(file, path, digests))
            for _ in range(SESSIONS):  # one that is older than a week does not exist any more
                try:
                    return self._upload(file, path, name, digests)
                except PreconditionFailed:
                    return False
                except BadRequest:  # the service compares its checksum with ours before it makes the object
                    if digests_of(path).blob != digests.blob:
                        raise changed(path) from None
                    raise
                except SessionGone:
                    continue
        raise StoreError(f"The store {self.url} has discarded the upload of {path}. Run again.")

    def _upload(self, file: BinaryIO, path: Path, name: str, digests: Digests) -> bool:
        session = self.blob(name).create_resumable_upload_session(
            size=digests.blob.size, if_generation_match=0, checksum=None, **self.limits()
        )
        return Upload(file, path, session, digests, self.patience, self.timeout, self.pauses).run()

    def read_range(self, found: Stat, start: int, end: int) -> bytes:
        """Bytes `start` to before `end` of the object that was found; StoreError when it was deleted."""
        data = _Received()
        with self._asking("read", found.name):
            self.blob(found.name, found.generation).download_to_file(
                data,
                start=start,
                end=end - 1,
                raw_download=True,
                checksum=None,  # there is none of a part; who puts the parts together checks the whole
                single_shot_download=True,
                **self.limits(),
            )
            return data.bytes
        raise was_deleted(found, self)

    def copy(self, name: str, target: str, *, replace: bool = True) -> bool:
        """Write an object's contents, and what is noted with it, under another name.

        False when it does not exist, or (not to `replace`) the name is taken.
        """
        source, copy, token = self.blob(name), self.blob(target), None
        with self._asking("copy", name):
            while True:  # of large objects, one request copies a part
                token, _, _ = copy.rewrite(
                    source, token, if_generation_match=None if replace else 0, **self.limits()
                )
                if token is None:
                    return True
        return False

    def delete(self, name: str, generation: int | None = None, metageneration: int | None = None) -> bool:
        """Remove an object, if it still is what was seen; False when it is not, or not there."""
        with self._asking("remove", name):
            self.blob(name).delete(
                if_generation_match=generation, if_metageneration_match=metageneration, **self.limits()
            )
            return True
        return False

    def touch(self, name: str) -> bool:
        """Set the time of an object's last change to now; False when it does not exist."""
        blob = self.blob(name)
        blob.metadata = {_USED: str(time.time_ns())}  # what else is noted stays
        with self._asking("touch", name):
            blob.patch(**self.limits())
            return True
        return False

    def stat(self, name: str) -> Stat | None:
        """Return the facts about an object, None when it does not exist."""
        blob = self.blob(name)
        with self._asking("look at", name):
            blob.reload(**self.limits())
            return self._stat(blob)
        return None

    def walk(self, prefix: str) -> Iterator[Stat]:
        """The objects whose names begin with a prefix, in order, by page."""
        with self.store_errors("list", prefix):
            for blob in self._pages(prefix):
                yield self._stat(blob)

    def folder(self, folder: str) -> tuple[list[Stat], list[str]]:
        """List the objects and folders directly below a folder (a name that ends with /, or empty).

        The folders are given by their last name, without the /.
        """
        with self.store_errors("list", folder):
            pages = self._pages(folder, delimiter="/")
            objects = [self._stat(blob) for blob in pages]
            below = len(self.prefix + folder)
            return objects, sorted(name[below:-1] for name in pages.prefixes)

    @contextmanager
    def _asking(self, doing: str, name: str) -> Iterator[None]:
        """Leave a block early when the object does not exist, or is not what was seen."""
        with self.store_errors(doing, name):
            try:
                yield
            except PreconditionFailed:
                return
            except NotFound as error:
                if is_bucket_missing(error):
                    raise

    def blob(self, name: str, generation: int | None = None) -> Blob:
        """The client's own handle of an object; nothing is asked of the service."""
        return self._bucket.blob(self.prefix + name, generation=generation)

    def limits(self, failures: list[Exception] | None = None) -> dict[str, Any]:
        """Limits on a request's time and repeats; `failures` receives the errors that caused repeats."""

        def repeats(error: Exception) -> bool:
            if not passes(error) or isinstance(error, DataCorruption):  # it would ask for "the rest"
                return False
            if isinstance(error, InvalidResponse):
                error.response.close()  # the client leaves its connection open
            if failures is not None:
                failures.append(error)
            return True

        first, longest = self.pauses
        retry = Retry(
            repeats,
            initial=first,
            maximum=longest,
            timeout=self.patience,
            on_error=lambda error: time.sleep(
                min(asked_pause(error), self.patience)
            ),  # it does not look itself
        )
        return {"timeout": self.timeout, "retry": retry}

    def store_errors(self, doing: str, name: str) -> AbstractContextManager[None]:
        """Turn the client's errors into StoreError, with what could not be done."""
        return store_errors(self.bucket_name, f"{doing} {self.prefix}{name}")

    def _pages(self, prefix: str, delimiter: str | None = None) -> Any:
        return client().list_blobs(
            self._bucket,
            prefix=self.prefix + prefix,
            delimiter=delimiter,
            fields=f"items({_KNOWN}),prefixes,nextPageToken",
            **self.limits(),
        )

    def _stat(self, blob: Blob) -> Stat:
        return Stat(
            blob.name.removeprefix(self.prefix),
            int(blob.size),
            int(blob.generation),
            int(blob.metageneration),
            _nanoseconds(blob.time_created),
            _nanoseconds(blob.updated),
            blob.crc32c,
            blob.metadata or {},
        )


class _Received:
    """A file that the client writes to, at once, without another copy."""

    def __init__(self) -> None:
        self.bytes = b""

    def write(self, data: bytes) -> None:
        self.bytes += data  # to nothing: takes the object as it is


def _nanoseconds(moment: datetime) -> int:
    """Since 1970; exact, as a difference of floats would not be."""
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // _MICROSECOND * 1000
