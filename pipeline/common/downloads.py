"""Files from the network: streamed, tried again, resumed, and looked up in a mirror first.

TRANSLATIONS_MIRROR names a folder, or `gs://bucket/prefix` (public), that holds copies of files under
`<host>/<path>`, with `?<query>` at the end when the URL has a query. What the mirror lacks comes from the
network. `gs://bucket/object` stands for `https://storage.googleapis.com/bucket/object`.
"""

import hashlib
import logging
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import requests

from pipeline.common.errors import InputError, TemporaryError

log = logging.getLogger(__name__)

TRIES = 3
PAUSE = 2.0  # seconds before the second try; four times as long before the third
TIMEOUT = (10.0, 60.0)  # seconds to connect, and without a byte
CHUNK = 1 << 15  # of a connection that breaks, at most this much is lost
GONE = {403, 404, 410}  # object stores answer 403 for an object that does not exist
TRY_AGAIN = {408, 416, 425, 429, 500, 502, 503, 504}
HEADERS = {"User-Agent": "translations-assets", "Accept-Encoding": "identity"}
GOOGLE_STORAGE = "https://storage.googleapis.com/"


class NotFound(InputError):
    """The file does not exist at its address."""


class Unreachable(TemporaryError):
    """No answer from the network."""


@dataclass(frozen=True)
class Source:
    """Where a file came from, and what came: its SHA-256 (hexadecimal) and its size."""

    url: str
    sha256: str
    bytes: int


def fetch(url: str, target: Path) -> Source:
    """Copy the file at an http(s)://, gs:// or file:// URL to `target`, which appears when it is complete.

    Raises NotFound (an InputError) when there is no such file, InputError for a URL that cannot be used, and
    TemporaryError when the network or the server failed on every try.
    """
    with _Part(target) as part:
        if url.startswith("file://"):
            _copy(_local_path(url), part)
            _refuse_web_page(part, url)
        else:
            _fetch_remote(_https(url), part)
        source = part.finish(url)
    log.info("%s: %s bytes, SHA-256 %s", url, f"{source.bytes:,}", source.sha256)
    return source


class _Part:
    """The file while it grows, under a temporary name beside the final one; removed if it is not finished."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._path = target.with_name(f".{target.name}.part")
        self._file: BinaryIO = self._path.open("wb")
        self.restart()

    def restart(self) -> None:
        """Begin again with nothing."""
        self._file.seek(0)
        self._file.truncate()
        self._sha256 = hashlib.sha256()
        self.size = 0
        self.validator = ""  # strong ETag or date of the version that the bytes so far belong to

    def write(self, chunk: bytes) -> None:
        self._file.write(chunk)
        self._sha256.update(chunk)
        self.size += len(chunk)

    def start(self) -> bytes:
        """The file's first bytes."""
        self._file.flush()
        with self._path.open("rb") as file:
            return file.read(CHUNK)

    def finish(self, url: str) -> Source:
        """Give the file its final name."""
        self._file.close()
        self._path.replace(self._target)
        return Source(url, self._sha256.hexdigest(), self.size)

    def __enter__(self) -> "_Part":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._path.unlink(missing_ok=True)


def _local_path(url: str) -> Path:
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost"):
        raise InputError(
            f"{url} names the host {parts.netloc!r}. Write file:///folder/file, with three slashes."
        )
    return Path(url2pathname(parts.path))


def _copy(path: Path, part: _Part) -> None:
    if not path.is_file():
        raise NotFound(f"There is no file {path}. Check the name.")
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            part.write(chunk)


def _https(url: str) -> str:
    if url.startswith("gs://"):
        return GOOGLE_STORAGE + url.removeprefix("gs://")
    if not re.match(r"https?://[^/]", url):
        raise InputError(f"The URL {url!r} cannot be fetched. Use https://, http://, gs:// or file://.")
    return url


def _fetch_remote(url: str, part: _Part) -> None:
    mirror = os.environ.get("TRANSLATIONS_MIRROR", "")
    try:
        if not (mirror and _fetch_from_mirror(mirror, url, part)):
            _fetch_with_tries(url, part)
            _refuse_web_page(part, url)
    except Unreachable as error:
        looked = f"the mirror {mirror} has no usable copy" if mirror else "no mirror is set"
        raise Unreachable(
            f"{url} could not be fetched: the network could not be reached ({error}), and {looked}. Connect "
            f"this machine, or put the file into a mirror as {_mirror_name(url)} and let TRANSLATIONS_MIRROR "
            "name the mirror."
        ) from error


def _fetch_from_mirror(mirror: str, url: str, part: _Part) -> bool:
    """Whether the mirror has the file, which then stands in the part."""
    name = _mirror_name(url)
    try:
        if mirror.startswith("gs://"):
            _fetch_with_tries(f"{_https(mirror).rstrip('/')}/{name}", part)
        else:
            _copy(_inside(Path(mirror), name), part)
        _refuse_web_page(part, f"{mirror}/{name}")
    except NotFound as error:
        log.warning("Not from the mirror: %s", error)
        part.restart()
        return False
    log.info("From the mirror %s: %s", mirror, name)
    return True


def _refuse_web_page(part: _Part, where: str) -> None:
    """Servers (and mirrors filled by hand) may have a page that says "not found", with status 200."""
    start = part.start()
    if re.match(rb"(\xef\xbb\xbf)?\s*<(!doctype html|html)\b", start, re.IGNORECASE):
        title = re.search(rb"<title>\s*(.*?)\s*</title>", start, re.IGNORECASE | re.DOTALL)
        says = f" ({title[1].decode('utf-8', 'replace')[:80]!r})" if title else ""
        raise NotFound(f"{where} is a web page{says}, not a file of text. Check the name.")


def _mirror_name(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path}" + (f"?{parts.query}" if parts.query else "")


def _inside(mirror: Path, name: str) -> Path:
    if not mirror.is_dir():
        raise InputError(f"TRANSLATIONS_MIRROR names {mirror}, which is no folder. Correct it, or unset it.")
    if ".." in unquote(name).split("/"):
        raise NotFound(f"{name} points outside the mirror.")
    return mirror / name


def _fetch_with_tries(url: str, part: _Part) -> None:
    pause = PAUSE
    for left in reversed(range(TRIES)):
        try:
            return _fetch_once(url, part)
        except TemporaryError as error:
            if not left:
                raise
            log.warning("%s; next try in %.1f s, from byte %s", error, pause, f"{part.size:,}")
        time.sleep(pause)
        pause *= 4


def _fetch_once(url: str, part: _Part) -> None:
    """One request: the whole file, or what is missing of it when it is still the same version."""
    with _answer(url, _range_headers(part)) as response:
        _check_status(response, url, part)
        if not _continues(response, part):
            part.restart()
        part.validator = _validator(response)
        total = _total(response, part.size)
        for chunk in response.iter_content(CHUNK):
            part.write(chunk)
    if total is not None and part.size != total:
        raise TemporaryError(f"{url} is cut off: {part.size:,} of {total:,} bytes came")


def _range_headers(part: _Part) -> dict[str, str]:
    # If-Range: when the file has changed meanwhile, the server sends all of it
    if part.size and part.validator:
        return {"Range": f"bytes={part.size}-", "If-Range": part.validator}
    return {}


@contextmanager
def _answer(url: str, headers: dict[str, str]) -> Iterator[requests.Response]:
    try:
        response = requests.get(url, headers=HEADERS | headers, stream=True, timeout=TIMEOUT)
    except (requests.ConnectionError, requests.Timeout) as error:
        raise Unreachable(_reason(error)) from error
    except requests.RequestException as error:
        raise InputError(f"The URL {url} cannot be fetched: {error}. Correct the URL.") from error
    with response:
        try:
            yield response
        except requests.RequestException as error:
            raise TemporaryError(
                f"the connection broke while {url} was fetched ({_reason(error)})"
            ) from error


def _reason(error: Exception) -> str:
    """The innermost cause, without the object addresses that urllib3 puts into its messages."""
    cause: BaseException = error
    while cause.__context__ is not None:
        cause = cause.__context__
    return re.sub(r"<[^>]*>:? ?", "", str(cause)) or type(cause).__name__


def _check_status(response: requests.Response, url: str, part: _Part) -> None:
    status = f"the server answered {response.status_code} {response.reason}"
    if response.status_code in (200, 206):
        return
    if response.status_code in GONE:
        raise NotFound(f"No file can be read at {url} ({status}). Check the name.")
    if response.status_code in TRY_AGAIN:
        if response.status_code == 416:  # the part is longer than the file is now
            part.restart()
        raise TemporaryError(f"{url} could not be fetched: {status}. Try again later")
    raise InputError(f"{url} could not be fetched: {status}. Check the URL, and whether it asks for a login.")


def _continues(response: requests.Response, part: _Part) -> bool:
    """Whether the answer begins where the part ends, and belongs to the same version of the file."""
    if response.status_code != 206:
        return False
    start = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    same = not part.validator or _validator(response) in ("", part.validator)
    if start is None or int(start[1]) != part.size or not same:
        part.restart()
        raise TemporaryError(f"the server sent another part of {response.url} than was asked for")
    return True


def _validator(response: requests.Response) -> str:
    """What If-Range takes: a strong ETag, else the date of the last change; "" when neither is named."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        return ""
    etag = response.headers.get("ETag", "")
    if etag and not etag.startswith("W/"):
        return etag
    return response.headers.get("Last-Modified", "")


def _total(response: requests.Response, have: int) -> int | None:
    """Size in bytes of the whole file, None when the server does not say (or packs it on the way)."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        return None
    ranged = re.match(r"bytes \d+-\d+/(\d+)", response.headers.get("Content-Range", ""))
    if ranged:
        return int(ranged[1])
    length = response.headers.get("Content-Length")
    return have + int(length) if length else None
