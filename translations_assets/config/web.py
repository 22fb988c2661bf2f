"""Requests that the orchestrator makes itself: what is known of a file, and small answers, read whole.

The mirror is looked at first, as by the scripts that fetch. It has copies under `<host>/<path>`, with
`?<query>` at the end when the URL has a query (`pipeline/common/downloads.py`); the listing of a folder
is its `index.html`.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

from translations_assets.common.errors import TranslationsError
from translations_assets.config.known import address
from translations_assets.config.urls import shown

if TYPE_CHECKING:
    import requests

T = TypeVar("T")

TRIES = 2
PAUSE = 1.0  # seconds before the second try
TIMEOUT = (5.0, 30.0)  # seconds to connect, and without a byte
LONGEST = 90.0  # seconds for a whole answer
LARGEST = 1 << 26  # bytes
CHUNK = 1 << 16
GONE = {403, 404, 410}  # object stores answer 403 for an object that does not exist
NO_HEAD = {405, 501}  # the server answers GET only
GOOGLE_STORAGE = address("google storage")
HEADERS = {"User-Agent": "translations-assets"}
AS_IT_IS = {**HEADERS, "Accept-Encoding": "identity"}  # so that the size is that of the file


class NotThere(TranslationsError):
    """There is nothing at the address that could be used."""


class NoAnswer(TranslationsError):
    """The server cannot be reached, or its answer cannot be used."""


@dataclass(frozen=True)
class Answer:
    """A server's answer about a file: its size in bytes where the server names it, or the problem."""

    size: int | None = None
    problem: str = ""

    @property
    def is_unknown(self) -> bool:
        """True if nothing was learnt, so that the file may well exist."""
        return self.problem.startswith("no answer")


def ask(url: str, mirror: str) -> Answer:
    """Ask for the file at a URL, or its copy in the mirror; only headers are requested."""
    try:
        if url.startswith("file://"):
            return Answer(_size_of_file(Path(unquote(urlsplit(url).path)), url))
        if url.startswith("gs://"):
            url = GOOGLE_STORAGE + url.removeprefix("gs://")
        return Answer(_first(url, mirror, _size_of_file, _size_at))
    except (NotThere, NoAnswer) as error:
        return Answer(problem=str(error))


def together(answers: Sequence[Answer], problem: str = "") -> Answer:
    """Combine answers on several files: the first problem, else the sum of the sizes where all are known."""
    problem = next(filter(None, (problem, *(answer.problem for answer in answers))), "")
    sizes = [answer.size for answer in answers if answer.size is not None]
    if problem:
        return Answer(problem=problem)
    return Answer(sum(sizes) if len(sizes) == len(answers) else None)


def read(url: str, mirror: str) -> bytes:
    """Read the file at a URL, or its copy in the mirror. Raises NotThere and NoAnswer."""
    return _first(url, mirror, _content_of_file, _content_at)


def read_json(url: str, mirror: str) -> Any:
    """The JSON at a URL. Raises NotThere, and NoAnswer for what is no JSON, too."""
    content = read(url, mirror)
    try:
        return json.loads(content)
    except ValueError as error:
        raise NoAnswer(f"{url} does not answer with JSON ({error})") from error


def _first(url: str, mirror: str, of_file: Callable[[Path, str], T], of_server: Callable[[str], T]) -> T:
    """Return the mirror's answer, else the server's; a mirror need not hold everything."""
    parts = urlsplit(url)
    name = f"{parts.netloc}{parts.path}" + (f"?{parts.query}" if parts.query else "")
    name = "/".join(map(_fitting, (f"{name}index.html" if name.endswith("/") else name).split("/")))
    try:
        if mirror.startswith("gs://"):
            return _tried(of_server, f"{GOOGLE_STORAGE}{mirror.removeprefix('gs://').rstrip('/')}/{name}")
        if mirror and ".." not in unquote(name).split("/"):
            return of_file(Path(mirror).expanduser() / name, name)
    except (NotThere, NoAnswer):
        pass
    return _tried(of_server, url)


def _fitting(part: str) -> str:
    """A part of a name in a mirror, as `pipeline.common.mirrors` has it."""
    return part if len(part.encode()) <= 255 else f"sha256-{hashlib.sha256(part.encode()).hexdigest()}"


def _tried(request: Callable[[str], T], url: str) -> T:
    """The answer of a server, which is asked again when it gives none."""
    import requests

    for number in range(1, TRIES + 1):
        try:
            return request(url)
        except requests.RequestException as error:
            problem = NoAnswer(f"no answer from {shown(url)}: {type(error).__name__}")
        except NoAnswer as error:
            problem = error
        if number < TRIES:
            time.sleep(PAUSE)
    raise problem


def _size_of_file(path: Path, name: str) -> int:
    if not path.is_file():
        raise NotThere(f"there is no file {shown(name)}")
    return _some(path.stat().st_size, name)


def _content_of_file(path: Path, name: str) -> bytes:
    if not path.is_file():
        raise NotThere(f"there is no file {shown(name)}")
    return path.read_bytes()


def _size_at(url: str) -> int | None:
    """The size by the headers, after redirections; of a server that refuses HEAD, by those of a GET."""
    import requests

    response = requests.head(url, allow_redirects=True, timeout=TIMEOUT, headers=AS_IT_IS)
    if response.status_code in NO_HEAD:
        response = requests.get(url, stream=True, timeout=TIMEOUT, headers=AS_IT_IS)
        response.close()
    _check_status(response, url)
    if response.headers.get("Content-Type", "").startswith("text/html"):
        raise NotThere(f"{shown(url)} is a web page, not a file of text")
    size = response.headers.get("Content-Length", "")
    return _some(int(size), url) if size.isdecimal() else None


def _content_at(url: str) -> bytes:
    import requests

    with requests.get(url, headers=HEADERS, stream=True, timeout=TIMEOUT) as response:
        _check_status(response, url)
        content = bytearray()
        end = time.monotonic() + LONGEST
        for chunk in response.iter_content(CHUNK):
            content += chunk
            if len(content) > LARGEST or time.monotonic() > end:
                raise NoAnswer(
                    f"the answer of {url} takes more than {LARGEST:,} bytes or {LONGEST:.0f} seconds"
                )
        return bytes(content)


def _check_status(response: requests.Response, url: str) -> None:
    if response.status_code in GONE:
        raise NotThere(f"does not exist: {shown(url)} answers {response.status_code}")
    if response.status_code >= 400:
        raise NoAnswer(f"no answer from {shown(url)}: status {response.status_code}")


def _some(size: int, name: str) -> int:
    if not size:
        raise NotThere(f"{shown(name)} is empty")
    return size
