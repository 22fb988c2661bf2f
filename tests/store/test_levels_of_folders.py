"""Levels of trust in folders, kept apart by owners, groups and modes: attempts from below."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import Any

import pytest

from tests.store.from_below import FROM_BELOW, Attempts, made_in, through_the_store
from tests.store.test_overlay import fill, state
from tests.store.values import finish
from translations_assets.common.errors import StoreError
from translations_assets.store.levels import Levels, mark
from translations_assets.store.local import LocalStore

ACCOUNTS = {"release": 47_201, "branch": 47_202, "anyone": 47_203}
READERS = {"release": 47_211, "branch": 47_212}  # groups of the accounts of lower levels


@dataclass(frozen=True)
class Site:
    """Places of three levels, set up as docs/deployment.md says."""

    root: Path

    @property
    def places(self) -> dict[str, str]:
        return {name: str(self.root / name) for name in ACCOUNTS}

    def levels(self, own: str) -> Levels:
        return Levels(self.places, own)

    def home(self, level: str) -> Path:
        return self.root / "home" / level

    def act(self, level: str, action: Callable[[], object]) -> Any:
        """Return the answer of something that the account of a level does, in a process of its own."""
        fork = multiprocessing.get_context("fork")  # the interpreter may stand where only root may look
        answers = fork.SimpleQueue()
        process = fork.Process(target=self._act, args=(level, action, answers))
        process.start()
        process.join(60)
        assert not answers.empty(), process.exitcode
        answer = answers.get()
        assert process.exitcode == 0, answer
        return answer

    def _act(self, level: str, action: Callable[[], object], answers: SimpleQueue[object]) -> None:
        names = list(ACCOUNTS)
        try:
            os.setgroups([READERS[name] for name in names[: names.index(level)]])
            os.setgid(ACCOUNTS[level])
            os.setuid(ACCOUNTS[level])
            os.umask(0o022)
            os.chdir(self.home(level))
            answers.put(action())
        except BaseException:
            answers.put(traceback.format_exc())
            raise


@pytest.fixture
def site() -> Iterator[Site]:
    """The places, each marked, and with a finished step, a run and a training half done."""
    if os.geteuid() != 0:
        pytest.skip("only root can become other users")
    site = Site(Path(tempfile.mkdtemp(prefix="levels-")))  # pytest's own folders are root's alone
    try:
        site.root.chmod(0o755)
        for name, number in ACCOUNTS.items():
            site.home(name).mkdir(parents=True)
            os.chown(site.home(name), number, number)
            for folder, mode in (("", 0o2750), ("locks", 0o700)):
                (site.root / name / folder).mkdir()
                os.chown(site.root / name / folder, number, READERS.get(name, number))
                (site.root / name / folder).chmod(mode)
            site.act(name, partial(set_up, site.levels(name), site.home(name)))
        yield site
    finally:
        shutil.rmtree(site.root, ignore_errors=True)


def set_up(levels: Levels, home: Path) -> None:
    """Mark one's own place, and fill it."""
    (home / "made").mkdir()
    place = levels.place(levels.own)
    mark(place)
    fill(place, home / "made")


def raw(root: Path, place: LocalStore, home: Path) -> Attempts:
    """Calls of the system that change something in a level's folder."""
    made = made_in(place)
    blob, there = place.blob_file(made.outputs["corpus"].digest), place.manifest_file(made.key, 1)
    lock = root / "locks" / "blobs"

    def through_a_link() -> None:
        os.link(blob, home / "link")
        (home / "link").write_bytes(b"from below")

    def hold(path: Path) -> None:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    folders = ("blobs", "steps", "logs", "checkpoints", "runs", "refs", "configs", "tmp", "locks")
    made_here = {
        f"make a file in {name}": partial((root / name / "mine").write_bytes, b"x") for name in folders
    }
    moved = {f"move {name} away": partial((root / name).rename, home / name) for name in folders}
    return {
        **made_here,
        **moved,
        "write contents": lambda: blob.write_bytes(b"from below"),
        "cut contents": lambda: os.truncate(blob, 1),
        "open contents": lambda: blob.chmod(0o666),
        "own contents": lambda: os.chown(blob, os.geteuid(), -1),
        "date contents": lambda: os.utime(blob, (1, 1)),
        "delete contents": blob.unlink,
        "replace contents": lambda: os.replace(made_file(home), blob),
        "write through a link": through_a_link,
        "write a manifest": lambda: there.write_bytes(b"from below"),
        "delete a manifest": there.unlink,
        "add a generation": lambda: there.with_name("2.json").write_bytes(b"from below"),
        "link a manifest": lambda: there.with_name("2.json").symlink_to(home / "mine"),
        "write the mark": lambda: (root / "level.json").write_bytes(b"from below"),
        "delete the mark": (root / "level.json").unlink,
        "replace the place": lambda: root.rename(root.with_name("moved")),
        "delete the place": lambda: shutil.rmtree(root),
        "open the place": lambda: root.chmod(0o777),
        "hold a lock": lambda: hold(lock),
        "leave a pipe": lambda: os.mkfifo(root / "runs" / "run-mine.json"),
        "make a folder": (root / "pins").mkdir,
    }


def made_file(home: Path) -> Path:
    (home / "mine").write_bytes(b"from below")
    return home / "mine"


def passed(attempts: Attempts) -> list[str]:
    """The attempts that the system did not refuse."""
    found = []
    for name, attempt in attempts.items():
        try:
            attempt()
        except (PermissionError, StoreError) as error:
            if "ermission" in str(error) or "not permitted" in str(error):
                continue
            found.append(f"{name}: {error}")
        else:
            found.append(name)
    return found


@pytest.mark.parametrize(("own", "higher"), FROM_BELOW)
def test_attempts_from_below_are_refused_by_the_system(site: Site, own: str, higher: str) -> None:
    def attempt() -> tuple[int, list[str]]:
        place = LocalStore(site.root / higher, level=higher)
        attempts = raw(site.root / higher, place, site.home(own)) | through_the_store(place, site.home(own))
        return len(attempts), passed(attempts)

    before = state(site.root / higher)
    number, found = site.act(own, attempt)
    assert state(site.root / higher) == before
    assert found == []
    print(f"{own} tried {number} ways to change {higher}: all were refused by the system")
    assert number >= 40


@pytest.mark.parametrize(("own", "higher"), FROM_BELOW)
def test_higher_levels_are_read_and_lower_ones_are_not(site: Site, own: str, higher: str) -> None:
    def read() -> bytes:
        place = site.levels(own).place(higher)
        return bytes(place.read_blob(made_in(place).outputs["corpus"]))

    assert site.act(own, read) == b"text of production"
    looks: Attempts = {
        "list": lambda: os.listdir(site.root / own),
        "open": lambda: LocalStore(site.root / own, read_only=True).runs(),
    }
    assert site.act(higher, lambda: passed(looks)) == []


def test_a_store_over_higher_levels_works_with_these_rights(site: Site) -> None:
    before = state(site.root / "release"), state(site.root / "anyone")

    def work() -> list[str]:
        store = site.levels("branch").open()
        ours = finish(store, "merge-ours", {"corpus": b"ours"})
        return [store.level_of(ours.key, 1), str(sorted(one.label for one in store.manifests()))]

    assert site.act("branch", work) == ["branch", "['merge-corpus', 'merge-ours']"]
    assert (state(site.root / "release"), state(site.root / "anyone")) == before
    labels = site.act("release", lambda: [one.label for one in site.levels("release").open().manifests()])
    assert labels == ["merge-corpus"]
