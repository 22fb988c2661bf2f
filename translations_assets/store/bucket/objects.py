"""The interface to a service that keeps objects in buckets; an adapter for one is a folder of its own.

An object is there whole or not at all. What must not be replaced is written on condition that nothing is
there, and what replaces something on condition that it is still the generation that was read. An adapter
repeats requests for as long as what is wrong may pass; so a condition may fail because an earlier request,
whose answer was lost, has done the work: then what is there is compared with what was to be written.

`store/gcs` is the adapter for Google Cloud Storage, `store/s3` that for S3. Each has four files: `client`
(credentials, connections), `errors` (what passes, what to tell people), `objects` (this class) and `upload`
(large contents); S3, which many services speak, has `probe` as well. Their schemes and what opens them stand
in `store.open`.
"""

from __future__ import annotations

import mimetypes
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, NamedTuple, Protocol
from urllib.parse import urlsplit

from translations_assets.common.errors import StoreError, StoreUnreachable
from translations_assets.store.contents import Digests

PATIENCE = 60.0  # seconds for which an adapter repeats a request; the engine waits on top of that
TIMEOUT = (10.0, 60.0)  # seconds to connect, and between two pieces of an answer
PAUSES = (0.5, 16.0)  # seconds: about the first between two requests, and at most the longest
_GOOD_SECONDS = 600.0  # then the service's clock is read again: a machine that sleeps stops its own clock
_CLOCK_FOLDER = "clock/"


class Stat(NamedTuple):
    """Facts about an object, known without reading it; times in ns, by the service's clock.

    generation      a number that is another after each write of the name, and never comes back; greater than
                    those of more than a second before
    metageneration  changes with what is noted
    created         when it was written
    modified        when it, or what is noted with it, was last changed
    crc32c          of its contents, in base 64, computed by the service or compared by it when it was sent;
                    empty where another program has written it, and the service computes none
    notes           what was noted with it
    tag             the service's own name of its contents, where it goes by those
    """

    name: str
    size: int
    generation: int
    metageneration: int
    created: int
    modified: int
    crc32c: str = ""
    notes: Mapping[str, str] = MappingProxyType({})
    tag: str = ""


class Objects(Protocol):
    """The objects of a bucket whose names begin with a prefix; names are given without it.

    Every method raises StoreError where the service's client would raise its own errors, StoreUnreachable
    when what is wrong has lasted for longer than the adapter's patience, but may pass.
    """

    # True if `walk` and `folder` tell what is noted; else `stat` alone tells that, and the checksum as well
    lists_notes: ClassVar[bool] = True

    @property
    def url(self) -> str:
        """The URL by which `open_store` opens the store in this bucket, without a / at its end."""

    def hurried(self, seconds: float) -> Objects:
        """These objects, whose requests are repeated for so many seconds only."""

    def for_store(self) -> Objects:
        """These objects, which refuse the first write if the service lacks something that a store needs."""
        return self

    def read(self, name: str) -> tuple[bytes, int] | None:
        """An object's contents and generation, None when it does not exist."""

    def create(self, name: str, data: bytes) -> bool:
        """Write an object that is not there yet; False when the name is taken."""

    def replace(
        self, name: str, data: bytes, generation: int, notes: Mapping[str, str] | None = None
    ) -> int | None:
        """Write an object in place of the generation that was read (0: of none), with something noted.

        Its new generation; None when another one is there by now. The contents must be unlike all that the
        name had before: some services know generations by their contents.
        """

    def write(self, name: str, data: bytes) -> None:
        """Write an object, whatever is there."""

    def upload(self, path: Path, name: str, digests: Digests) -> bool:
        """Write a file's contents to an object; False when the name is taken.

        What breaks goes on where it was. Raises OSError for the file, StoreError when its contents are not,
        or no longer, those of the digests.
        """

    def read_range(self, found: Stat, start: int, end: int) -> bytes:
        """Bytes `start` to before `end` of the object that was found; StoreError when it no longer exists."""

    def copy(self, name: str, target: str, *, replace: bool = True) -> bool:
        """Write an object's contents, and what is noted with it, under another name.

        False when it does not exist, or (not to `replace`) the name is taken.
        """

    def delete(self, name: str, generation: int | None = None, metageneration: int | None = None) -> bool:
        """Remove an object, if it still is what was seen; False when it is not, or not there."""

    def touch(self, name: str) -> bool:
        """Set the time of an object's last change to now; False when it does not exist."""

    def stat(self, name: str) -> Stat | None:
        """Return the facts about an object, None when it does not exist."""

    def walk(self, prefix: str) -> Iterator[Stat]:
        """The objects whose names begin with a prefix, in order, by page."""

    def folder(self, folder: str) -> tuple[list[Stat], list[str]]:
        """List the objects and folders directly below a folder (a name that ends with /, or empty).

        The folders are given by their last name, without the /.
        """


def bucket_and_prefix(url: str, scheme: str) -> tuple[str, str]:
    """The bucket that a URL names, and the prefix: empty, or ends with /. Raises StoreError.

    bucket_and_prefix("gs://bucket/folder", "gs") == ("bucket", "folder/")
    """
    parts = urlsplit(url)
    if parts.scheme != scheme or not parts.netloc:
        raise StoreError(f"{url} names no bucket. Give one: {scheme}://bucket or {scheme}://bucket/folder.")
    folder = parts.path.strip("/")
    return parts.netloc, f"{folder}/" if folder else ""


def media_type(name: str) -> str:
    """Return the media type that a browser gets for an object."""
    return mimetypes.guess_type(name)[0] or "application/octet-stream"


def was_deleted(found: Stat, objects: Objects) -> StoreError:
    """The error of who reads an object that is gone by now."""
    return StoreError(f"{found.name} was deleted from the store {objects.url} while it was read.")


class ServiceClock:
    """The time by the service's clock, which stamps objects: no machine's clock matters.

    Read by writing an object; ages are measured by an earlier reading and our own clock.

    clock  seconds, never set back or forth
    """

    def __init__(self, objects: Objects, clock: Callable[[], float]) -> None:
        self._objects, self._clock = objects, clock
        self._known: tuple[int, float] | None = None  # the service's time in ns, and ours

    def now(self) -> int:
        """The time in ns, or a little less: that at which the request was answered that this makes."""
        return self._read()[0]

    def age(self, found: Stat) -> float:
        """Seconds since an object was last changed; if anything too few, by what an answer takes."""
        if self._known is None or self._clock() - self._known[1] > _GOOD_SECONDS:
            self._known = self._read()
        written, answered = self._known
        return (written - found.modified) / 1e9 + self._clock() - answered

    def _read(self) -> tuple[int, float]:
        name = f"{_CLOCK_FOLDER}{uuid.uuid4().hex}"
        self._objects.write(name, b"")
        answered = self._clock()
        found = self._objects.stat(name)
        with suppress(StoreError):
            self._objects.delete(name)
        if found is None:
            raise StoreUnreachable(f"The store {self._objects.url} loses files written to it.")
        return found.modified, answered

    def sweep(self, seconds: float) -> None:
        """Remove what those have left who were killed while they asked, and is so old."""
        remove_older(self._objects, _CLOCK_FOLDER, self, seconds)


def remove_older(objects: Objects, prefix: str, clock: ServiceClock, seconds: float) -> None:
    """Remove the objects below a prefix that were not written for so long."""
    for found in objects.walk(prefix):
        if clock.age(found) >= seconds:
            objects.delete(found.name, found.generation)
