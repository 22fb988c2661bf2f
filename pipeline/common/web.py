"""One file from a server, over as many requests as it takes.

A connection that breaks is taken up again where it broke. Three tries without a mebibyte of progress end it.
"""

import hashlib
import logging
import os
import re
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import requests

from pipeline.common.errors import InputError, Stopped, TemporaryError
from pipeline.common.urls import login_variable, past_proxies, shown, with_login

log = logging.getLogger(__name__)

TRIES = 3  # one after the other without progress
PROGRESS = 1 << 20  # new bytes that let the counting of tries begin again
PAUSE = 2.0  # seconds before the second try; four times as long before the third
CONNECT = 10.0  # seconds to connect
SILENCE = 60.0  # seconds without a byte
SLOW = {"pontoon.mozilla.org": 300.0}  # host → seconds; it makes the file while it is asked for
CHUNK = 1 << 15  # of a connection that breaks, at most this much is lost
GONE = {403, 404, 410}  # object stores answer 403 for an object that does not exist
TRY_AGAIN = {408, 416, 425, 429}
LASTING = {501, 505, 511}  # of 500 and more; all others, known or not, count as 500 (RFC 9110, 15)
HEADERS = {"User-Agent": "translations-assets", "Accept-Encoding": "identity"}
TOKENS = {"huggingface.co": "HF_TOKEN"}  # host → variable that holds the user's token for it

Chunks = Generator[bytes, None, None]


class NotFound(InputError):
    """The file does not exist at its address."""


class NeedsLogin(InputError):
    """The server wants to know who asks (401); the hub says so, too, of what does not exist."""


class Unreachable(TemporaryError):
    """No answer from the network."""


@dataclass(frozen=True)
class Source:
    """Where a file came from, without query, and what came: its SHA-256 (hexadecimal) and its size."""

    url: str
    sha256: str
    bytes: int


class Progress:
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


def from_server(url: str, progress: Progress) -> Chunks:
    """The bytes of an address, over as many requests as it takes."""
    tries, reached, pause = 0, 0, PAUSE
    while True:
        try:
            yield from _from_request(url, progress)
            return
        except Stopped:
            raise
        except TemporaryError as error:
            if progress.size >= reached + PROGRESS:
                tries, reached, pause = 0, progress.size, PAUSE
            tries += 1
            if tries == TRIES:
                raise
            log.warning("%s; next try in %.1f s, from byte %s", error, pause, f"{progress.size:,}")
        time.sleep(pause)
        pause *= 4


def _from_request(url: str, progress: Progress) -> Chunks:
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


def _range_headers(progress: Progress) -> dict[str, str]:
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
        response = requests.get(
            address, headers=wanted, stream=True, timeout=timeout, proxies=past_proxies(address)
        )
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


def _check_status(response: requests.Response, url: str, progress: Progress) -> None:
    status = f"the server answered {response.status_code} {response.reason}"
    if response.status_code in (200, 206):
        return
    if response.status_code in GONE:
        raise NotFound(f"No file can be read at {shown(url)} ({status}). Check the name.")
    if _may_pass(response.status_code):
        if response.status_code == 416:  # the part is longer than the file is now
            progress.restart()
        raise TemporaryError(f"{shown(url)} could not be fetched: {status}. Try again later")
    host = urlsplit(url).hostname or ""
    login = TOKENS.get(host) or login_variable(host)
    error = NeedsLogin if response.status_code == 401 else InputError
    raise error(
        f"{shown(url)} could not be fetched: {status}. Check the URL, and whether it asks for a login"
        f" (set {login})."
    )


def _may_pass(status: int) -> bool:
    """True if another try may be answered otherwise."""
    return status in TRY_AGAIN or (status >= 500 and status not in LASTING)


def _continues(response: requests.Response, progress: Progress) -> bool:
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
