"""Tests of the URLs that are downloaded from, and the hosts that tokens are sent to."""

import subprocess
import sys
from pathlib import Path

import pytest
import requests

from pipeline.common import web
from pipeline.common.downloads import fetch
from pipeline.common.errors import InputError
from pipeline.common.web import NeedsLogin, NotFound, Unreachable
from tests.pipeline.common.conftest import Answer, Server, left_over


@pytest.mark.parametrize(
    "url", ["ftp://example.org/a", "example.org/a", "https://", "http:///a", "file://host/a"]
)
def test_urls_that_cannot_be_fetched(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRANSLATIONS_MIRROR", raising=False)
    with pytest.raises(InputError):
        fetch(url, tmp_path / "a.txt")
    assert left_over(tmp_path) == []


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://huggingface.co/datasets/a/resolve/main/en.txt", "Bearer hf_planted"),
        ("http://huggingface.co/datasets/a/resolve/main/en.txt", None),
        ("https://example.org/huggingface.co/en.txt", None),
        ("https://huggingface.co.example.org/en.txt", None),
        ("https://huggingface.co@example.org/en.txt", None),
    ],
)
def test_a_token_is_sent_to_its_host_only(
    url: str, sent: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str | None] = []

    def get(url: str, headers: dict[str, str], **options: object) -> None:
        seen.append(headers.get("Authorization"))
        raise requests.ConnectionError("no network here")

    monkeypatch.setattr(web, "PAUSE", 0.001)
    monkeypatch.setattr(requests, "get", get)
    monkeypatch.setenv("HF_TOKEN", "hf_planted\n")
    monkeypatch.delenv("TRANSLATIONS_MIRROR", raising=False)
    with pytest.raises(Unreachable) as caught:
        fetch(url, tmp_path / "a.txt")
    assert set(seen) == {sent}
    assert "hf_planted" not in str(caught.value)


def test_a_token_is_not_sent_on_to_where_a_redirect_leads(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files of the hub lie on a content network, whose addresses are signed."""
    monkeypatch.setattr(web, "_authorization", lambda url: {"Authorization": "Bearer hf_planted"})
    elsewhere = server.url.replace("127.0.0.1", "localhost")
    server.answers = [Answer(status=302, content=b"", location=f"{elsewhere}/there.txt"), Answer()]
    fetch(f"{server.url}/here.txt", tmp_path / "a.txt")
    assert [request.get("Authorization") for request in server.requests] == ["Bearer hf_planted", None]


def test_a_login_that_is_asked_for_is_named(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "TOKENS", {"127.0.0.1": "HF_TOKEN"})
    server.answers = [Answer(status=401, content=b"who are you?")]
    with pytest.raises(NeedsLogin, match=r"answered 401 .* asks for a login \(set HF_TOKEN\)\."):
        fetch(f"{server.url}/a.txt", tmp_path / "a.txt")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("https://[x/corpus", "is not a URL: Invalid IPv6 URL"),
        ("https://example.org:99999999/corpus", "is not a URL: Port out of range"),
        ("https://example.org:²/corpus", "is not a URL: "),
        ("file:///tmp/a%00b", "holds a control character"),
        ("https://example.org/a\0b", "holds a control character"),
    ],
)
def test_broken_urls_are_refused(url: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says):
        fetch(url, tmp_path / "target")
    assert list(tmp_path.iterdir()) == []


def test_a_broken_url_by_the_real_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pipeline.data.parallel_url", "--dataset", "https://[x/c.[LANG]"]
    options = ["--src", "en", "--trg", "ru", "--src-code", "en", "--trg-code", "ru"]
    done = subprocess.run(
        [*command, *options, "--output", str(tmp_path / "out")], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 1
    assert "is not a URL" in done.stderr
    assert "Traceback" not in done.stderr


def test_file_urls(tmp_path: Path) -> None:
    (tmp_path / "with space.txt").write_bytes(b"local")
    fetch((tmp_path / "with space.txt").as_uri(), tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == b"local"
    with pytest.raises(NotFound, match=r"There is no file .*missing\.txt"):
        fetch((tmp_path / "missing.txt").as_uri(), tmp_path / "b.txt")


def test_a_login_for_this_machine_does_not_go_to_a_proxy(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("http_proxy", server.url.replace("127.0.0.1", "127.0.0.2"))  # where nobody answers
    monkeypatch.setenv("TRANSLATIONS_LOGIN_127_0_0_1", "t0ken")
    elsewhere = server.url.replace("127.0.0.1", "localhost")
    server.answers = [Answer(status=302, content=b"", location=f"{elsewhere}/there.txt"), Answer()]
    fetch(f"{server.url}/here.txt", tmp_path / "a.txt")
    assert [request.get("Authorization") for request in server.requests] == ["Bearer t0ken", None]
