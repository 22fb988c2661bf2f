"""Downloads that an attempt has begun, and another one goes on with."""

import shutil
import signal
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import pytest

from pipeline.common import kept_downloads
from pipeline.common.downloads import fetch
from pipeline.common.errors import TemporaryError
from tests.pipeline.common.conftest import CHANGED, CONTENT, Answer, Server, left_over


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of checkpoint sets; one is saved behind each chunk."""
    monkeypatch.setenv("TRANSLATIONS_CHECKPOINTS", str(tmp_path / "kept"))
    monkeypatch.setattr(kept_downloads, "SAVE_SECONDS", 0.0)
    return tmp_path / "kept"


def begin(server: Server, folder: Path, name: str = "a.txt") -> None:
    """Fetch the beginning of a file, to which the server adds with each of three tries."""
    server.answers = [Answer(cut_at=100_000)]
    with pytest.raises(TemporaryError):
        fetch(f"{server.url}/{name}", folder / name)
    server.requests.clear()


def newest(kept: Path) -> Path:
    return max(kept.iterdir())


def test_another_attempt_fetches_the_rest(server: Server, kept: Path, tmp_path: Path) -> None:
    begin(server, tmp_path)
    server.answers = [Answer()]
    source = fetch(f"{server.url}/a.txt", tmp_path / "again.txt")
    (asked,) = server.requests
    assert 200_000 < int(asked["Range"].removeprefix("bytes=").rstrip("-")) <= 300_000
    assert asked["If-Range"] == '"one"'
    assert (tmp_path / "again.txt").read_bytes() == CONTENT
    other = fetch(f"{server.url}/b.txt", tmp_path / "b.txt")
    assert (source.sha256, source.bytes) == (other.sha256, len(CONTENT))
    assert left_over(tmp_path) == ["again.txt", "b.txt", "kept"]


def test_a_set_has_the_pieces_of_the_one_before(server: Server, kept: Path, tmp_path: Path) -> None:
    begin(server, tmp_path)
    first, second = sorted(kept.iterdir())[:2]
    assert len(left_over(second)) == len(left_over(first)) + 1
    (piece,) = set(left_over(first)) - {"source.json"}
    assert (first / piece).stat().st_ino == (second / piece).stat().st_ino
    assert "a.txt" not in (first / "source.json").read_text()  # an address may hold a login


@pytest.mark.parametrize("etag", ['"two"', 'W/"two"', ""])
def test_a_file_that_changed_meanwhile_is_not_glued(
    server: Server, kept: Path, tmp_path: Path, etag: str
) -> None:
    begin(server, tmp_path)
    server.answers = [Answer(content=CHANGED, etag=etag)]
    fetch(f"{server.url}/a.txt", tmp_path / "again.txt")
    assert (tmp_path / "again.txt").read_bytes() == CHANGED


def attempt(server: Server, folder: Path, answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fetch the beginning of a file as a process of its own does."""
    monkeypatch.setattr(kept_downloads.KeptBytes, "numbers", count(1))
    server.answers = [answer]
    with pytest.raises(TemporaryError):
        fetch(f"{server.url}/a.txt", folder / "a.txt")
    server.requests.clear()


@pytest.mark.parametrize("stored", [False, True])
def test_of_a_file_that_changed_the_new_version_is_kept(
    server: Server, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: bool
) -> None:
    """However little of it has come; also where a store has sets of the other one, and brings them back."""
    attempt(server, tmp_path, Answer(cut_at=130_000), monkeypatch)
    if stored:
        shutil.copytree(kept, tmp_path / "store")
    attempt(server, tmp_path, Answer(content=CHANGED, etag='"two"', cut_at=40_000), monkeypatch)
    of_both = [*kept.iterdir(), *(tmp_path / "store").glob("*")]
    assert max(of_both, key=lambda path: path.name) == newest(kept)
    if stored:
        shutil.copytree(tmp_path / "store", kept, dirs_exist_ok=True)
    else:
        assert max(int(path.name.split("-")[-1]) for path in kept.iterdir()) <= 120_000
    server.answers = [Answer(content=CHANGED, etag='"two"')]
    fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    assert (server.requests[0]["If-Range"], len(server.requests)) == ('"two"', 1)
    assert (tmp_path / "a.txt").read_bytes() == CHANGED


def test_what_is_damaged_is_fetched_again(server: Server, kept: Path, tmp_path: Path) -> None:
    begin(server, tmp_path)
    damaged = max(path for path in newest(kept).iterdir() if path.name != "source.json")
    size = damaged.stat().st_size
    damaged.unlink()  # the sets before have other files
    damaged.write_bytes(b"x" * size)
    before = int(sorted(kept.iterdir())[-2].name.split("-")[-1])
    server.answers = [Answer()]
    fetch(f"{server.url}/a.txt", tmp_path / "again.txt")
    assert server.requests[0]["Range"] == f"bytes={before}-"
    assert (tmp_path / "again.txt").read_bytes() == CONTENT
    for path in kept.iterdir():
        (path / "source.json").write_text("{")
    fetch(f"{server.url}/a.txt", tmp_path / "third.txt")
    assert "Range" not in server.requests[1]


def test_another_file_begins_at_its_beginning(server: Server, kept: Path, tmp_path: Path) -> None:
    begin(server, tmp_path)
    server.answers = [Answer()]
    fetch(f"{server.url}/b.txt", tmp_path / "b.txt")
    assert "Range" not in server.requests[0]


def test_of_a_large_file_the_beginning_is_kept(
    server: Server, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_downloads, "MOST_BYTES", 150_000)
    begin(server, tmp_path)
    assert 100_000 < int(newest(kept).name.split("-")[-1]) <= 150_000


def test_short_downloads_and_unnamed_versions_are_not_kept(
    server: Server, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers = [Answer(etag="")]
    fetch(f"{server.url}/a.txt", tmp_path / "a.txt")
    monkeypatch.setattr(kept_downloads, "SAVE_SECONDS", 300.0)
    server.answers = [Answer()]
    fetch(f"{server.url}/b.txt", tmp_path / "b.txt")
    assert not kept.exists()


def test_a_copy_in_a_mirror_is_read_from_its_beginning(
    server: Server, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(server, tmp_path)
    host = server.url.removeprefix("http://")
    mirrored = tmp_path / "mirror" / host / "a.txt"
    mirrored.parent.mkdir(parents=True)
    mirrored.write_bytes(CHANGED)
    monkeypatch.setenv("TRANSLATIONS_MIRROR", str(tmp_path / "mirror"))
    fetch(f"{server.url}/a.txt", tmp_path / "again.txt")
    assert (tmp_path / "again.txt").read_bytes() == CHANGED


IMPORT = """
from pipeline.common import kept_downloads
from pipeline.common.script import run
kept_downloads.SAVE_SECONDS = 0.0
from pipeline.data.mono_url import main
run(main)
"""


def test_an_importer_that_is_killed(server: Server, kept: Path, tmp_path: Path) -> None:
    """The next attempt asks for the rest, and writes the same bytes."""
    url = f"{server.url}/text.txt"
    options = ["--dataset", url, "--lang", "en", "--code", "en", "--max-sentences", "15000"]
    command = [sys.executable, "-c", IMPORT, *options, "--output"]
    subprocess.run([*command, str(tmp_path / "whole")], check=True, capture_output=True)
    for path in kept.iterdir():
        path.rename(tmp_path / path.name)
    server.requests.clear()
    server.answers = [Answer(cut_at=200_000), Answer(status=503), Answer()]
    server.pause = True  # from the second request on, until it is told to go on
    with subprocess.Popen([*command, str(tmp_path / "first")], stderr=subprocess.PIPE) as first:
        for _ in range(600):
            if len(server.requests) == 2:
                break
            time.sleep(0.1)
        first.send_signal(signal.SIGKILL)
    server.pause = False
    subprocess.run([*command, str(tmp_path / "second")], check=True, capture_output=True)
    assert int(server.requests[-1]["Range"].removeprefix("bytes=").rstrip("-")) > 100_000
    for name in ("mono.en.zst", "stats.json"):
        assert (tmp_path / "second" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
