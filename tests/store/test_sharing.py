"""A store that two Unix users share: a folder of their group, each with an umask that shuts the other out."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.queues import SimpleQueue
from pathlib import Path

import pytest

from tests.end_to_end.tiny import BIN, PARTITION, write_place
from tests.store.test_contract import checkpoint_set
from tests.store.values import KEY, finish, publish
from translations_assets.common.errors import StoreError
from translations_assets.records.retention import Rules
from translations_assets.records.run import RunRecord
from translations_assets.runners.work_folder import sweep, work_folder
from translations_assets.store.gc import collect
from translations_assets.store.local import LocalStore
from translations_assets.store.verify import verify

ANN, BOB, GROUP = 47_101, 47_102, 47_100
CHECKOUT = Path(__file__).parents[2]


@dataclass(frozen=True)
class User:
    """Somebody of the group, who has a folder of their own and an umask of 022."""

    number: int
    place: Path

    @property
    def home(self) -> Path:
        return self.place / str(self.number)

    def run(self, *words: str, umask: int = 0o022) -> subprocess.CompletedProcess[str]:
        """Run a command as this user."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(CHECKOUT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TRANSLATIONS_STORE": str(self.place / "store"),
            "TRANSLATIONS_STATE": str(self.home / "state"),
            "TRANSLATIONS_CONFIGS": str(self.place / "tiny" / "configs"),
            "TRANSLATIONS_SPACE": "test",
            "DAGSTER_HOME": str(self.home / "dagster"),
        }
        return subprocess.run(
            words,
            user=self.number,
            group=self.number,
            extra_groups=[GROUP],
            umask=umask,
            env=environment,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def do(self, action: Callable[[LocalStore], None], umask: int) -> None:
        """Do something with the shared store as this user, in a process of its own."""
        fork = multiprocessing.get_context("fork")  # the interpreter may stand where only root may look
        failures = fork.SimpleQueue()
        process = fork.Process(target=self._do, args=(action, umask, failures))
        process.start()
        process.join(60)
        assert process.exitcode == 0, failures.get() if not failures.empty() else process.exitcode

    def _do(self, action: Callable[[LocalStore], None], umask: int, failures: SimpleQueue[str]) -> None:
        try:
            os.setgroups([GROUP])
            os.setgid(self.number)
            os.setuid(self.number)
            os.umask(umask)
            os.chdir(self.home)
            action(LocalStore(self.place / "store"))
        except BaseException:
            failures.put(traceback.format_exc())
            raise


@pytest.fixture
def users() -> Iterator[tuple[User, User]]:
    """Two users of a group, and a folder that is set up as docs/deployment.md says."""
    if os.geteuid() != 0:
        pytest.skip("only root can become other users")
    place = Path(tempfile.mkdtemp(prefix="shared-store-"))  # pytest's own folders are root's alone
    try:
        place.chmod(0o755)
        (place / "store").mkdir()
        os.chown(place / "store", ANN, GROUP)
        (place / "store").chmod(0o2770)
        both = User(ANN, place), User(BOB, place)
        for user in both:
            user.home.mkdir()
            os.chown(user.home, user.number, user.number)
        yield both
    finally:
        shutil.rmtree(place, ignore_errors=True)


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_each_uses_what_the_other_stored(users: tuple[User, User], umask: int) -> None:
    ann, bob = users

    def begin(store: LocalStore) -> None:
        made = finish(store, "merge-corpus", {"corpus": b"text"})
        publish(store, "run-1", 1.0, made)
        store.write_run("run-1", RunRecord("run-1"))

    def go_on(store: LocalStore) -> None:
        blob = store.add_bytes(b"text")  # there already: touched, whoever has made it
        assert time.time() - store.blob_file(blob.digest).stat().st_mtime < 5
        (made,) = (manifest for manifest in store.manifests() if manifest.label == "merge-corpus")
        store.place_blob(blob, Path(f"corpus-{time.time_ns()}"))
        with store.owners.lock(made.key, 2) as mine, store.owners.waiting(made.key, 2):
            assert mine
            assert store.owners.waiters(made.key, 2) == 1
        finish(store, f"again-{time.time_ns()}", {"corpus": b"text"})
        store.write_run("run-1", RunRecord("run-1"))
        store.append_log(made.key, 1, time.time_ns(), 0, b"line")
        publish(store, "run-2", 2.0, made)
        store.files.mark_time()

    def old(store: LocalStore) -> None:
        for path in store.root.glob("blobs/*/*"):
            os.utime(path, (1, 1))

    ann.do(begin, umask)
    ann.do(old, umask)
    for user in (bob, ann, bob):
        user.do(go_on, umask)
    found = {path: stat.S_IMODE(path.lstat().st_mode) for path in (ann.place / "store").rglob("*")}
    contents = {mode for path, mode in found.items() if path.parent.parent.name == "blobs"}
    assert contents == {0o444}, "contents are read-only for everybody"
    assert {mode for path, mode in found.items() if path.is_dir()} == {0o2770}, "as the store's own folder"


def test_each_looks_after_what_the_other_left(users: tuple[User, User]) -> None:
    """Checkpoint sets, garbage, damage, and the leftovers of the other's killed processes."""
    ann, bob = users

    def leave(store: LocalStore) -> None:
        store.add_checkpoint(KEY, 1, "000100", checkpoint_set(Path("set"), "Ann's"))
        finish(store, "old", {"corpus": b"old text"}, ended=1.0)
        damaged = store.blob_file(store.add_bytes(b"damaged").digest)
        damaged.chmod(0o600)
        damaged.write_bytes(b"DAMAGED")
        damaged.chmod(0o444)
        with work_folder(store.root / "work"):
            pass
        (store.root / "work" / "00c0ffee").mkdir()
        (store.root / "work" / "00c0ffee.lock").touch()
        (store.root / "tmp" / "00c0ffee").touch(mode=0o444)

    def look_after(store: LocalStore) -> None:
        Path("placed").mkdir()
        assert store.place_checkpoints(KEY, 1, Path("placed")) == ["000100"]
        for name in ("000200", "000300"):
            store.add_checkpoint(KEY, 1, name, checkpoint_set(Path(name), name))
        assert [problem.kind for problem in verify(store).problems] == ["damaged"]
        store.add_bytes(b"damaged")
        freed = collect(store, Rules(keep_days=0, keep_refs=0, grace_days=0), delete=True)
        assert freed.total().count == 1
        store.drop_checkpoints(KEY, 1)
        sweep(store.root / "work")
        with work_folder(store.root / "work") as folder:
            folder.outputs.mkdir()
            (folder.outputs / "text").write_text("Bob's")
            store.add_blob(folder.outputs / "text")

    def find(store: LocalStore) -> None:
        assert store.read_blob(store.add_bytes(b"Bob's")) == b"Bob's"
        assert list((store.root / "checkpoints").rglob("set.json")) == []

    ann.do(leave, 0o077)
    bob.do(look_after, 0o077)
    ann.do(find, 0o077)


def test_what_was_retired_by_one_is_restored_by_the_other(users: tuple[User, User]) -> None:
    ann, bob = users
    key = hashlib.sha256(b"merge-corpus").hexdigest()

    def make(store: LocalStore) -> None:
        finish(store, "merge-corpus", {"corpus": b"text"})
        store.retire(key, 1)

    def restore(store: LocalStore) -> None:
        store.restore(key, 1)
        assert store.latest(key)

    ann.do(make, 0o022)
    bob.do(restore, 0o022)


def test_a_store_that_is_not_shared_refuses_in_words(users: tuple[User, User]) -> None:
    ann, bob = users

    def refuse(store: LocalStore) -> None:
        with pytest.raises(StoreError, match=r"docs/deployment\.md"):
            store.add_bytes(b"other")

    (ann.place / "store").chmod(0o755)
    ann.do(lambda store: void(store.add_bytes(b"text")), 0o022)
    bob.do(refuse, 0o022)


def void(_: object) -> None:
    """Nothing."""


@pytest.mark.slow
def test_two_users_train_in_one_store(users: tuple[User, User]) -> None:
    """By the commands that people type: what Ann has made, Bob finds, goes on from, pins and verifies."""
    ann, bob = users
    try:
        works = ann.run(sys.executable, "-c", "import tests, translations_assets, typer").returncode == 0
    except PermissionError:
        works = False
    if not works:
        pytest.skip("other users than root cannot run this Python, or read the checkout")
    write_place(ann.place / "tiny")
    translations = str(BIN / "translations")
    made = ann.run(translations, "train", PARTITION, "--target", "merge_devset", "--yes")
    assert made.returncode == 0, made.stdout + made.stderr
    planned = bob.run(translations, "plan", PARTITION, "--target", "merge_devset", "--json")
    assert planned.returncode == 0, planned.stderr
    assert {step["status"] for step in json.loads(planned.stdout)["steps"]} == {"cached"}
    more = bob.run(translations, "train", PARTITION, "--target", "merge_corpus", "--yes")
    assert more.returncode == 0, more.stdout + more.stderr
    for command in (("cache", "verify"), ("cache", "gc", "--delete"), ("status", PARTITION)):
        done = bob.run(translations, *command)
        assert done.returncode == 0, done.stdout + done.stderr
    again = ann.run(translations, "train", PARTITION, "--target", "merge_corpus", "--yes")
    assert "nothing to run" in again.stdout, again.stdout + again.stderr
