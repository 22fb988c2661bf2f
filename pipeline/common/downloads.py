"""Files from the network: streamed, tried again, resumed, and looked up in a mirror first.

TRANSLATIONS_MIRROR names a folder, or `gs://bucket/prefix` (public), that holds copies of files under
`<host>/<path>` (`pipeline.common.mirrors`). What the mirror lacks comes from the network.
`gs://bucket/object` stands for `https://storage.googleapis.com/bucket/object`.
"""

import io
import logging
import os
import re
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO
from urllib.parse import urlsplit
from urllib.request import url2pathname

from pipeline.common.errors import InputError
from pipeline.common.kept_downloads import KeptBytes
from pipeline.common.local_files import readable
from pipeline.common.mirrors import is_inside, mirror_name
from pipeline.common.urls import check, shown
from pipeline.common.web import CHUNK, Chunks, NotFound, Progress, Source, Unreachable, from_server

log = logging.getLogger(__name__)

GOOGLE_STORAGE = "https://storage.googleapis.com/"


def fetch(url: str, target: Path, sha256: str = "") -> Source:
    """Copy the file at an http(s)://, gs:// or file:// URL to `target`, which appears when it is complete.

    `sha256`, in hexadecimal, is what its publisher says of it; the Hugging Face hub says it with the file.
    Another file is refused, but for a copy in a mirror, whose owner answers for it: the log notes it.
    What takes minutes to come from a server is kept in checkpoint sets.

    Raises NotFound (an InputError) when there is no such file, InputError for a URL that cannot be used or a
    file that is not the published one, and TemporaryError when network or server failed on every try.
    """
    with _Part(target, url) as part:
        for chunk in _received(url, part):
            part.take(chunk)
        _check_digest(part, url, sha256)
        source = part.finish(url)
    log.info("%s: %s bytes, SHA-256 %s", shown(url), f"{source.bytes:,}", source.sha256)
    return source


def _check_digest(part: "_Part", url: str, published: str) -> None:
    found = part.source(url).sha256
    if found == (expected := published or part.declared or found):
        return
    if part.mirrored:
        log.warning(
            "The mirror's copy of %s is not the published file, whose SHA-256 is %s.", shown(url), expected
        )
        return
    raise InputError(
        f"{shown(url)} is not the file that was published: its SHA-256 is {found}, and should be {expected}. "
        "Try again; if it stays so, ask the publisher, or put the file that you trust into a mirror "
        "(TRANSLATIONS_MIRROR)."
    )


def fetch_first(urls: Sequence[str], target: Path) -> Source:
    """Fetch the first file of several that exists; those in a mirror that is a folder come before all others.

    So a machine without a network needs no more than the one file. Raises what `fetch` raises.
    """
    for url in sorted(urls, key=lambda url: not is_mirrored(url)):
        try:
            return fetch(url, target)
        except NotFound as error:
            log.info("%s", error)
    raise NotFound(f"None of these files can be read: {', '.join(map(shown, urls))}. Check the address.")


def is_mirrored(url: str) -> bool:
    """Whether the mirror is a folder and has a copy of the file."""
    mirror = os.environ.get("TRANSLATIONS_MIRROR", "")
    if not mirror or mirror.startswith("gs://") or url.startswith("file://"):
        return False
    return (Path(mirror) / mirror_name(_https(url))).is_file()


class Stream(io.RawIOBase):
    """The bytes at a URL as they come, for files of which the beginning may be enough.

    Raises what `fetch` raises. A file that changes while it is read, before or after a broken connection,
    is a TemporaryError.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._progress = Progress()
        self._chunks = _received(url, self._progress)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        if not self._rest:
            chunk = next(self._chunks, b"")
            self._progress.take(chunk)
            self._rest = memoryview(chunk)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def received(self) -> int:
        """How many bytes were read so far."""
        return self._progress.size

    def source(self) -> Source:
        """What was read so far."""
        return self._progress.source(self._url)

    def close(self) -> None:
        self._chunks.close()
        super().close()


class _Part(Progress):
    """The file while it grows, under a temporary name beside the final one; removed if it is not finished."""

    def __init__(self, target: Path, url: str) -> None:
        super().__init__()
        self._target = target
        self._path = target.with_name(f".{target.name}.part")
        self._file: BinaryIO = self._path.open("wb")
        self._kept: KeptBytes | None = None
        if not url.startswith("file://") and not is_mirrored(url):
            kept = KeptBytes(url)
            kept.hand_on(self)
            self._kept = kept

    def restart(self) -> None:
        """Begin again with nothing."""
        self._file.seek(0)
        self._file.truncate()
        self._begin()
        if self._kept:
            self._kept.forget()

    def take(self, chunk: bytes) -> None:
        self._file.write(chunk)
        super().take(chunk)
        if self._kept and self._kept.is_due():
            self._file.flush()
            self._kept.save(self._path, self)

    def finish(self, url: str) -> Source:
        """Give the file its final name."""
        self._file.close()
        self._path.replace(self._target)
        return self.source(url)

    def __enter__(self) -> "_Part":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._path.unlink(missing_ok=True)


def _received(url: str, progress: Progress) -> Chunks:
    """The file's bytes, from where the progress stands; whoever takes a chunk tells the progress."""
    check(url)
    if url.startswith("file://"):
        yield from _no_web_page(_read(readable(_local_path(url))), url)
    else:
        yield from _received_from_afar(_https(url), progress)


def _local_path(url: str) -> Path:
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost"):
        raise InputError(
            f"{shown(url)} names the host {parts.netloc!r}. Write file:///folder/file, with three slashes."
        )
    return Path(url2pathname(parts.path))


def _read(path: Path) -> Chunks:
    if not path.is_file():
        raise NotFound(f"There is no file {path}. Check the name.")
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk


def _https(url: str) -> str:
    if url.startswith("gs://"):
        return GOOGLE_STORAGE + url.removeprefix("gs://")
    if not re.match(r"https?://[^/]", url):
        raise InputError(
            f"The URL {shown(url)!r} cannot be fetched. Use https://, http://, gs:// or file://."
        )
    return url


def _received_from_afar(url: str, progress: Progress) -> Chunks:
    mirror = os.environ.get("TRANSLATIONS_MIRROR", "")
    try:
        if mirror:
            try:
                yield from _from_mirror(mirror, url, progress)
                return
            except NotFound as error:
                log.warning("Not from the mirror: %s", error)
        yield from _no_web_page(from_server(url, progress), url)
    except Unreachable as error:
        looked = f"the mirror {mirror} has no usable copy" if mirror else "no mirror is set"
        raise Unreachable(
            f"{shown(url)} could not be fetched: the network could not be reached ({error}), and {looked}. "
            f"Connect this machine, or put the file into a mirror as {mirror_name(url)} and let "
            "TRANSLATIONS_MIRROR name the mirror."
        ) from error


def _from_mirror(mirror: str, url: str, progress: Progress) -> Chunks:
    """Raises NotFound, before the first chunk, when the mirror has no usable copy."""
    name = mirror_name(url)
    if mirror.startswith("gs://"):
        chunks = from_server(f"{_https(mirror).rstrip('/')}/{name}", progress)
    else:
        chunks = _read(_inside(Path(mirror), name))
    yield from _no_web_page(chunks, f"{mirror}/{name}")
    progress.mirrored = True
    log.info("From the mirror %s: %s", mirror, name)


def _no_web_page(chunks: Chunks, where: str) -> Chunks:
    """Servers (and mirrors filled by hand) may have a page that says "not found", with status 200."""
    start = next(chunks, b"")
    if re.match(rb"(\xef\xbb\xbf)?\s*<(!doctype html|html)\b", start, re.IGNORECASE):
        title = re.search(rb"<title>\s*(.*?)\s*</title>", start, re.IGNORECASE | re.DOTALL)
        says = f" ({title[1].decode('utf-8', 'replace')[:80]!r})" if title else ""
        raise NotFound(f"{where} is a web page{says}, not a file of text. Check the name.")
    yield start
    yield from chunks


def _inside(mirror: Path, name: str) -> Path:
    if not mirror.is_dir():
        raise InputError(f"TRANSLATIONS_MIRROR names {mirror}, which is no folder. Correct it, or unset it.")
    if not is_inside(name):
        raise NotFound(f"{name} points outside the mirror.")
    return mirror / name
