"""A dataset behind a login: it is imported, and nothing that is written or printed holds the login."""

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.end_to_end.tiny import PARTITION, Place, make_place

SECRET = "s3cret0signature"
TEXT = gzip.compress(b"A line of text.\nAnother one.\n", mtime=0)

pytestmark = pytest.mark.slow


@pytest.fixture
def site() -> Iterator[str]:
    """The address of a server that gives its files for a signature."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            allowed = urlsplit(self.path).query == f"expires=1&sig={SECRET}"
            self.send_response(200 if allowed else 401)
            self.send_header("Content-Length", str(len(TEXT) if allowed else 0))
            self.end_headers()
            if allowed:
                self.wfile.write(TEXT)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def place_with(tmp_path: Path, url: str) -> Place:
    """The tiny pair, whose training text is at a URL."""
    place = make_place(tmp_path / "place")
    path = place.root / "configs" / f"{PARTITION}.yml"
    train = f'train: ["url_file://{place.root}/data/train.[LANG].gz"]'
    text = path.read_text()
    assert train in text
    path.write_text(text.replace(train, f'train: ["url_{url}"]'))
    return place


def holding(root: Path, secret: str) -> list[str]:
    """The files below a folder that hold a text, plain or as in JSON, but for configs."""
    files = [path for path in root.rglob("*") if path.is_file() and path.parent != root / "configs"]
    assert files
    return [str(path) for path in files if secret.encode() in path.read_bytes()]


def test_a_signature_is_used_and_never_written(tmp_path: Path, site: str) -> None:
    place = place_with(tmp_path, f"{site}/data/c.[LANG].gz")
    command = ("translations", "train", PARTITION, "--target", "dataset_train", "--yes")
    without = place.run(*command)
    assert without.returncode == 1
    assert "whether it asks for a login (set TRANSLATIONS_LOGIN_127_0_0_1)" in without.stdout + without.stderr
    done = place.run(*command, TRANSLATIONS_LOGIN_127_0_0_1=f"?expires=1&sig={SECRET}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert SECRET not in done.stdout + done.stderr
    assert holding(place.root, SECRET) == []
    database = list((place.root / "dagster").rglob("*.db"))
    assert database  # of runs and events, which were searched
    assert holding(place.root, "/data/c.en.gz")  # what is searched for would be found


@pytest.mark.parametrize("url", [f"http://me:{SECRET}@%s/c.[LANG].gz", f"http://%s/c.[LANG].gz?sig={SECRET}"])
def test_a_login_in_a_config_is_refused_before_anything_is_written(
    tmp_path: Path, site: str, url: str
) -> None:
    place = place_with(tmp_path, url % site.removeprefix("http://"))
    for command in (("train", PARTITION, "--yes"), ("plan", PARTITION), ("config", "check", PARTITION)):
        done = place.run("translations", *command)
        assert done.returncode == 1
        assert "which would stand in logs and records" in done.stderr
        assert SECRET not in done.stdout + done.stderr
    path = place.root / "configs" / f"{PARTITION}.yml"
    (tmp_path / "en-eo.other.yml").write_text(path.read_text())
    assert place.run("translations", "train", str(tmp_path / "en-eo.other.yml"), "--yes").returncode == 1
    assert holding(place.root, SECRET) == []
