"""A server of Remote Settings over HTTP: https://docs.kinto-storage.org, with its attachments.

Requests are made again while the server is busy or away, after the pauses that it asks for.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping
from typing import Any

import requests

from translations_assets.common.background import CLOCK, Clock
from translations_assets.common.errors import StoreError, StoreUnreachable
from translations_assets.common.retry_after import asked_pause

TRY_SECONDS = 60.0  # to connect, and between two parts of an answer
LAST_TRY_SECONDS = 60.0  # after which no try begins
LOGIN = "TRANSLATIONS_REMOTE_SETTINGS_LOGIN"
_BUSY = {408, 425, 429, 500, 502, 503, 504}


class NotAccepted(StoreError):
    """The server does not do what it is asked for."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Kinto:
    """Asks a server, whose address ends in its version: http://localhost:8888/v1.

    login  `user:password`, or `Bearer …`; empty for a server that asks for none
    """

    def __init__(self, server: str, login: str, clock: Clock = CLOCK) -> None:
        self._server, self._clock = server, clock
        self._headers: dict[str, str] = {}
        self._auth: tuple[str, str] | None = None
        if login.startswith("Bearer "):
            self._headers["Authorization"] = login
        elif login:
            user, _, password = login.partition(":")
            self._auth = (user, password)

    def ask(self, method: str, path: str, headers: Mapping[str, str] | None = None, **given: Any) -> Any:
        """Return the answer's JSON. Raises NotAccepted, and StoreUnreachable where the server stays away.

        given  what `requests.request` takes besides
        """
        last = self._clock.monotonic() + LAST_TRY_SECONDS
        for number in itertools.count():
            pause = 2.0**number
            try:
                answer = requests.request(
                    method,
                    f"{self._server}{path}",
                    headers={**self._headers, **(headers or {})},
                    auth=self._auth,
                    timeout=TRY_SECONDS,
                    allow_redirects=False,
                    **given,
                )
            except requests.RequestException as error:
                why = f"cannot be reached ({type(error).__name__})"
            else:
                if answer.status_code not in _BUSY:
                    return _read(answer, f"{method} {path}")
                why = f"is busy: it answers {answer.status_code}"
                asked = asked_pause(answer.headers.get("Retry-After", ""))
                pause = pause if asked is None else asked
            if self._clock.monotonic() + pause > last:
                raise StoreUnreachable(f"{self._server} {why}. Publish again later.")
            self._clock.wait(threading.Event(), pause)


def _read(answer: requests.Response, asked: str) -> Any:
    """The JSON of an answer; raises NotAccepted for one that is an error, or no JSON."""
    try:
        told = answer.json() if answer.content else {}
    except ValueError as error:
        raise NotAccepted(
            f"{asked}: the answer is no JSON. Is this the address of Remote Settings, with its version, such "
            "as http://localhost:8888/v1?",
            answer.status_code,
        ) from error
    if answer.ok and not answer.is_redirect:
        return told
    said = told.get("message", "") if isinstance(told, dict) else ""
    raise NotAccepted(f"{asked}: {_explained(answer.status_code, said)}", answer.status_code)


def _explained(status: int, said: str) -> str:
    if status == 401:
        return (
            f"the server does not know you (401). Let {LOGIN} hold `user:password` of an account there, or "
            "`Bearer TOKEN`."
        )
    if status == 403:
        return (
            "your account may not do this (403), or there is no such bucket. Ask for the right to write to "
            "the collection, or make the bucket, as the documentation describes (Evaluation, To a Firefox)."
        )
    if status == 412:
        return "somebody else writes at this moment (412). Publish again."
    return f"the server answers {status} {said}".rstrip()
