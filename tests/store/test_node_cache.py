"""The cache of downloads: one download for a machine, whatever happens to the cache."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.memory_store import MemoryStore
from tests.patience import PATIENCE
from tests.runners.scripts import eventually
from translations_assets.common.errors import DamagedError, StoreError, StoreUnreachable
from translations_assets.records.manifest import Blob
from translations_assets.store import node_cache
from translations_assets.store.contents import digest_bytes, place
from translations_assets.store.node_cache import NodeCache


class Bucket(MemoryStore):
    """A store whose downloads are counted, and may fail.

    fails  raised by a download to the cache once half a file is there
    """

    def __init__(self) -> None:
        super().__init__()
        self.downloads: list[Path] = []
        self.fails: Exception | None = None

    def place_blob(self, blob: Blob, target: Path) -> None:
        """Count a download."""
        self.downloads.append(target)
        if self.fails and target.parent.suffix == ".part":
            (target.parent / "half").write_bytes(self.read_blob(blob)[: blob.size // 2])
            raise self.fails
        super().place_blob(blob, target)


class Node:
    """A machine with a cache of 1000 bytes."""

    def __init__(self, root: Path) -> None:
        self.root, self.bucket, self.folder = root, Bucket(), root / "cache"
        self.cache = NodeCache(self.folder, 1000)
        self._number = 0

    def place(self, blob: Blob) -> Path:
        """Place contents at a new path."""
        self._number += 1
        target = self.root / f"placed.{self._number}"
        self.cache.place(blob, target, self.bucket.place_blob)
        return target

    def kept(self) -> list[str]:
        """Digests of what is in the cache."""
        return sorted(path.name for path in self.folder.glob("blobs/*/*"))

    def left(self) -> list[str]:
        """Leftovers of downloads."""
        return [path.name for path in self.folder.glob("downloads/*")]


@pytest.fixture
def node(tmp_path: Path) -> Node:
    """A machine with an empty cache."""
    return Node(tmp_path)


def contents(letter: str, size: int = 300) -> bytes:
    """Some contents."""
    return letter.encode() * size


def test_contents_are_downloaded_once(node: Node) -> None:
    blob = node.bucket.add_bytes(contents("a"))
    for _ in range(3):
        target = node.place(blob)
        assert target.read_bytes() == contents("a")
        assert stat.S_IMODE(target.stat().st_mode) == 0o444
    assert len(node.bucket.downloads) == 1
    assert node.kept() == [blob.digest]
    assert node.left() == []


def test_what_was_stored_here_is_here(node: Node) -> None:
    output = node.root / "output"
    output.write_bytes(contents("a"))
    blob = node.bucket.add_blob(output)
    node.cache.add(blob, output)
    assert output.stat().st_nlink == 1, "the file is the caller's"
    output.write_bytes(contents("b"))
    assert node.place(blob).read_bytes() == contents("a")
    assert node.bucket.downloads == []


def test_a_large_output_is_not_copied(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_cache, "_LARGEST_ADDED", 299)
    output = node.root / "output"
    output.write_bytes(contents("a"))
    node.cache.add(node.bucket.add_blob(output), output)
    assert node.kept() == []


def test_the_least_recently_used_go(node: Node) -> None:
    first, second, third, fourth = (node.bucket.add_bytes(contents(letter)) for letter in "abcd")
    for blob in (first, second, third, first, fourth):
        node.place(blob)
    assert node.kept() == sorted(blob.digest for blob in (first, third, fourth))
    node.place(second)
    assert node.kept() == sorted(blob.digest for blob in (first, second, fourth))


def test_contents_that_are_placed_again_count_as_used(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a time that is written: where nobody has file systems note when a file is read, too."""
    blob = node.bucket.add_bytes(contents("a"))
    node.place(blob)
    used: list[str] = []
    monkeypatch.setattr(node_cache, "_mark_used", lambda path: used.append(path.name))
    node.place(blob)
    assert used == [blob.digest]


def test_what_is_too_large_is_placed_all_the_same(node: Node) -> None:
    small, large = node.bucket.add_bytes(contents("a")), node.bucket.add_bytes(contents("b", 1001))
    node.place(small)
    assert node.place(large).read_bytes() == contents("b", 1001)
    assert node.kept() == [small.digest], "nothing goes in vain"
    assert node.left() == []


def test_a_file_that_is_being_placed_does_not_go(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (node.bucket.add_bytes(contents(letter, 600)) for letter in "ab")
    node.place(first)

    def place_meanwhile(source: Path, target: Path, link: bool) -> Blob:
        monkeypatch.setattr(node_cache, "place", place)
        assert node.place(second).read_bytes() == contents("b", 600)
        assert node.kept() == [first.digest]
        return place(source, target, link)

    monkeypatch.setattr(node_cache, "place", place_meanwhile)
    assert node.place(first).read_bytes() == contents("a", 600)
    node.place(second)
    assert node.kept() == [second.digest]


def test_room_is_kept_for_what_others_download(node: Node) -> None:
    first, second = (node.bucket.add_bytes(contents(letter, 600)) for letter in "ab")
    with node.cache._writing(first, wait=False) as part:
        assert part
        assert node.place(second).read_bytes() == contents("b", 600)
        assert node.kept() == []
    node.place(second)
    assert node.kept() == [second.digest]


def keep_time(path: Path, data: bytes) -> None:
    """Change a file so that neither its size nor its time shows it."""
    before = path.stat()
    path.chmod(0o644)
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_an_input_that_a_script_has_changed_is_downloaded_again(
    node: Node, caplog: pytest.LogCaptureFixture
) -> None:
    blob = node.bucket.add_bytes(contents("a"))
    placed = node.place(blob)
    assert placed.stat().st_nlink > 1, "it is the file of the cache, or else nothing could happen to that"
    keep_time(placed, contents("b"))
    assert node.place(blob).read_bytes() == contents("a")
    assert node.place(blob).read_bytes() == contents("a")
    assert len(node.bucket.downloads) == 2
    assert "downloaded again" in caplog.text


def test_a_file_that_is_cut_off_is_downloaded_again(node: Node) -> None:
    blob = node.bucket.add_bytes(contents("a"))
    node.place(blob)
    (path,) = node.folder.glob("blobs/*/*")
    path.chmod(0o644)
    os.truncate(path, 10)
    assert node.place(blob).read_bytes() == contents("a")


def test_using_a_file_does_not_make_it_look_changed(node: Node) -> None:
    """The worker goes by size, time and inode of an input, to see whether its script has changed it."""
    blob = node.bucket.add_bytes(contents("a"))
    placed = node.place(blob)
    before = placed.stat()
    node.place(blob)
    after = placed.stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_a_download_that_fails_leaves_nothing(node: Node) -> None:
    blob = node.bucket.add_bytes(contents("a"))
    node.bucket.fails = DamagedError("it is damaged")
    with pytest.raises(DamagedError):
        node.place(blob)
    assert node.kept() == node.left() == []


def test_a_download_goes_on_once_the_store_is_back(node: Node) -> None:
    blob, other = node.bucket.add_bytes(contents("a")), node.bucket.add_bytes(contents("b"))
    node.bucket.fails = StoreUnreachable("it is away")
    with pytest.raises(StoreUnreachable):
        node.place(blob)
    assert [path.name for path in node.folder.glob("downloads/*/*")] == ["half"]
    node.bucket.fails = None
    node.place(other)
    assert node.left() == [], "what nobody goes on with makes room"
    assert node.place(blob).read_bytes() == contents("a")
    assert node.left() == []


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), StoreError("cannot write: no space left")]
)
def test_a_full_disk_of_the_cache_stops_no_step(
    node: Node, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    blob = node.bucket.add_bytes(contents("a"))
    node.bucket.fails = error
    assert node.place(blob).read_bytes() == contents("a")
    assert node.kept() == node.left() == []
    assert "without the cache" in caplog.text


def test_a_cache_that_cannot_be_written_stops_no_step(node: Node, caplog: pytest.LogCaptureFixture) -> None:
    node.folder.write_text("no folder")
    blob = node.bucket.add_bytes(contents("a"))
    output = node.root / "output"
    output.write_bytes(contents("b"))
    node.cache.add(node.bucket.add_blob(output), output)
    assert node.place(blob).read_bytes() == contents("a")
    assert "without the cache" in caplog.text


def test_a_disk_with_too_little_space_is_not_filled(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_cache, "_free", lambda folder: 299)
    blob = node.bucket.add_bytes(contents("a"))
    assert node.place(blob).read_bytes() == contents("a")
    assert node.kept() == []


def test_many_threads_and_little_room(node: Node) -> None:
    blobs = [node.bucket.add_bytes(contents(letter)) for letter in "abcdef"]
    targets = iter(range(1000))
    guard = threading.Lock()

    def place(blob: Blob) -> bool:
        with guard:
            target = node.root / f"target.{next(targets)}"
        node.cache.place(blob, target, node.bucket.place_blob)
        return digest_bytes(target.read_bytes()) == blob

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(place, blobs * 20))
    assert sum(path.stat().st_size for path in node.folder.glob("blobs/*/*")) <= 1000
    assert node.left() == []


# Places contents by a download that writes half of them, then waits for the file `go`.
PROGRAM = """
import pathlib, sys, time
from translations_assets.store.contents import digest_bytes
from translations_assets.store.node_cache import NodeCache
root, target = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
data = b"a" * 300
def download(blob, path):
    with (root / "downloads").open("a") as file:
        print(path, file=file)
    path.with_name("half").write_bytes(data[:150])
    while not (root / "go").exists():
        time.sleep(0.02)
    path.write_bytes(data)
NodeCache(root / "cache", 1000).place(digest_bytes(data), target, download)
"""


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes that are ended, whatever happens."""
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


def start(root: Path, number: int) -> subprocess.Popen[bytes]:
    """A process that places the contents."""
    return subprocess.Popen([sys.executable, "-c", PROGRAM, str(root), str(root / f"target.{number}")])


def downloads(root: Path) -> int:
    """Number of downloads that were started."""
    path = root / "downloads"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_of_two_processes_one_downloads(tmp_path: Path, processes: list[subprocess.Popen[bytes]]) -> None:
    processes += [start(tmp_path, 1), start(tmp_path, 2)]
    assert eventually(lambda: downloads(tmp_path) == 1)
    time.sleep(0.5)
    assert [process.poll() for process in processes] == [None, None]
    (tmp_path / "go").touch()
    assert [process.wait(PATIENCE) for process in processes] == [0, 0]
    assert downloads(tmp_path) == 1
    assert [(tmp_path / f"target.{number}").read_bytes() for number in (1, 2)] == [contents("a")] * 2


def test_a_killed_downloader_is_in_nobodys_way(
    tmp_path: Path, processes: list[subprocess.Popen[bytes]]
) -> None:
    processes += [start(tmp_path, 1)]
    assert eventually(lambda: downloads(tmp_path) == 1)
    processes += [start(tmp_path, 2)]
    processes[0].send_signal(signal.SIGKILL)
    processes[0].wait()
    assert eventually(lambda: downloads(tmp_path) == 2), "the one that waited downloads"
    (tmp_path / "go").touch()
    assert processes[1].wait(20) == 0
    assert (tmp_path / "target.2").read_bytes() == contents("a")
    assert list((tmp_path / "cache" / "downloads").iterdir()) == []


def test_what_a_killed_downloader_has_begun_takes_no_room(
    node: Node, processes: list[subprocess.Popen[bytes]]
) -> None:
    processes += [start(node.root, 1)]
    assert eventually(lambda: list(node.folder.glob("downloads/*/half")) != [])
    processes[0].kill()
    processes[0].wait()
    large = node.bucket.add_bytes(contents("b", 900))
    node.place(large)
    assert node.kept() == [large.digest]
    assert node.left() == []


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o2770])
def test_a_private_cache_that_others_may_write_is_not_used(
    node: Node, mode: int, caplog: pytest.LogCaptureFixture
) -> None:
    node.cache = NodeCache(node.folder, 1000, private=True)
    node.folder.mkdir()
    node.folder.chmod(mode)
    blob = node.bucket.add_bytes(b"right")
    (node.root / "output").write_bytes(b"right")
    node.cache.add(blob, node.root / "output")
    assert node.place(blob).read_bytes() == b"right"
    assert list(node.folder.iterdir()) == []
    assert "others may write to" in caplog.text


def test_a_private_cache_is_no_link_and_nobody_elses(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    node.cache = NodeCache(node.folder, 1000, private=True)
    (node.root / "elsewhere").mkdir(mode=0o700)
    node.folder.symlink_to(node.root / "elsewhere")
    blob = node.bucket.add_bytes(b"right")
    assert node.place(blob).read_bytes() == b"right"
    assert list((node.root / "elsewhere").iterdir()) == []
    node.folder.unlink()
    node.place(blob)
    assert node.kept() == [blob.digest]
    assert stat.S_IMODE(node.folder.stat().st_mode) == 0o700
    monkeypatch.setattr(os, "geteuid", lambda: 47_203)
    downloads = len(node.bucket.downloads)
    node.place(blob)
    assert len(node.bucket.downloads) == downloads + 1
