"""Messages to a webhook: what is tried again, for how long, and that no error tells its address."""

import json
import logging
import threading
from collections.abc import Iterator
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from typing import ClassVar

import pytest
from dagster._grpc.utils import default_sensor_grpc_timeout

from tests.http_server import http_server
from translations_assets.common.background import CLOCK, Clock
from translations_assets.defs import webhook
from translations_assets.defs.webhook import MessageRefused, Undelivered, Webhook

SECRET = "a-secret-address"
Answer = tuple[int, dict[str, str]]


class Server(BaseHTTPRequestHandler):
    """Gives one answer after the other, then takes everything; 0 keeps the line open and says nothing."""

    answers: ClassVar[list[Answer]] = []
    asked: ClassVar[list[str]] = []
    end = threading.Event()

    def do_POST(self) -> None:
        """Note the message, and answer."""
        self.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"])
        status, headers = self.answers.pop(0) if self.answers else (200, {})
        if not status:
            self.end.wait(60)
            return
        self.send_response(status)
        for name, value in {"Content-Length": "0", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Nothing."""


class HandClock(Clock):
    """Stands still but for what is waited."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def wait(self, event: threading.Event, seconds: float) -> bool:
        self.waits.append(seconds)
        self.now += seconds
        return False


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(Server, "answers", [])
    monkeypatch.setattr(Server, "asked", [])
    monkeypatch.setattr(Server, "end", threading.Event())
    with http_server(Server) as url:
        try:
            yield f"{url}/{SECRET}"
        finally:
            Server.end.set()


def test_a_message_is_sent_again_after_the_pause_that_is_asked_for(address: str, clock: HandClock) -> None:
    Server.answers += [(429, {"Retry-After": "7"}), (500, {}), (503, {})]
    Webhook(clock).send(address, "done")
    assert Server.asked == ["done"] * 4
    assert clock.waits == [7.0, 2.0, 4.0]


def test_characters_that_mean_something_to_slack_are_escaped(address: str, clock: HandClock) -> None:
    Webhook(clock).send(address, 'cut -f1 <a> & "b"')
    assert Server.asked == ['cut -f1 &lt;a&gt; &amp; "b"']


def test_a_pause_may_be_a_date(address: str, clock: HandClock) -> None:
    Server.answers += [(429, {"Retry-After": formatdate(CLOCK.time() + 15, usegmt=True)})]
    Webhook(clock).send(address, "done")
    (waited,) = clock.waits
    assert 0 < waited <= 15


@pytest.mark.parametrize("value", ["soon", "-5", "", "Mon, 99 Jan 2026 00:00:00 GMT"])
def test_a_pause_that_is_none_is_not_waited_for(address: str, clock: HandClock, value: str) -> None:
    Server.answers += [(429, {"Retry-After": value})]
    Webhook(clock).send(address, "done")
    assert clock.waits == [1.0]


def test_a_longer_pause_is_for_later_and_kept_till_then(address: str, clock: HandClock) -> None:
    sender = Webhook(clock)
    Server.answers += [(429, {"Retry-After": "90"})]
    for waited, why in ((0, "it answers 429"), (30, "it has asked for a pause, of which 60 s are left")):
        clock.now += waited
        with pytest.raises(Undelivered, match=why):
            sender.send(address, "done")
    assert (len(Server.asked), clock.waits) == (1, [])
    clock.now += 60
    sender.send(address, "done")
    assert (len(Server.asked), clock.waits) == (2, [])


def test_no_pause_is_longer_than_an_hour(address: str, clock: HandClock) -> None:
    sender = Webhook(clock)
    Server.answers += [(503, {"Retry-After": "9" * 30})]
    with pytest.raises(Undelivered):
        sender.send(address, "done")
    clock.now += webhook.LONGEST_PAUSE
    sender.send(address, "done")


def test_tries_end_well_before_the_tick_does(address: str, clock: HandClock) -> None:
    """Even the last one, which connects to several addresses and then waits for the answer."""
    Server.answers += [(500, {})] * 100
    with pytest.raises(Undelivered, match="it answers 500"):
        Webhook(clock).send(address, "done")
    assert clock.now <= webhook.LAST_TRY_SECONDS
    assert len(Server.asked) > 3
    assert default_sensor_grpc_timeout() > webhook.LAST_TRY_SECONDS + 5 * webhook.TRY_SECONDS


def test_a_server_that_hangs_is_tried_again(
    address: str, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "TRY_SECONDS", 0.2)
    Server.answers += [(0, {}), (0, {})]
    Webhook(clock).send(address, "done")
    assert clock.waits == [1.0, 2.0]


@pytest.mark.parametrize(("status", "kind"), [(400, MessageRefused), (302, Undelivered), (403, Undelivered)])
def test_what_does_not_pass_is_tried_once(
    address: str, clock: HandClock, status: int, kind: type[Undelivered]
) -> None:
    Server.answers += [(status, {"Location": address})]
    with pytest.raises(Undelivered, match=f"^it answers {status}$") as refused:
        Webhook(clock).send(address, "done")
    assert type(refused.value) is kind
    assert len(Server.asked) == 1


@pytest.mark.parametrize(
    "address",
    [
        f"http://127.0.0.1:1/{SECRET}",
        f"http://{SECRET}.invalid/",
        f"{SECRET}.example.org/hook",
        f"http://127.0.0.1:1/{SECRET} and more",
        f"http://127.0.0.1:{SECRET}/",
        f"http://[{SECRET}/",
        f"ftp://127.0.0.1:1/{SECRET}",
    ],
)
def test_what_is_not_there_is_told_without_the_address(
    address: str, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(Undelivered) as failed:
        Webhook(clock).send(address, "done")
    error = failed.value
    assert SECRET not in str(error) + caplog.text
    assert error.__suppress_context__ or error.__context__ is None  # what Dagster keeps of an error


def test_nothing_is_logged_of_what_is_sent(address: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    Webhook().send(address, "done")
    assert SECRET not in caplog.text
