"""Whatever stands in the place of a store's file: in words, soon, in little memory, and never used."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.store.test_damage import CONTENTS, KINDS, Filled, filled, master, run
from tests.store.values import KEY, finish
from translations_assets.common.errors import StoreError
from translations_assets.records.encoding import seal, unseal
from translations_assets.records.manifest import Blob
from translations_assets.records.retention import Rules
from translations_assets.store.contents import MOST_IN_MEMORY
from translations_assets.store.gc import collect
from translations_assets.store.local import LocalStore
from translations_assets.store.locks import acquire, is_held
from translations_assets.store.verify import verify

__all__ = ["filled", "master"]  # fixtures

SECONDS, MEMORY = 10, 1 << 30
TERABYTE = 1 << 40
RECORDS = ("manifest", "retired manifest", "ref", "run", "pin", "publication", "checkpoint manifest")


@pytest.fixture(autouse=True)
def bounds() -> Iterator[None]:
    """End what takes long, and refuse what wants much memory."""

    def give_up(*_: object) -> None:
        raise AssertionError(f"it takes longer than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, give_up)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    signal.alarm(SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, limits)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def endless(path: Path) -> None:
    path.chmod(0o644)
    os.truncate(path, TERABYTE)


def in_its_place(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def act(path: Path) -> None:
        path.unlink(missing_ok=True)
        make(path)

    return act


def link_to_itself_elsewhere(path: Path) -> None:
    """A link to a copy of the very file: whoever made it may change that whenever they want."""
    copy = path.parent.parent / "copy"
    copy.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(copy)


def listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(path.parent)  # a socket's path is short
        server.bind(path.name)
        os.chdir(here)


def full_folder(path: Path) -> None:
    path.mkdir()
    (path / "within").write_text("text")


PLACES: dict[str, Callable[[Path], None]] = {
    "a terabyte of nothing": endless,
    "a folder": in_its_place(Path.mkdir),
    "a folder with a file": in_its_place(full_folder),
    "a link": link_to_itself_elsewhere,
    "a link to itself": in_its_place(lambda path: path.symlink_to(path)),
    "a link to a device": in_its_place(lambda path: path.symlink_to("/dev/zero")),
    "a pipe": in_its_place(os.mkfifo),
    "a socket": in_its_place(listening),
}


def sealed(path: Path, body: bytes) -> None:
    """An object of JSON, given without its first brace, with a digest that is right."""
    digest = hashlib.sha256(b"{" + body).hexdigest().encode()
    path.unlink()
    path.write_bytes(b'{"sha256": "' + digest + b'", ' + body + b"\n")


SEALED: dict[str, bytes] = {
    "nested deeply": b'"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "a number of 5,000 digits": b'"time": ' + b"9" * 5000 + b"}",
    "no end": b'"started": 1e999, "generation": Infinity}',
    "no fields": b'"label": "a"}',
    "a text of 20 MB": b'"key": "' + b"k" * 20_000_000 + b'"}',
    "no JSON": b"}{}",
}


def is_given(made: Filled, kind: str, folder: Path, place: bool) -> bool:
    """True if a reader is given the contents; in words if not."""
    folder.mkdir()
    try:
        return made.use(kind, folder, place)
    except StoreError as error:
        said = str(error)
    assert str(made.store.root) in said
    return False


def keep_house(store: LocalStore) -> list[str]:
    """Messages of the maintenance of a store, including StoreErrors."""
    said: list[str] = []
    for act in (
        lambda: said.extend(problem.path for problem in verify(store).problems),
        lambda: collect(store, Rules(keep_days=1, keep_refs=1, grace_days=0), delete=False),
        lambda: list(store.manifests()),
        store.runs,
    ):
        try:
            act()
        except StoreError as error:
            said.append(str(error))
    return said


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_what_stands_in_the_place_of_a_file_is_not_used(
    filled: Filled, kind: str, place: str, tmp_path: Path
) -> None:
    path = filled.path(kind)
    PLACES[place](path)
    store = LocalStore(filled.store.root)
    again = Filled(store, filled.dataset, filled.merged, filled.teacher, filled.sets)
    if kind != "format":
        for number, placed in enumerate((True, False) if kind in CONTENTS else (False,)):
            assert not is_given(again, kind, tmp_path / f"use-{number}", placed)
    said = keep_house(store)
    if kind != "format" and not place.startswith("a folder"):
        name = path.relative_to(store.root).as_posix()
        aside = [*(store.root / "quarantine").glob("*")]
        assert aside or any(name in text or text in name for text in said)


@pytest.mark.parametrize("place", SEALED)
@pytest.mark.parametrize("kind", RECORDS)
def test_what_a_record_says_without_sense_is_not_used(
    filled: Filled, kind: str, place: str, tmp_path: Path
) -> None:
    sealed(filled.path(kind), SEALED[place])
    store = LocalStore(filled.store.root)
    again = Filled(store, filled.dataset, filled.merged, filled.teacher, filled.sets)
    if not (kind == "run" and place in ("no fields", "a text of 20 MB")):  # a run's record needs no field
        assert not is_given(again, kind, tmp_path / "use", place=False)
    keep_house(store)
    run(store, filled.sets)


LOCKS = {"of contents": "blobs", "of the garbage collector": "gc", "of a step": f"{KEY}.1"}


@pytest.mark.parametrize("place", [name for name in PLACES if name != "a terabyte of nothing"])
@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_that_is_no_file_is_refused_with_its_name(
    local: LocalStore, lock: str, place: str, tmp_path: Path
) -> None:
    made = finish(local, "merge", {"corpus": b"text"})
    path = local.root / "locks" / LOCKS[lock]
    path.parent.mkdir(exist_ok=True)
    path.write_text("theirs")
    PLACES[place](path)
    uses: dict[str, Callable[[], object]] = {
        "of contents": lambda: local.add_bytes(b"other"),
        "of the garbage collector": lambda: verify(local),
        "of a step": lambda: local.owners.lock(KEY, 1).__enter__(),
    }
    if place == "a pipe":  # locks work on it, and nobody waits for its other end
        uses[lock]()
    else:
        with pytest.raises(StoreError) as caught:
            uses[lock]()
        assert str(path) in str(caught.value)
        assert "is there instead of a file: remove it" in str(caught.value)
    if lock == "of a step" and place != "a pipe":
        with pytest.raises(StoreError, match="is there instead of a file"):
            local.owners.is_owned(KEY, 1)
    assert LocalStore(local.root).read_blob(made.outputs["corpus"]) == b"text"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("folder", ["tmp", "locks"])
def test_what_a_sweep_finds_hinders_nobody(local: LocalStore, folder: str, place: str) -> None:
    local.add_bytes(b"makes the store")
    path = local.root / folder / (f"{'ef' * 32}.1" if folder == "locks" else "0123abcd")
    path.parent.mkdir(exist_ok=True)
    path.write_text("theirs")
    PLACES[place](path)
    store = LocalStore(local.root)
    assert store.read_blob(store.add_bytes(b"text")) == b"text"


def test_a_lock_that_is_a_link_makes_nothing_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    for act in (acquire, is_held):
        with pytest.raises(OSError, match="symbolic links"):
            act(tmp_path / "lock")
    assert not (tmp_path / "elsewhere").exists()


def test_contents_that_are_named_with_a_wrong_size_are_not_read(local: LocalStore, tmp_path: Path) -> None:
    """Not even where file and record agree on a terabyte, which only a placed file may have."""
    blob = local.add_bytes(b"text")
    for size in (0, 3, 5, MOST_IN_MEMORY + 1):
        store = LocalStore(tmp_path / str(size))
        store.add_bytes(b"text")
        with pytest.raises(StoreError):
            store.read_blob(Blob(blob.digest, size))
    path = local.blob_file(blob.digest)
    endless(path)
    with pytest.raises(StoreError, match=r"1099511627776 bytes, too many .* translations cache verify"):
        local.read_blob(Blob(blob.digest, TERABYTE))


def test_a_manifest_without_outputs_is_read_as_what_it_says(local: LocalStore) -> None:
    """It is whole; that the step needs more is for who knows the step (`running.resolve`)."""
    made = finish(local, "merge", {"corpus": b"text"})
    path = local.manifest_file(made.key, 1)
    value = unseal(path.read_bytes())
    path.chmod(0o644)
    path.write_bytes(seal({**value, "outputs": {}}))
    found = local.latest(made.key)
    assert found is not None
    assert dict(found.outputs) == {}
    assert json.dumps(found.to_dict())
