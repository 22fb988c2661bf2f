"""Messages to a webhook in Slack's form, sent again while its server is busy or away.

No error names the webhook's address: who knows it may write. Nor does a log: the client is that of the
standard library, because the one below `requests` logs addresses at level DEBUG.
"""

from __future__ import annotations

import html
import http.client
import itertools
import json
import math
import threading
import urllib.error
import urllib.request
from typing import Any

from translations_assets.common.background import CLOCK, Clock
from translations_assets.common.errors import TranslationsError
from translations_assets.common.retry_after import asked_pause

TRY_SECONDS = 5.0  # to connect to each of the server's addresses, and for its answer
LAST_TRY_SECONDS = 20.0  # after which no try begins: Dagster ends a sensor's tick after 60
LONGEST_PAUSE = 3600.0  # that is heeded, of those that servers ask for
_BUSY = {408, 425, 429, 500, 502, 503, 504}
_FAULTS = {400, 413, 415, 422}  # of the message itself: others may pass


class Undelivered(TranslationsError):
    """The webhook has not taken a message; another time it may."""


class MessageRefused(Undelivered):
    """The webhook does not take this message, now or later."""


class _Busy(Undelivered):
    """Worth another try soon, or after a pause in seconds that the server has asked for."""

    def __init__(self, why: str, pause: float | None = None) -> None:
        super().__init__(why)
        self.pause = pause


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows none: a secret address is for one server."""

    def redirect_request(self, *args: Any) -> None:
        """No other request; the answer is then an error."""


_OPENER = urllib.request.build_opener(_NoRedirects)


class Webhook:
    """Sends messages; heeds a pause that the server asks for in later messages, too."""

    def __init__(self, clock: Clock = CLOCK) -> None:
        self._clock = clock
        self._ready = -math.inf  # when the server may be asked again

    def send(self, address: str, text: str) -> None:
        """Send a message, with tries for up to `LAST_TRY_SECONDS`. Raises Undelivered and MessageRefused.

        A message whose answer got lost is sent twice.
        """
        last = self._clock.monotonic() + LAST_TRY_SECONDS
        why = ""
        for number in itertools.count():
            now = self._clock.monotonic()
            pause = max(0.0, self._ready - now)
            if now + pause > last:
                raise Undelivered(why or f"it has asked for a pause, of which {pause:.0f} s are left")
            if pause:
                self._clock.wait(threading.Event(), pause)
            try:
                _post(address, text)
                return
            except _Busy as busy:
                why = str(busy)
                self._ready = self._clock.monotonic() + (2.0**number if busy.pause is None else busy.pause)


def _post(address: str, text: str) -> None:
    """One try. Errors are reported by type and number only: their texts may hold the address."""
    why, pause, status = "", None, 0
    try:
        body = json.dumps({"text": html.escape(text, quote=False)}).encode()  # as Slack asks for
        request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
        with _OPENER.open(request, timeout=TRY_SECONDS):
            return
    except urllib.error.HTTPError as error:
        status, pause = error.code, asked_pause(error.headers.get("Retry-After", ""), LONGEST_PAUSE)
        error.close()
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None)
        why = type(reason if isinstance(reason, Exception) else error).__name__
    except ValueError:
        raise Undelivered("TRANSLATIONS_WEBHOOK is no address of a server") from None
    if not status:
        raise _Busy(f"it cannot be reached ({why})")
    if status in _BUSY:
        raise _Busy(f"it answers {status}", pause)
    raise (MessageRefused if status in _FAULTS else Undelivered)(f"it answers {status}")
