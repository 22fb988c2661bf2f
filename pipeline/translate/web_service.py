"""Services on the net that are asked by POST and paid for, with their key in a header.

Neither a service's address nor its key is ever an argument, so that neither is in a log, a record or a key.
"""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

from pipeline.common.errors import InputError
from pipeline.common.urls import LOOPBACK, past_proxies

Headers: TypeAlias = Mapping[str, str]

CONNECT = 10.0  # seconds to connect
FULL = {429, 503, 529}
OVERLOAD = {408, 504} | FULL
TRY_AGAIN = {409, 425, 500, 502} | OVERLOAD
REJECTED = {400, 413, 422}  # what was asked, not who asked: too long, or filtered
FAILURES = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)
HTTP_DATE = "%a, %d %b %Y %H:%M:%S GMT"
TOLD = 300  # characters of an answer that are shown


class Busy(Exception):
    """The service or the network failed; asking again may help.

    overload  it has too much to do
    pause     seconds that it asks for
    full      it takes nothing at the moment, whatever is asked
    """

    def __init__(
        self, said: str, overload: bool = False, pause: float | None = None, full: bool = False
    ) -> None:
        super().__init__(said)
        self.overload, self.pause, self.full = overload, pause, full


class Rejected(Exception):
    """The service does not take this request."""


class WebService:
    """A service that answers with JSON; safe for use by several threads.

    url       its address, which the variable of that name has, or may have
    headers   of each request, with the key, in place of what a .netrc has
    help      what to check where it refuses every request
    at_once   requests at most that are asked at the same time
    timeout   seconds without a byte of the answer
    """

    def __init__(
        self, url: str, variable: str, headers: Headers, help: str, at_once: int, timeout: float
    ) -> None:
        self._url, self._variable, self._headers, self._help = url.rstrip("/"), variable, headers, help
        self._timeout = timeout
        self._session = requests.Session()
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(pool_maxsize=at_once))

    def post(self, path: str, body: Any, query: Mapping[str, str] | None = None) -> requests.Response:
        """Ask once; return what was answered, whatever its status. Raises Busy, or InputError where no
        request would be answered.
        """
        try:
            return self._session.post(
                f"{self._url}/{path}",
                json=body,
                params=query,
                auth=self._sign,
                timeout=(CONNECT, self._timeout),
                allow_redirects=False,
                proxies=past_proxies(self._url),
            )
        except FAILURES as error:
            silent = isinstance(error, requests.ReadTimeout)
            raise Busy(f"the service did not answer; check {self._variable} ({error})", silent) from error
        except requests.RequestException as error:
            raise InputError(f"{self._variable} is no address that can be asked: {error}") from error

    def check(self, answer: requests.Response, overload: bool = False, refused: bool = False) -> None:
        """Raise Busy, Rejected or InputError for an answer with another status than 200.

        overload  the answer says that there were too many requests, whatever its status
        refused   it says that every request would be refused, with the status of one that is rejected
        """
        status = answer.status_code
        if status == 200:
            return
        said = f"the service answered {status} {answer.reason}: {shown(answer)}"
        if overload or status in TRY_AGAIN:
            pause = _pause(answer.headers.get("Retry-After", ""))
            raise Busy(said, overload or status in OVERLOAD, pause, overload or status in FULL)
        if status in REJECTED and not refused:
            raise Rejected(said)
        raise InputError(f"{said}. {self._help}")

    def _sign(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        for name, value in self._headers.items():
            request.headers[name] = value
        return request


def read_key(variable: str, url: str, address: str) -> str:
    """The key that a variable has, for the service at a URL; "" without one. `address` is the URL's variable.

    A key is sent encrypted or within this machine: raises InputError otherwise.
    """
    key, parts = os.environ.get(variable, "").strip(), urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"{address} must be an address such as https://host/v1.")
    if not (key.isascii() and key.isprintable()):
        raise InputError(f"{variable} has a character that no key has. Copy the key again.")
    if key and parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise InputError(
            f"{variable} would be sent unencrypted. Give {address} an address with https, or unset the key "
            "if the service wants none."
        )
    return key


def unreadable(answer: requests.Response) -> Busy:
    """An answer that is none, such as the page of a proxy: asking again may help."""
    return Busy(f"the service answered with something else: {shown(answer)!r}")


def shown(answer: requests.Response) -> str:
    """The beginning of an answer."""
    return answer.text[:TOLD].strip()


def _pause(header: str) -> float | None:
    """The seconds of a `Retry-After`, given as such or as a date; None without it (RFC 9110, 10.2.3)."""
    value = header.strip()
    try:
        if value.isdecimal():
            return float(value)
        until = datetime.strptime(value, HTTP_DATE).replace(tzinfo=UTC)
        return max(0.0, (until - datetime.now(UTC)).total_seconds())
    except ValueError:
        return None
