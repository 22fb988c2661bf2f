"""Downloads with a mirror: what it has comes from there."""

import hashlib
from pathlib import Path

import pytest
import requests

from pipeline.common import downloads
from pipeline.common.downloads import fetch, fetch_first
from pipeline.common.errors import InputError
from tests.pipeline.common.conftest import CONTENT, Server


def test_a_mirrors_copy_is_its_owners_affair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    copy = tmp_path / "mirror" / "example.org" / "en.txt"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(b"mirrored")
    monkeypatch.setenv("TRANSLATIONS_MIRROR", str(tmp_path / "mirror"))
    fetch("https://example.org/en.txt", tmp_path / "a.txt", "0" * 64)
    assert (tmp_path / "a.txt").read_bytes() == b"mirrored"
    assert f"is not the published file, whose SHA-256 is {'0' * 64}" in caplog.text


def test_the_mirror_comes_before_the_network(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "mirror" / "example.org" / "data" / "en.txt?version=2"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(b"mirrored")
    monkeypatch.setenv("TRANSLATIONS_MIRROR", str(tmp_path / "mirror"))
    fetch("https://example.org/data/en.txt?version=2", tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == b"mirrored"
    fetch(f"{server.url}/b.txt", tmp_path / "b.txt")  # the mirror does not hold it
    assert (tmp_path / "b.txt").read_bytes() == CONTENT


def test_a_mirror_in_google_storage(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "GOOGLE_STORAGE", f"{server.url}/")
    monkeypatch.setenv("TRANSLATIONS_MIRROR", "gs://bucket/prefix")
    fetch("https://example.org/data/en.txt", tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == CONTENT


def test_a_web_page_in_the_mirror_does_not_count(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "mirror" / server.url.removeprefix("http://") / "a.txt"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(b"<html>" + b"x" * 200_000)
    monkeypatch.setenv("TRANSLATIONS_MIRROR", str(tmp_path / "mirror"))
    fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == CONTENT


def test_a_mirror_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_MIRROR", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="TRANSLATIONS_MIRROR names .*nowhere"):
        fetch("https://example.org/en.txt", tmp_path / "a.txt")


def test_google_storage_urls_are_mirrored_under_their_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "mirror" / "storage.googleapis.com" / "bucket" / "en.txt"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(b"mirrored")
    monkeypatch.setenv("TRANSLATIONS_MIRROR", str(tmp_path / "mirror"))
    source = fetch("gs://bucket/en.txt", tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == b"mirrored"
    assert source.url == "gs://bucket/en.txt"


@pytest.mark.parametrize("there", ["gs://bucket/b", "https://example.org/b?version=2"])
def test_without_a_network_what_the_mirror_has_is_enough(
    there: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def get(url: str, **options: object) -> None:
        raise requests.ConnectionError("no network here")

    copy = tmp_path / "mirror" / there.replace("gs://", "storage.googleapis.com/").removeprefix("https://")
    copy.parent.mkdir(parents=True)
    copy.write_bytes(b"mirrored")
    monkeypatch.setattr(requests, "get", get)
    monkeypatch.setenv("TRANSLATIONS_MIRROR", str(tmp_path / "mirror"))
    assert fetch_first(["https://example.org/a", there], tmp_path / "c").url == there.partition("?")[0]
    assert (tmp_path / "c").read_bytes() == b"mirrored"


@pytest.mark.parametrize("query", ["", "?signature=abc"])
def test_a_mirror_has_long_names_by_their_digest(
    query: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_MIRROR", str(tmp_path))
    long = "ü" * 200 + f".txt{query}"
    copy = tmp_path / "example.org" / "folder" / f"sha256-{hashlib.sha256(long.encode()).hexdigest()}"
    copy.parent.mkdir(parents=True)
    copy.write_text("text\n")
    fetch(f"https://example.org/folder/{long}", tmp_path / "target")
    assert (tmp_path / "target").read_text() == "text\n"
