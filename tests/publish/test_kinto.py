"""Requests to Remote Settings: pauses that are heeded, and errors in words."""

from __future__ import annotations

import pytest

from tests.kinto_server import LOGIN, kinto_server
from tests.virtual_clock import VirtualClock
from translations_assets.common.errors import StoreUnreachable
from translations_assets.publish.kinto import Kinto, NotAccepted

PATH = "/buckets/main/collections/translations-models-v2"


def test_pauses_that_the_server_asks_for_are_heeded() -> None:
    clock = VirtualClock()
    with kinto_server("main") as server:
        server.busy = 3
        kinto = Kinto(server.url, LOGIN, clock)
        begun = clock.monotonic()
        kinto.ask("PUT", PATH, {"If-None-Match": "*"}, json={"data": {}})
        assert clock.monotonic() - begun == 9.0
        server.busy = 100
        with pytest.raises(StoreUnreachable, match="it answers 503. Publish again later."):
            kinto.ask("GET", PATH)
        assert clock.monotonic() - begun <= 70.0


def test_a_server_that_is_away() -> None:
    kinto = Kinto("http://127.0.0.1:9/v1", "", VirtualClock())
    with pytest.raises(StoreUnreachable, match="http://127.0.0.1:9/v1 cannot be reached"):
        kinto.ask("GET", PATH)


@pytest.mark.parametrize(
    ("login", "path", "message"),
    [
        ("", PATH, "does not know you .401.. Let TRANSLATIONS_REMOTE_SETTINGS_LOGIN hold"),
        ("editor:wrong", PATH, "does not know you"),
        ("Bearer abc", PATH, "does not know you"),
        (LOGIN, PATH.replace("main", "other"), "your account may not do this .403."),
        (LOGIN, f"{PATH}/records/a/attachment", "the server answers 404 as Kinto says"),
    ],
)
def test_what_is_refused_is_told_in_words(login: str, path: str, message: str) -> None:
    with kinto_server("main") as server, pytest.raises(NotAccepted, match=message):
        Kinto(server.url, login, VirtualClock()).ask("PUT", path, json={"data": {}})


def test_another_server_is_told_from_remote_settings() -> None:
    with kinto_server("main") as server:
        server.files["page"] = b"<html>"
        with pytest.raises(
            NotAccepted, match="the answer is no JSON. Is this the address of Remote Settings"
        ):
            Kinto(server.url.removesuffix("/v1"), "").ask("GET", "/attachments/page")
