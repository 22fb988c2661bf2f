"""Downloads, against a server that truncates, redirects, fails and answers ranges."""

import hashlib
import signal
from pathlib import Path

import pytest
import requests

from pipeline.common import web
from pipeline.common.downloads import Stream, fetch, fetch_first
from pipeline.common.errors import InputError, Stopped, TemporaryError
from pipeline.common.web import NotFound, Unreachable
from tests.pipeline.common.conftest import CHANGED, CONTENT, Answer, Server, left_over


def test_fetches_a_file_and_says_what_came(server: Server, tmp_path: Path) -> None:
    source = fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == CONTENT
    assert source.url == f"{server.url}/a.txt"
    assert source.sha256 == hashlib.sha256(CONTENT).hexdigest()
    assert source.bytes == len(CONTENT)
    assert left_over(tmp_path) == ["a.txt"]


def test_a_cut_off_download_goes_on_where_it_stopped(server: Server, tmp_path: Path) -> None:
    server.answers = [Answer(cut_at=300_000), Answer()]
    source = fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == CONTENT
    assert source.sha256 == hashlib.sha256(CONTENT).hexdigest()
    start = int(server.requests[1]["Range"].removeprefix("bytes=").rstrip("-"))
    assert 300_000 - web.CHUNK <= start <= 300_000
    assert server.requests[1]["If-Range"] == '"one"'


def test_a_server_without_ranges_sends_all_again(server: Server, tmp_path: Path) -> None:
    server.answers = [Answer(cut_at=300_000), Answer(ranges=False)]
    fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == CONTENT


def test_a_file_that_changed_meanwhile_is_not_glued(server: Server, tmp_path: Path) -> None:
    server.answers = [Answer(cut_at=300_000), Answer(content=CHANGED, etag='"two"')]
    source = fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == CHANGED
    assert source.sha256 == hashlib.sha256(CHANGED).hexdigest()


def test_without_a_strong_etag_it_starts_over(server: Server, tmp_path: Path) -> None:
    server.answers = [Answer(cut_at=300_000, etag='W/"weak"'), Answer(content=CHANGED, etag='W/"weak"')]
    fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == CHANGED
    assert "Range" not in server.requests[1]


def test_a_download_that_is_cut_off_every_time_fails_and_leaves_nothing(
    server: Server, tmp_path: Path
) -> None:
    server.answers = [Answer(cut_at=10_000, ranges=False)]
    with pytest.raises(TemporaryError, match=r"/a\.txt"):
        fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    assert len(server.requests) == web.TRIES
    assert left_over(tmp_path) == []


def test_tries_begin_again_after_progress(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "PROGRESS", web.CHUNK)
    cuts = range(2 * web.CHUNK, len(CONTENT), 3 * web.CHUNK)
    server.answers = [*(Answer(cut_at=3 * web.CHUNK) for _ in cuts), Answer()]
    assert len(server.answers) > web.TRIES
    source = fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    assert source.sha256 == hashlib.sha256(CONTENT).hexdigest()
    assert len(server.requests) > web.TRIES


def test_a_script_that_is_stopped_asks_no_more(server: Server, tmp_path: Path) -> None:
    def stop(*_: object) -> None:
        server.pause = False
        raise Stopped

    server.answers, server.pause = [Answer(cut_at=100_000), Answer()], True
    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Stopped):
            fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    finally:
        signal.signal(signal.SIGALRM, before)
    assert len(server.requests) <= 2


def test_redirects_without_end_are_told(server: Server, tmp_path: Path) -> None:
    server.answers = [Answer(status=302, content=b"", location="/again.txt")]
    with pytest.raises(InputError, match="Exceeded 30 redirects"):
        fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    assert left_over(tmp_path) == []


def test_a_redirect_to_a_file_of_this_machine_is_not_followed(server: Server, tmp_path: Path) -> None:
    server.answers = [Answer(status=302, content=b"", location="file:///etc/passwd")]
    with pytest.raises(InputError, match="cannot be fetched"):
        fetch(f"{server.url}/a.txt", tmp_path / "a.txt")


def test_a_stream_is_read_as_it_comes_and_taken_up_where_it_broke(server: Server) -> None:
    server.answers = [Answer(cut_at=300_000), Answer()]
    with Stream(f"{server.url}/a.txt") as stream:
        assert stream.read(100) == CONTENT[:100]
        assert len(server.requests) == 1
        assert stream.read() == CONTENT[100:]
        source = stream.source()
    assert (source.bytes, source.sha256) == (len(CONTENT), hashlib.sha256(CONTENT).hexdigest())
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "second", [Answer(content=CHANGED, etag='"two"'), Answer(ranges=False)], ids=["changed", "no ranges"]
)
def test_a_stream_that_cannot_be_taken_up_is_not_glued(server: Server, second: Answer) -> None:
    server.answers = [Answer(cut_at=300_000), second]
    with Stream(f"{server.url}/a.txt") as stream, pytest.raises(TemporaryError, match="after a part of it"):
        stream.read()


def test_a_stream_of_nothing_and_one_of_a_web_page(server: Server) -> None:
    server.answers = [Answer(content=b""), Answer(content=b"<html><title>Oh</title>")]
    with Stream(f"{server.url}/a.txt") as stream:
        assert stream.read() == b""
    with Stream(f"{server.url}/a.txt") as stream, pytest.raises(NotFound, match="web page .'Oh'"):
        stream.read()


def test_a_slow_host_is_given_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[float, float]] = []

    def get(url: str, timeout: tuple[float, float], **options: object) -> None:
        given.append(timeout)
        raise requests.ConnectionError("no network here")

    monkeypatch.setattr(web, "PAUSE", 0.001)
    monkeypatch.setattr(requests, "get", get)
    monkeypatch.delenv("TRANSLATIONS_MIRROR", raising=False)
    for host in ("example.org", "pontoon.mozilla.org"):
        with pytest.raises(Unreachable):
            fetch(f"https://{host}/a", tmp_path / "a")
    assert sorted({silence for _, silence in given}) == [60.0, 300.0]


@pytest.mark.parametrize("status", [503, 507, 522, 529])
def test_a_server_error_is_tried_again(server: Server, tmp_path: Path, status: int) -> None:
    """Whether or not the code is one that everybody knows: 522 is of Cloudflare alone."""
    server.answers = [Answer(status=status, content=b"busy"), Answer()]
    fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == CONTENT
    assert len(server.requests) == 2


def test_a_lasting_server_error_is_temporary(server: Server, tmp_path: Path) -> None:
    server.answers = [Answer(status=500, content=b"broken")]
    with pytest.raises(TemporaryError, match="the server answered 500"):
        fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    assert len(server.requests) == web.TRIES


@pytest.mark.parametrize("status", [400, 401, 501])
def test_what_another_try_cannot_change_is_told_at_once(server: Server, tmp_path: Path, status: int) -> None:
    server.answers = [Answer(status=status, content=b"no")]
    with pytest.raises(InputError, match=f"the server answered {status}.*asks for a login"):
        fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [403, 404, 410])
def test_a_missing_file_is_told_at_once(server: Server, tmp_path: Path, status: int) -> None:
    server.answers = [Answer(status=status, content=b"no")]
    with pytest.raises(NotFound, match=rf"{server.url}/missing\.txt \(the server answered {status}"):
        fetch(f"{server.url}/missing.txt", tmp_path / "a.txt")
    assert len(server.requests) == 1
    assert left_over(tmp_path) == []


def test_redirects_are_followed(server: Server, tmp_path: Path) -> None:
    server.answers = [Answer(status=302, content=b"", location="/there.txt"), Answer()]
    fetch(f"{server.url}/here.txt", tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == CONTENT


def test_another_file_than_the_published_one_is_refused(server: Server, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="not the file that was published: its SHA-256 is .* should be 0{64}"
    ):
        fetch(f"{server.url}/a.txt", tmp_path / "a.txt", "0" * 64)
    assert left_over(tmp_path) == []
    fetch(f"{server.url}/a.txt", tmp_path / "a.txt", hashlib.sha256(CONTENT).hexdigest())
    assert left_over(tmp_path) == ["a.txt"]


def test_the_hubs_own_digest_counts(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(web.TOKENS, "127.0.0.1", "HF_TOKEN")
    to_storage = Answer(status=302, content=b"", location="/there.bin", linked="0" * 64)
    server.answers = [to_storage, Answer()]
    with pytest.raises(InputError, match="should be 0{64}"):
        fetch(f"{server.url}/here.bin", tmp_path / "a.bin")
    to_storage.linked = hashlib.sha256(CONTENT).hexdigest()
    server.requests.clear()
    server.answers = [to_storage, Answer(cut_at=100_000), to_storage, Answer()]  # taken up where it broke
    assert fetch(f"{server.url}/here.bin", tmp_path / "a.bin").sha256 == to_storage.linked
    assert len(server.requests) == 4


def test_a_web_page_is_no_file(server: Server, tmp_path: Path) -> None:
    server.answers = [Answer(content=b"\n\n<!DOCTYPE html>\n<html><title>Page not found</title></html>")]
    with pytest.raises(NotFound, match="a web page .*Page not found"):
        fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    assert left_over(tmp_path) == []


def test_an_earlier_file_stays_when_the_download_fails(server: Server, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"earlier")
    server.answers = [Answer(cut_at=10)]
    server.answers[0].ranges = False
    with pytest.raises(TemporaryError):
        fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == b"earlier"


def test_without_a_network_the_message_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(web, "PAUSE", 0.001)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.delenv("TRANSLATIONS_MIRROR", raising=False)
    url = "http://127.0.0.1:1/corpus/en.txt"  # nobody listens on port 1
    with pytest.raises(Unreachable, match="network could not be reached") as caught:
        fetch(url, tmp_path / "a.txt")
    assert url in str(caught.value)
    assert "as 127.0.0.1:1/corpus/en.txt and let TRANSLATIONS_MIRROR" in str(caught.value)


def test_the_first_file_that_exists_is_fetched(server: Server, tmp_path: Path) -> None:
    server.answers = [Answer(status=404), Answer(status=403), Answer(content=b"third")]
    urls = [f"{server.url}/{name}" for name in "abc"]
    assert fetch_first(urls, tmp_path / "a").url == urls[2]
    assert (tmp_path / "a").read_bytes() == b"third"


def test_a_server_in_trouble_is_no_reason_to_take_the_next_file(server: Server, tmp_path: Path) -> None:
    server.answers = [*[Answer(status=503)] * web.TRIES, Answer(content=b"second")]
    with pytest.raises(TemporaryError):
        fetch_first([f"{server.url}/a", f"{server.url}/b"], tmp_path / "a")
    assert left_over(tmp_path) == []


def test_files_that_all_do_not_exist_are_named(server: Server, tmp_path: Path) -> None:
    server.answers = [Answer(status=404)]
    with pytest.raises(NotFound, match=r"None of these files can be read: http://\S+/a, http://\S+/b\. "):
        fetch_first([f"{server.url}/a", f"{server.url}/b"], tmp_path / "a")
