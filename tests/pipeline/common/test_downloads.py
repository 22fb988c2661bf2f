"""Downloads: against a small server on this machine that truncates, redirects, fails and answers ranges."""

import hashlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

from pipeline.common import downloads, web
from pipeline.common.downloads import Stream, fetch, fetch_first
from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.web import NotFound, Unreachable

CONTENT = b"".join(b"Line %d of a text.\n" % number for number in range(20_000))  # 0.4 MB
CHANGED = CONTENT.replace(b"text", b"book")


@dataclass
class Answer:
    """One answer of the server."""

    status: int = 200
    content: bytes = CONTENT
    cut_at: int | None = None  # close the connection after this many bytes of the body
    ranges: bool = True
    etag: str = '"one"'
    location: str = ""
    linked: str = ""  # the digest that the hub gives where it sends on


@dataclass
class Server:
    """Plays its answers in turn, the last one again and again; remembers the headers of the requests."""

    answers: list[Answer]
    url: str = ""
    requests: list[dict[str, str]] = field(default_factory=list)

    def next_answer(self) -> Answer:
        return self.answers[min(len(self.requests), len(self.answers)) - 1]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(web, "PAUSE", 0.001)
    monkeypatch.delenv("TRANSLATIONS_MIRROR", raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    script = Server([Answer()])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            script.requests.append(dict(self.headers))
            _send(self, script.next_answer())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        script.url = f"http://127.0.0.1:{http.server_address[1]}"
        yield script
        http.shutdown()
        thread.join()


def _send(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
    wanted = handler.headers.get("Range", "")
    start = int(wanted.removeprefix("bytes=").rstrip("-") or 0)
    unchanged = handler.headers.get("If-Range", answer.etag) == answer.etag
    partial = bool(wanted) and answer.ranges and unchanged and answer.status == 200
    body = answer.content[start:] if partial else answer.content
    handler.send_response(206 if partial else answer.status)
    handler.send_header("Content-Length", str(len(body)))
    handler.send_header("ETag", answer.etag)
    if partial:
        handler.send_header("Content-Range", f"bytes {start}-{len(answer.content) - 1}/{len(answer.content)}")
    if answer.location:
        handler.send_header("Location", answer.location)
    if answer.linked:
        handler.send_header("X-Linked-Etag", f'"{answer.linked}"')
    handler.end_headers()
    handler.wfile.write(body[: answer.cut_at])


def _left_over(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_fetches_a_file_and_says_what_came(server: Server, tmp_path: Path) -> None:
    source = fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == CONTENT
    assert source.url == f"{server.url}/a.txt"
    assert source.sha256 == hashlib.sha256(CONTENT).hexdigest()
    assert source.bytes == len(CONTENT)
    assert _left_over(tmp_path) == ["a.txt"]


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
    assert _left_over(tmp_path) == []


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


def test_redirects_without_end_are_told(server: Server, tmp_path: Path) -> None:
    server.answers = [Answer(status=302, content=b"", location="/again.txt")]
    with pytest.raises(InputError, match="Exceeded 30 redirects"):
        fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    assert _left_over(tmp_path) == []


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


def test_a_server_error_is_tried_again(server: Server, tmp_path: Path) -> None:
    server.answers = [Answer(status=503, content=b"busy"), Answer()]
    fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == CONTENT
    assert len(server.requests) == 2


def test_a_lasting_server_error_is_temporary(server: Server, tmp_path: Path) -> None:
    server.answers = [Answer(status=500, content=b"broken")]
    with pytest.raises(TemporaryError, match="the server answered 500"):
        fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    assert len(server.requests) == web.TRIES


@pytest.mark.parametrize("status", [403, 404, 410])
def test_a_missing_file_is_told_at_once(server: Server, tmp_path: Path, status: int) -> None:
    server.answers = [Answer(status=status, content=b"no")]
    with pytest.raises(NotFound, match=rf"{server.url}/missing\.txt \(the server answered {status}"):
        fetch(f"{server.url}/missing.txt", tmp_path / "a.txt")
    assert len(server.requests) == 1
    assert _left_over(tmp_path) == []


def test_redirects_are_followed(server: Server, tmp_path: Path) -> None:
    server.answers = [Answer(status=302, content=b"", location="/there.txt"), Answer()]
    fetch(f"{server.url}/here.txt", tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == CONTENT


def test_another_file_than_the_published_one_is_refused(server: Server, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="not the file that was published: its SHA-256 is .* should be 0{64}"
    ):
        fetch(f"{server.url}/a.txt", tmp_path / "a.txt", "0" * 64)
    assert _left_over(tmp_path) == []
    fetch(f"{server.url}/a.txt", tmp_path / "a.txt", hashlib.sha256(CONTENT).hexdigest())
    assert _left_over(tmp_path) == ["a.txt"]


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


def test_a_web_page_is_no_file(server: Server, tmp_path: Path) -> None:
    server.answers = [Answer(content=b"\n\n<!DOCTYPE html>\n<html><title>Page not found</title></html>")]
    with pytest.raises(NotFound, match="a web page .*Page not found"):
        fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    assert _left_over(tmp_path) == []


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


def test_file_urls(tmp_path: Path) -> None:
    (tmp_path / "with space.txt").write_bytes(b"local")
    fetch((tmp_path / "with space.txt").as_uri(), tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == b"local"
    with pytest.raises(NotFound, match=r"There is no file .*missing\.txt"):
        fetch((tmp_path / "missing.txt").as_uri(), tmp_path / "b.txt")


@pytest.mark.parametrize(
    "url", ["ftp://example.org/a", "example.org/a", "https://", "http:///a", "file://host/a"]
)
def test_urls_that_cannot_be_fetched(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRANSLATIONS_MIRROR", raising=False)
    with pytest.raises(InputError):
        fetch(url, tmp_path / "a.txt")
    assert _left_over(tmp_path) == []


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
    with pytest.raises(InputError, match=r"answered 401 .* asks for a login \(set HF_TOKEN\)\."):
        fetch(f"{server.url}/a.txt", tmp_path / "a.txt")


def test_the_first_file_that_exists_is_fetched(server: Server, tmp_path: Path) -> None:
    server.answers = [Answer(status=404), Answer(status=403), Answer(content=b"third")]
    urls = [f"{server.url}/{name}" for name in "abc"]
    assert fetch_first(urls, tmp_path / "a").url == urls[2]
    assert (tmp_path / "a").read_bytes() == b"third"


def test_a_server_in_trouble_is_no_reason_to_take_the_next_file(server: Server, tmp_path: Path) -> None:
    server.answers = [*[Answer(status=503)] * web.TRIES, Answer(content=b"second")]
    with pytest.raises(TemporaryError):
        fetch_first([f"{server.url}/a", f"{server.url}/b"], tmp_path / "a")
    assert _left_over(tmp_path) == []


def test_files_that_all_do_not_exist_are_named(server: Server, tmp_path: Path) -> None:
    server.answers = [Answer(status=404)]
    with pytest.raises(NotFound, match=r"None of these files can be read: http://\S+/a, http://\S+/b\. "):
        fetch_first([f"{server.url}/a", f"{server.url}/b"], tmp_path / "a")


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
