"""Sealed records whose fields have a wrong type: each is a named damage; no command ends in a traceback."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command, make
from tests.end_to_end.tiny import PARTITION
from translations_assets.keys.key import KeyMaker
from translations_assets.project import Project
from translations_assets.store.encoding import seal, unseal
from translations_assets.store.local import LocalStore
from translations_assets.store.verify import verify

VOCAB = "train-vocab-en-eo"
MISSING = object()
WRONG: tuple[Any, ...] = (None, 7, 0.5, "text", [], ["text"], {}, {"text": {}}, True, MISSING)
FREE = {"args", "overrides"}  # whose values are the scripts' and the configs' own
BY_NAME = {"outputs", "files", "inputs", "libraries", "env", "uses", "steps"}  # things, not fields
VERSION = {"sha256", "format"}  # of the seal, and of the program that wrote a manifest
OPTIONAL = {  # fields that are left out where nothing is known
    *("usage", "stage", "repeatable", "files", "run", "partition", "config", "options", "revision", "worker"),
    *("command", "threads", "gpus", "workspace", "space", "pair", "stages", "started", "heartbeat", "ended"),
    *("uses", "seconds", "cpu_seconds", "peak_memory", "disk", "gpu_utilisation", "gpu_memory"),
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
    """The fields of a record, and those inside of them; of things by name or in a list the first."""
    names: list[Any] = (
        list(value) if isinstance(value, dict) else [0][: len(value)] if isinstance(value, list) else []
    )
    for name in names:
        if name not in VERSION:
            yield (*path, name)
            if name not in FREE:
                yield from fields(value[name], (*path, name))


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


def is_wrong(old: object, path: tuple[Any, ...], wrong: object) -> bool:
    """Whether a value cannot stand in a field: it is of another type, or the field must be there."""
    if wrong is MISSING:
        is_file = path[0] == "outputs" and path[-1] not in ("digest", "size")
        of_many = is_file or BY_NAME.intersection(path[-2:-1])
        is_field = not isinstance(path[-1], int) and not of_many
        if path[-1] == "code":
            return False  # an artifact whose key had another form
        return is_field and path[-1] not in OPTIONAL
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
    """`verify` names every wrong value of every field; with one of each field commands are typed, in turn."""
    path = record_of(store, kind)
    whole, name = path.read_bytes(), path.relative_to(store.root).as_posix()
    value, draw = unseal(whole), random.Random(kind)
    all_fields = list(fields(value))
    assert len(all_fields) > 2
    path.chmod(0o644)
    for number, field in enumerate(all_fields):
        old: Any = value
        for part in field:
            old = old[part]
        wrong = [other for other in WRONG if is_wrong(old, field, other)]
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
