"""Contents on their way from a bucket, in pieces, so that what breaks goes on where it was.

Several pieces are fetched at a time and written in order, so that a part of the file is always its beginning.
"""

from __future__ import annotations

import base64
import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import google_crc32c

from translations_assets.common.errors import StoreError
from translations_assets.records.manifest import Blob
from translations_assets.store.bucket.objects import Objects, Stat
from translations_assets.store.contents import READ_BYTES, Digests, changed, digest_bytes

AT_ONCE = 8 << 20  # bytes; what is not larger goes by one request, from memory and to it
PIECE = 8 << 20
_THREADS = 4  # pieces of a download that are on their way at once, and so in memory


def digests_of(path: Path) -> Digests:
    """The digests of a file. Raises OSError."""
    with path.open("rb") as file:
        return digests_of_pieces(iter(lambda: file.read(READ_BYTES), b""))


def digests_of_pieces(pieces: Iterable[bytes]) -> Digests:
    """The digests of pieces of contents."""
    sha256, crc32c, size = hashlib.sha256(), google_crc32c.Checksum(), 0
    for piece in pieces:
        sha256.update(piece)
        crc32c.update(piece)
        size += len(piece)
    return Digests(Blob(sha256.hexdigest(), size), base64.b64encode(crc32c.digest()).decode())


def checksum(data: bytes) -> str:
    """The CRC32C of contents, in base 64."""
    return base64.b64encode(google_crc32c.Checksum(data).digest()).decode()


def download(objects: Objects, found: Stat, target: Path) -> Blob:
    """Write an object's contents to a file that holds their beginning, or nothing; the whole file's digest.

    Raises OSError when the file cannot be written.
    """
    sha256 = hashlib.sha256()
    with target.open("a+b") as file:
        file.seek(0)
        while piece := file.read(READ_BYTES):
            sha256.update(piece)
        for piece in pieces_of(objects, found, file.tell()):
            file.write(piece)
            sha256.update(piece)
        return Blob(sha256.hexdigest(), file.tell())


def pieces_of(objects: Objects, found: Stat, start: int = 0) -> Iterator[bytes]:
    """An object's contents from a byte on, in order; the next pieces are on their way meanwhile."""

    def fetch(at: int) -> bytes:
        return objects.read_range(found, at, min(at + PIECE, found.size))

    starts = iter(range(start, found.size, PIECE))
    pool = ThreadPoolExecutor(_THREADS)
    try:
        coming = deque(pool.submit(fetch, at) for at in islice(starts, _THREADS))
        while coming:
            piece = coming.popleft().result()
            coming.extend(pool.submit(fetch, at) for at in islice(starts, 1))
            yield piece
    finally:
        pool.shutdown(cancel_futures=True)


def whole(file: BinaryIO, path: Path, size: int) -> bytes:
    """The next bytes of a file, all of so many. Raises StoreError when it has fewer by now."""
    data = file.read(size)
    if len(data) < size:
        raise changed(path)
    return data


def whole_file(file: BinaryIO, path: Path, digests: Digests) -> bytes:
    """All of a file. Raises StoreError when its contents are not, or no longer, those of the digests."""
    data = whole(file, path, digests.blob.size)
    if digest_bytes(data) != digests.blob:
        raise changed(path)
    return data


@contextmanager
def store_errors(doing: str, path: Path) -> Iterator[None]:
    """Turn an OSError of a file on this machine into a StoreError."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"Could not {doing} {path}: {error.strerror or error}.") from error
