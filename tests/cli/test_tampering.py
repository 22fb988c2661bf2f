"""Damaged records, checkpoint sets, configs, accepted changes: each is named, without a traceback."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Command, make
from tests.end_to_end.tiny import PARTITION
from translations_assets.keys.code.accepted import FILE
from translations_assets.keys.key import KeyMaker
from translations_assets.project import Project
from translations_assets.records.encoding import seal, seal_bytes, unseal
from translations_assets.store.local import LocalStore
from translations_assets.store.verify import verify

VOCAB = "train-vocab-en-eo"
OTHER = "ab" * 32
KEPT = "en-eo.kept"
MISSING = object()
WRONG: tuple[Any, ...] = (None, 7, 0.5, "text", [], ["text"], {}, {"text": {}}, True, MISSING)
FREE = {"args", "overrides"}  # whose values are the scripts' and the configs' own
BY_NAME = {"outputs", "files", "inputs", "libraries", "env", "uses", "steps", "reasons"}  # things, not fields
VERSION = {"sha256", "format"}  # of the seal, and of the program that wrote a manifest
OPTIONAL = {  # fields that are left out where nothing is known
    *("usage", "stage", "repeatable", "files", "run", "partition", "config", "options", "revision", "worker"),
    *("command", "threads", "gpus", "workspace", "space", "pair", "stages", "started", "heartbeat", "ended"),
    *(
        "repeats",
        "begun",
        "since",
        "expected",
        "spent",
        "failed",
        "gone",
        "reasons",
        "uses",
        "seconds",
        "cpu_seconds",
        "peak_memory",
        "disk",
        "gpu_utilisation",
        "gpu_memory",
    ),
}
COMMANDS = (
    ("plan", PARTITION),
    ("status", PARTITION),
    ("status",),
    ("status", "run-1"),
    ("explain", PARTITION, VOCAB),
    ("artifacts", PARTITION),
    ("artifacts", PARTITION, VOCAB, "--provenance"),
    ("cache", "pins"),
    ("rerun", "run-1", "--yes"),
)


@pytest.fixture
def store(command: Command, monkeypatch: pytest.MonkeyPatch) -> LocalStore:
    """A store with a vocabulary, what that needs, and a pin; code is read once for all commands."""
    monkeypatch.setattr("translations_assets.project.KeyMaker", cache(KeyMaker))
    make("train_vocab")
    store = Project().store
    assert isinstance(store, LocalStore)
    store.pin("run-1", "a test")
    return store


def fields(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """A record's fields, and those inside of them; of things by name or in a list the first of a kind."""
    names: list[Any] = (
        list(value) if isinstance(value, dict) else [0][: len(value)] if isinstance(value, list) else []
    )
    if BY_NAME.intersection(path[-1:]) or "steps" in path:  # whose stages have steps by name
        names = list({_kind(value[name]): name for name in reversed(names)}.values())
    for name in names:
        if name not in VERSION:
            yield (*path, name)
            if name not in FREE:
                yield from fields(value[name], (*path, name))


def _kind(value: Any) -> object:
    """Key that distinguishes things with a name: their types, and whether they are a folder of files."""
    return type(value), isinstance(value, dict) and {"files", "digest"} & value.keys() == {"files"}


def changed(value: Any, path: tuple[Any, ...], wrong: object) -> dict[str, Any]:
    """The record with another value, or none, in a field."""
    *parents, last = path
    new = inner = deepcopy(value)
    for name in parents:
        inner = inner[name]
    if wrong is MISSING:
        del inner[last]
    else:
        inner[last] = wrong
    return new  # type: ignore[no-any-return]


def is_wrong(kind: str, old: object, path: tuple[Any, ...], wrong: object) -> bool:
    """True if a value cannot stand in a field: it is of another type, or the field must be there."""
    if wrong is MISSING:
        is_file = path[0] == "outputs" and path[-1] not in ("digest", "size")
        of_many = is_file or BY_NAME.intersection(path[-2:-1])
        is_field = not isinstance(path[-1], int) and not of_many
        if path[-1] == "code" or (kind, *path) == ("steps", "reason"):
            return False  # an artifact whose key had another form, or whose run says why it was made
        return is_field and path[-1] not in OPTIONAL and (kind, path[0]) != ("runs", "steps")
    if type(old) in (int, float) and type(wrong) in (int, float):
        return type(old) is int and type(wrong) is float
    return type(wrong) is not type(old)


def record_of(store: LocalStore, kind: str) -> Path:
    """A record of the vocabulary, its run, its ref or its pin."""
    if kind == "steps":
        made = next(manifest for manifest in store.manifests() if manifest.label == VOCAB)
        return store.manifest_file(made.key, made.generation)
    return next(
        path for path in sorted(store.files.walk(store.root / kind)) if "vocab" in str(path) or kind != "refs"
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["steps", "refs", "runs", "pins"])
def test_a_field_of_a_wrong_type_is_a_named_damage(kind: str, command: Command, store: LocalStore) -> None:
    """`verify` names every wrong value of every field; with one of each field commands are run, in turn."""
    path = record_of(store, kind)
    whole, name = path.read_bytes(), path.relative_to(store.root).as_posix()
    value, draw = unseal(whole), random.Random(kind)
    all_fields = list(fields(value))
    assert len(all_fields) > 2
    path.chmod(0o644)
    for number, field in enumerate(all_fields):
        old = _field(value, field)
        wrong = [other for other in WRONG if is_wrong(kind, old, field, other)]
        for other in wrong:
            path.write_bytes(seal(changed(value, field, other)))
            problems = {problem.path: problem for problem in verify(LocalStore(store.root)).problems}
            assert name in problems, (field, other)
            restore(store, path, whole)
        path.write_bytes(seal(changed(value, field, draw.choice(wrong))))
        for words in (COMMANDS[number % len(COMMANDS)], ("cache", "verify")):
            said = command(*words)
            assert "Traceback" not in said.err, (field, words)
            assert said.code in (0, 1), (field, words, said.err)
        assert said.code == 1, field
        assert name in said.out, field
        restore(store, path, whole)


def restore(store: LocalStore, path: Path, whole: bytes) -> None:
    """Put the record back as it was."""
    shutil.rmtree(store.root / "quarantine", ignore_errors=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(whole)


@pytest.mark.slow
def test_a_damaged_checkpoint_set_is_named_and_not_used(
    command: Command, store: LocalStore, tmp_path: Path
) -> None:
    saved = tmp_path / "saved"
    saved.mkdir()
    (saved / "model.npz").write_bytes(b"weights")
    store.add_checkpoint(OTHER, 1, "000100", saved)
    ((_, _, folder),) = store.checkpoint_sets()
    manifest, name = folder / "set.json", folder.relative_to(store.root).as_posix()
    pristine = shutil.copytree(folder, tmp_path / "pristine")
    value = unseal(manifest.read_bytes())
    damaged = [
        seal(changed(value, field, other))
        for field in fields(value)
        for other in WRONG
        if is_wrong("steps", _field(value, field), field, other)
    ]
    assert len(damaged) > 20
    torn = [b"", b"\xff", manifest.read_bytes()[:-9], seal({**value, "name": "000200"})]
    for number, data in enumerate([*damaged, *torn, None]):
        changing = manifest if data is not None else folder / "files" / "model.npz"
        changing.unlink()
        changing.write_bytes(b"weightz" if data is None else data)
        used = tmp_path / f"resumed-{number}"
        assert store.place_checkpoints(OTHER, 1, used) == [], data
        assert not used.exists() or not any(used.iterdir()), data
        _put_back(pristine, store, folder)
        changing.unlink()
        changing.write_bytes(b"weightz" if data is None else data)
        if number % 9 == 0 or data is None:
            said = command("cache", "verify")
            assert "Traceback" not in said.err, data
            assert (said.code, f"damaged  {name}: " in said.out) == (1, True), (data, said.out)
        else:
            assert name in {problem.path for problem in verify(store).problems}, data
        _put_back(pristine, store, folder)
    assert store.place_checkpoints(OTHER, 1, tmp_path / "whole") == ["000100"]


def _field(value: Any, path: tuple[Any, ...]) -> object:
    for part in path:
        value = value[part]
    return value


def _put_back(pristine: Path, store: LocalStore, folder: Path) -> None:
    for gone in (store.root / "quarantine", folder):
        shutil.rmtree(gone, ignore_errors=True)
    shutil.copytree(pristine, folder)


DAMAGED_CONFIGS: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda sealed: sealed[:-20],
    "flipped": lambda sealed: sealed.replace(b"experiment", b"experimenT"),
    "empty": lambda sealed: b"",
    "no text": lambda sealed: seal_bytes(b"\xff\xfe"),
    "another seal": lambda sealed: seal({"experiment": {}}),
}
WRONG_CONFIGS = (
    "",
    "[" * 5000,
    "- a list",
    "experiment: [",
    "experiment: 2026-99-99",
    "experiment: {src: 3}",
)


@pytest.mark.slow
def test_a_damaged_config_is_named_and_a_wrong_one_says_where_it_is(
    command: Command, store: LocalStore
) -> None:
    text, _ = Project().configs.text(PARTITION)
    store.add_config(KEPT, text)
    path = store.root / "configs" / f"{KEPT}.yml"
    whole = path.read_bytes()
    assert command("plan", KEPT).code == 0
    for what, damage in DAMAGED_CONFIGS.items():
        restore(store, path, damage(whole))
        for words in (("plan", KEPT), ("plan", "--all"), ("config", "check", KEPT)):
            said = command(*words)
            assert "Traceback" not in said.err, (what, words)
            assert (said.code, KEPT in said.err + said.out) == (1, True), (what, words, said.err)
        said = command("cache", "verify")
        assert said.code == 1, what
        assert f"damaged  configs/{KEPT}.yml: " in said.out, what
    for text in WRONG_CONFIGS:
        restore(store, path, seal_bytes(text.encode()))
        for words in (("plan", KEPT), ("plan", "--all")):
            said = command(*words)
            assert "Traceback" not in said.err, (text[:20], words)
            assert (said.code, KEPT in said.err + said.out) == (1, True), (text[:20], words, said.err)


WRONG_CHANGES = (
    "a text",
    "{a: b}",
    "- 3",
    "- {a: [",
    "[" * 5000,
    "- 2026-99-99",
    "\0",
    "- *nothing",
    "? [a]\n: b",
)


@pytest.mark.slow
def test_damaged_accepted_changes_are_named(
    command: Command, store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By every command that makes keys, with what to do."""
    path = tmp_path / FILE
    path.parent.mkdir()
    change = {"script": "pipeline.a.b", "old": "a" * 64, "new": "b" * 64, "reason": "why"}
    wrong = [
        yaml.safe_dump([changed(change, (name,), other)])
        for name in change
        for other in (*WRONG, "")
        if other != "text" or name in ("old", "new")
    ]
    commands = (("plan", PARTITION), ("status", PARTITION), ("checks", PARTITION), ("plan", "--all"))
    monkeypatch.setattr("translations_assets.project.KeyMaker", KeyMaker)
    monkeypatch.setattr("translations_assets.keys.accepted_files.FILE", str(path))
    for number, text in enumerate([*wrong, *WRONG_CHANGES]):
        path.write_text(text)
        said = command(*commands[number % len(commands)])
        assert "Traceback" not in said.err, text[:50]
        assert (said.code, FILE in said.err) == (1, True), (text[:50], said.err)
    path.unlink()
    path.mkdir()
    said = command("plan", PARTITION)
    assert (said.code, "Traceback" in said.err, f"{FILE} cannot be read" in said.err) == (1, False, True)
