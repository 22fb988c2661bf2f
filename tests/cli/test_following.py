"""A run on a server is followed while the server is away for a while, and not for ever."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from translations_assets.cli import runs_server
from translations_assets.common.errors import TranslationsError
from translations_assets.instance.server import RunState, ServerUnreachable


@dataclass
class FakeServer:
    """A server that answers, or is away, as it is told second by second."""

    answers: Iterator[bool]
    now: float = 1000.0
    asked: list[str | None] = field(default_factory=list)

    def run_state(self, run: str, cursor: str | None) -> RunState:
        self.asked.append(cursor)
        if next(self.answers):
            return RunState("STARTED", [], f"{self.now:.0f}")
        raise ServerUnreachable("Nothing answers.")

    def emit(self, event: Any) -> None:
        raise AssertionError


def follow(answers: list[bool], monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    """Follow a run as long as there are answers, one a second; the server."""
    server = FakeServer(iter(answers))

    def sleep(_: float) -> None:
        server.now += 1.0

    monkeypatch.setattr("time.monotonic", lambda: server.now)
    monkeypatch.setattr("time.sleep", sleep)
    with pytest.raises((StopIteration, TranslationsError), match="The run abc may go on|^$"):
        runs_server._follow(server, "abc", server)  # type: ignore[arg-type]
    return server


def test_a_server_that_stays_away_is_given_up_after_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    server = follow([True, *[False] * 1000], monkeypatch)
    assert 60 <= server.now - 1001 <= 62


def test_a_server_that_comes_back_in_time_is_followed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [*[False] * 50, True] * 5
    server = follow(answers, monkeypatch)
    assert len(server.asked) == len(answers) + 1
    assert server.asked[51] == "1050"  # goes on behind what it had heard
