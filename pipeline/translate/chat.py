"""Chat completions of a service with OpenAI's interface: vLLM, llama.cpp, vendors.

A service has a name, OPENAI for one, and two variables of the environment: OPENAI_BASE_URL, its address with
the version (`http://127.0.0.1:8000/v1`), and OPENAI_API_KEY, where it wants a key. Neither is ever an
argument, so that neither is in a log, a record or a key.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

from pipeline.common.errors import InputError
from pipeline.common.urls import LOOPBACK

Message: TypeAlias = Mapping[str, str]

CONNECT = 10.0  # seconds to connect
OVERLOAD = {408, 429, 503, 504, 529}
TRY_AGAIN = {409, 425, 500, 502} | OVERLOAD
REJECTED = {400, 413, 422}  # what was asked, not who asked: too long, or filtered
FAILURES = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)
HTTP_DATE = "%a, %d %b %Y %H:%M:%S GMT"
TOLD = 300  # characters of an answer that are shown


class Busy(Exception):
    """The service or the network failed; asking again may help.

    overload  it has too much to do
    pause     seconds that it asks for
    """

    def __init__(self, said: str, overload: bool = False, pause: float | None = None) -> None:
        super().__init__(said)
        self.overload, self.pause = overload, pause


class Rejected(Exception):
    """The service does not take this request."""


@dataclass(frozen=True)
class Reply:
    """What came of a request.

    texts   of the choices, without those that are cut off or that a filter has stopped
    tokens  read and written, which are paid for
    model   that the service says it has asked
    """

    texts: tuple[str, ...]
    tokens: tuple[int, int]
    model: str


class Service:
    """A service that answers; safe for use by several threads.

    timeout  seconds without a byte of the answer
    """

    def __init__(self, name: str, model: str, timeout: float, at_once: int) -> None:
        self._variable, self._model, self._timeout = f"{name}_BASE_URL", model, timeout
        self._url, key = os.environ.get(self._variable, "").strip(), f"{name}_API_KEY"
        if not self._url:
            raise InputError(
                f"Set {self._variable} to the address of the service, such as http://127.0.0.1:8000/v1, and "
                f"{key} to its key, if it wants one."
            )
        self._key = _key(key, self._url, self._variable)
        self._session = requests.Session()
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(pool_maxsize=at_once))

    def complete(self, messages: Sequence[Message], choices: int, options: Mapping[str, Any]) -> Reply:
        """Ask once. Raises Busy, Rejected, or InputError where no request would be answered."""
        wanted = {"n": choices} if choices > 1 else {}
        body = {"model": self._model, "messages": list(messages), **wanted, **options}
        try:
            answer = self._session.post(
                f"{self._url.rstrip('/')}/chat/completions",
                json=body,
                auth=self._sign,  # in place of what a .netrc has
                timeout=(CONNECT, self._timeout),
                allow_redirects=False,
            )
        except FAILURES as error:
            silent = isinstance(error, requests.ReadTimeout)
            raise Busy(f"the service did not answer ({type(error).__name__})", silent) from error
        except requests.RequestException as error:
            raise InputError(f"{self._variable} is no address that can be asked: {error}") from error
        self._check(answer)
        return _reply(answer)

    def _sign(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request

    def _check(self, answer: requests.Response) -> None:
        status = answer.status_code
        if status == 200:
            return
        said = f"the service answered {status} {answer.reason}: {answer.text[:TOLD].strip()}"
        if status in TRY_AGAIN:
            raise Busy(said, status in OVERLOAD, _pause(answer.headers.get("Retry-After", "")))
        if status in REJECTED:
            raise Rejected(said)
        raise InputError(
            f"{said}. Check the model {self._model}, {self._variable} (it ends with the version, as in /v1), "
            "and the key beside it."
        )


def _key(variable: str, url: str, address: str) -> str:
    """The key, which is sent encrypted or within this machine. Raises InputError otherwise."""
    key, parts = os.environ.get(variable, "").strip(), urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"{address} must be an address such as https://host/v1.")
    if key and parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise InputError(
            f"{variable} would be sent unencrypted. Give {address} an address with https, or unset the key "
            "if the service wants none."
        )
    return key


def _reply(answer: requests.Response) -> Reply:
    """Take an answer apart; one without choices counts as none, as a proxy's page does."""
    try:
        told = answer.json()
        whole = [one for one in told["choices"] if dict(one).get("finish_reason") in ("stop", None)]
        texts = tuple(str(choice["message"]["content"] or "") for choice in whole)
        usage = dict(told.get("usage") or {})
        tokens = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
        return Reply(texts, tokens, str(told.get("model") or ""))
    except (ValueError, KeyError, TypeError) as error:
        raise Busy(f"the service answered with something else: {answer.text[:TOLD].strip()!r}") from error


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
