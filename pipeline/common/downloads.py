"""Files from the network: streamed, tried again, resumed, and looked up in a mirror first.

TRANSLATIONS_MIRROR names a folder, or `gs://bucket/prefix` (public), that holds copies of files under
`<host>/<path>` (`pipeline.common.mirrors`). What the mirror lacks comes from the network.
`gs://bucket/object` stands for `https://storage.googleapis.com/bucket/object`.

A connection that breaks is taken up again where it broke. Three tries without a mebibyte of progress end it.
"""

import hashlib
import io
import logging
import os
import re
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO
from urllib.parse import urlsplit
from urllib.request import url2pathname

import requests

from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.local_files import readable
from pipeline.common.mirrors import is_inside, mirror_name
from pipeline.common.urls import check, login_variable, shown, with_login

log = logging.getLogger(__name__)

TRIES = 3  # one after the other without progress
PROGRESS = 1 << 20  # new bytes that let the counting of tries begin again
PAUSE = 2.0  # seconds before the second try; four times as long before the third
CONNECT = 10.0  # seconds to connect
SILENCE = 60.0  # seconds without a byte
SLOW = {"pontoon.mozilla.org": 300.0}  # host → seconds; it makes the file while it is asked for
CHUNK = 1 << 15  # of a connection that breaks, at most this much is lost
GONE = {403, 404, 410}  # object stores answer 403 for an object that does not exist
TRY_AGAIN = {408, 416, 425, 429, 500, 502, 503, 504}
HEADERS = {"User-Agent": "translations-assets", "Accept-Encoding": "identity"}
TOKENS = {"huggingface.co": "HF_TOKEN"}  # host → variable that holds the user's token for it
GOOGLE_STORAGE = "https://storage.googleapis.com/"


class NotFound(InputError):
    """The file does not exist at its address."""


class Unreachable(TemporaryError):
    """No answer from the network."""


@dataclass(frozen=True)
class Source:
    """Where a file came from, without query, and what came: its SHA-256 (hexadecimal) and its size."""

    url: str
    sha256: str
    bytes: int


def fetch(url: str, target: Path, sha256: str = "") -> Source:
    """Copy the file at an http(s)://, gs:// or file:// URL to `target`, which appears when it is complete.

    `sha256`, in hexadecimal, is what its publisher says of it; the Hugging Face hub says it with the file.
    Another file is refused, but for a copy in a mirror, whose owner answers for it: the log notes it.

    Raises NotFound (an InputError) when there is no such file, InputError for a URL that cannot be used or a
    file that is not the published one, and TemporaryError when network or server failed on every try.
    """
    with _Part(target) as part:
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
        self._progress = _Progress()
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


class _Progress:
    """How far a file has come: its size and digest so far, and the version that they belong to."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._sha256 = hashlib.sha256()
        self.size = 0
        self.validator = ""  # strong ETag or date of the version that the bytes so far belong to
        self.declared = ""  # SHA-256 that the server says the whole file has
        self.mirrored = False

    def restart(self) -> None:
        """Begin again with nothing, which is too late when bytes have been handed on."""
        if self.size:
            raise TemporaryError("the file changed, or cannot be continued, after a part of it was read")
        self._begin()

    def take(self, chunk: bytes) -> None:
        self._sha256.update(chunk)
        self.size += len(chunk)

    def source(self, url: str) -> Source:
        return Source(shown(url), self._sha256.hexdigest(), self.size)


class _Part(_Progress):
    """The file while it grows, under a temporary name beside the final one; removed if it is not finished."""

    def __init__(self, target: Path) -> None:
        super().__init__()
        self._target = target
        self._path = target.with_name(f".{target.name}.part")
        self._file: BinaryIO = self._path.open("wb")

    def restart(self) -> None:
        """Begin again with nothing."""
        self._file.seek(0)
        self._file.truncate()
        self._begin()

    def take(self, chunk: bytes) -> None:
        self._file.write(chunk)
        super().take(chunk)

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


Chunks = Generator[bytes, None, None]


def _received(url: str, progress: _Progress) -> Chunks:
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


def _received_from_afar(url: str, progress: _Progress) -> Chunks:
    mirror = os.environ.get("TRANSLATIONS_MIRROR", "")
    try:
        if mirror:
            try:
                yield from _from_mirror(mirror, url, progress)
                return
            except NotFound as error:
                log.warning("Not from the mirror: %s", error)
        yield from _no_web_page(_from_server(url, progress), url)
    except Unreachable as error:
        looked = f"the mirror {mirror} has no usable copy" if mirror else "no mirror is set"
        raise Unreachable(
            f"{shown(url)} could not be fetched: the network could not be reached ({error}), and {looked}. "
            f"Connect this machine, or put the file into a mirror as {mirror_name(url)} and let "
            "TRANSLATIONS_MIRROR name the mirror."
        ) from error


def _from_mirror(mirror: str, url: str, progress: _Progress) -> Chunks:
    """Raises NotFound, before the first chunk, when the mirror has no usable copy."""
    name = mirror_name(url)
    if mirror.startswith("gs://"):
        chunks = _from_server(f"{_https(mirror).rstrip('/')}/{name}", progress)
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


def _from_server(url: str, progress: _Progress) -> Chunks:
    """The bytes of an address, over as many requests as it takes."""
    tries, reached, pause = 0, 0, PAUSE
    while True:
        try:
            yield from _from_request(url, progress)
            return
        except TemporaryError as error:
            if progress.size >= reached + PROGRESS:
                tries, reached, pause = 0, progress.size, PAUSE
            tries += 1
            if tries == TRIES:
                raise
            log.warning("%s; next try in %.1f s, from byte %s", error, pause, f"{progress.size:,}")
        time.sleep(pause)
        pause *= 4


def _from_request(url: str, progress: _Progress) -> Chunks:
    """One request: the whole file, or what is missing of it when it is still the same version."""
    with _answer(url, _range_headers(progress)) as response:
        _check_status(response, url, progress)
        if not _continues(response, progress):
            progress.restart()
        progress.validator = _validator(response)
        progress.declared = _declared(response)
        total = _total(response, progress.size)
        yield from response.iter_content(CHUNK)
    if total is not None and progress.size != total:
        raise TemporaryError(f"{shown(url)} is cut off: {progress.size:,} of {total:,} bytes came")


def _range_headers(progress: _Progress) -> dict[str, str]:
    # If-Range: when the file has changed meanwhile, the server sends all of it
    if progress.size and progress.validator:
        return {"Range": f"bytes={progress.size}-", "If-Range": progress.validator}
    return {}


@contextmanager
def _answer(url: str, headers: dict[str, str]) -> Iterator[requests.Response]:
    try:
        timeout = (CONNECT, SLOW.get(urlsplit(url).hostname or "", SILENCE))
        address, login = with_login(url)
        wanted = HEADERS | _authorization(url) | login | headers
        response = requests.get(address, headers=wanted, stream=True, timeout=timeout)
    except (requests.ConnectionError, requests.Timeout) as error:
        raise Unreachable(_reason(error)) from error
    except requests.RequestException as error:
        raise InputError(
            f"The URL {shown(url)} cannot be fetched: {_told(error, url)}. Correct the URL."
        ) from error
    with response:
        try:
            yield response
        except requests.RequestException as error:
            raise TemporaryError(
                f"the connection broke while {shown(url)} was fetched ({_reason(error)})"
            ) from error


def _authorization(url: str) -> dict[str, str]:
    """The user's token, for the host that it is meant for, encrypted.

    The files of such a host lie elsewhere: `requests` sends no token when it follows a redirect there.
    """
    parts = urlsplit(url)
    variable = TOKENS.get(parts.hostname or "") if parts.scheme == "https" else None
    token = os.environ.get(variable, "").strip() if variable else ""
    return {"Authorization": f"Bearer {token}"} if token else {}


def _told(error: Exception, url: str) -> str:
    """What `requests` says, without the login that it may have been given in the URL."""
    return str(error).replace(with_login(url)[0], shown(url))


def _reason(error: Exception) -> str:
    """The innermost cause, without the object addresses that urllib3 puts into its messages."""
    cause: BaseException = error
    while cause.__context__ is not None:
        cause = cause.__context__
    return re.sub(r"<[^>]*>:? ?", "", str(cause)) or type(cause).__name__


def _check_status(response: requests.Response, url: str, progress: _Progress) -> None:
    status = f"the server answered {response.status_code} {response.reason}"
    if response.status_code in (200, 206):
        return
    if response.status_code in GONE:
        raise NotFound(f"No file can be read at {shown(url)} ({status}). Check the name.")
    if response.status_code in TRY_AGAIN:
        if response.status_code == 416:  # the part is longer than the file is now
            progress.restart()
        raise TemporaryError(f"{shown(url)} could not be fetched: {status}. Try again later")
    host = urlsplit(url).hostname or ""
    login = TOKENS.get(host) or login_variable(host)
    raise InputError(
        f"{shown(url)} could not be fetched: {status}. Check the URL, and whether it asks for a login"
        f" (set {login})."
    )


def _continues(response: requests.Response, progress: _Progress) -> bool:
    """Whether the answer begins where the part ends, and belongs to the same version of the file."""
    if response.status_code != 206:
        return False
    start = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    same = not progress.validator or _validator(response) in ("", progress.validator)
    if start is None or int(start[1]) != progress.size or not same:
        progress.restart()
        raise TemporaryError(f"the server sent another part of {shown(response.url)} than was asked for")
    return True


def _validator(response: requests.Response) -> str:
    """What If-Range takes: a strong ETag, else the date of the last change; "" when neither is named."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        return ""
    etag = response.headers.get("ETag", "")
    if etag and not etag.startswith("W/"):
        return etag
    return response.headers.get("Last-Modified", "")


def _declared(response: requests.Response) -> str:
    """The SHA-256 that the Hugging Face hub gives of a large file, where it sends on to its storage; else "".

    `X-Linked-Etag` is the digest that the commit has of the file (https://huggingface.co/docs/huggingface_hub).
    """
    for answer in response.history:
        digest = answer.headers.get("X-Linked-Etag", "").strip('"')
        if urlsplit(answer.url).hostname in TOKENS and re.fullmatch(r"[0-9a-f]{64}", digest):
            return digest
    return ""


def _total(response: requests.Response, have: int) -> int | None:
    """Size in bytes of the whole file, None when the server does not say (or packs it on the way)."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        return None
    ranged = re.match(r"bytes \d+-\d+/(\d+)", response.headers.get("Content-Range", ""))
    if ranged:
        return int(ranged[1])
    length = response.headers.get("Content-Length")
    return have + int(length) if length else None
