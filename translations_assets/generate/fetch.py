"""Answers of servers that list datasets: small, read whole, and looked up in the mirror first.

The mirror has copies under `<host>/<path>`, with `?<query>` at the end when the URL has a query, as for the
scripts that fetch datasets (`pipeline/common/downloads.py`). The listing of a folder is its `index.html`.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from translations_assets.errors import TranslationsError

if TYPE_CHECKING:
    import requests

TRIES = 2
PAUSE = 1.0  # seconds before the second try
TIMEOUT = (5.0, 30.0)  # seconds to connect, and without a byte
LONGEST = 90.0  # seconds for a whole answer
LARGEST = 1 << 26  # bytes
CHUNK = 1 << 16
GONE = {403, 404, 410}  # object stores answer 403 for an object that does not exist
GOOGLE_STORAGE = "https://storage.googleapis.com/"
HEADERS = {"User-Agent": "translations-assets"}


class NotThere(TranslationsError):
    """The server says that there is nothing at the address."""


class NoAnswer(TranslationsError):
    """The server cannot be reached, or its answer cannot be used."""


def read(url: str, mirror: str) -> bytes:
    """What is at a URL, or its copy in the mirror. Raises NotThere and NoAnswer."""
    if mirror:
        try:
            return _from_mirror(url, mirror)
        except (NotThere, NoAnswer):
            pass  # a mirror need not hold everything
    return _from_server(url)


def read_json(url: str, mirror: str) -> Any:
    """The JSON at a URL. Raises NotThere, and NoAnswer for what is no JSON, too."""
    content = read(url, mirror)
    try:
        return json.loads(content)
    except ValueError as error:
        raise NoAnswer(f"{url} does not answer with JSON ({error})") from error


def _from_mirror(url: str, mirror: str) -> bytes:
    parts = urlsplit(url)
    name = f"{parts.netloc}{parts.path}" + (f"?{parts.query}" if parts.query else "")
    name = f"{name}index.html" if name.endswith("/") else name
    if mirror.startswith("gs://"):
        return _from_server(f"{GOOGLE_STORAGE}{mirror.removeprefix('gs://').rstrip('/')}/{name}")
    path = Path(mirror).expanduser() / name
    if ".." in unquote(name).split("/") or not path.is_file():
        raise NotThere(f"there is no {name} in {mirror}")
    return path.read_bytes()


def _from_server(url: str) -> bytes:
    for number in range(1, TRIES + 1):
        try:
            return _received(url)
        except NoAnswer:
            if number == TRIES:
                raise
        time.sleep(PAUSE)
    raise AssertionError("unreachable")


def _received(url: str) -> bytes:
    import requests

    try:
        with requests.get(url, headers=HEADERS, stream=True, timeout=TIMEOUT) as response:
            if response.status_code in GONE:
                raise NotThere(f"there is nothing at {url} (status {response.status_code})")
            if response.status_code >= 400:
                raise NoAnswer(f"no answer from {url}: status {response.status_code}")
            return _content(response, url)
    except requests.RequestException as error:
        raise NoAnswer(f"no answer from {url}: {type(error).__name__}") from error


def _content(response: requests.Response, url: str) -> bytes:
    content = bytearray()
    end = time.monotonic() + LONGEST
    for chunk in response.iter_content(CHUNK):
        content += chunk
        if len(content) > LARGEST or time.monotonic() > end:
            raise NoAnswer(f"the answer of {url} takes more than {LARGEST:,} bytes or {LONGEST:.0f} seconds")
    return bytes(content)
