"""Logins of servers: whom they are sent to, and in which form."""

import pytest

from pipeline.common.urls import with_login

URL = "https://data.example.org/a.zst"


@pytest.fixture(autouse=True)
def login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_LOGIN_DATA_EXAMPLE_ORG", "me:pass\n")


def test_the_three_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    assert with_login(URL) == (URL, {"Authorization": "Basic bWU6cGFzcw=="})
    monkeypatch.setenv("TRANSLATIONS_LOGIN_DATA_EXAMPLE_ORG", "t0ken")
    assert with_login(URL) == (URL, {"Authorization": "Bearer t0ken"})
    monkeypatch.setenv("TRANSLATIONS_LOGIN_DATA_EXAMPLE_ORG", "?sv=1&sig=a%2Bb:c")
    assert with_login(URL) == (f"{URL}?sv=1&sig=a%2Bb:c", {})
    assert with_login(f"{URL}?x=1") == (f"{URL}?x=1&sv=1&sig=a%2Bb:c", {})


@pytest.mark.parametrize(
    "url",
    [
        URL.replace("https", "http"),
        "https://other.org/data.example.org",
        "https://data.example.org.evil.org/a",
        "https://sub.data.example.org/a",
        "file:///data.example.org/a",
    ],
)
def test_a_login_is_for_its_own_server_alone_and_encrypted(url: str) -> None:
    assert with_login(url) == (url, {})


def test_within_this_machine_it_need_not_be_encrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_LOGIN_127_0_0_1", "t0ken")
    assert with_login("http://127.0.0.1:8000/a")[1] == {"Authorization": "Bearer t0ken"}
