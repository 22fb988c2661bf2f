"""`translations cache verify --remake`: real steps are made again elsewhere, and their bytes compared."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.shapes import check_shape
from tests.end_to_end.damage import copy_of
from tests.end_to_end.tiny import PARTITION, Place, make_place
from tests.session import once
from translations_assets.records.manifest import Blob, Manifest
from translations_assets.store.local import LocalStore


def _fetch(folder: Path) -> None:
    done = make_place(folder).run("translations", "train", PARTITION, "--target", "dataset_train", "--yes")
    assert done.returncode == 0, done.stderr


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A place with one dataset."""
    place = copy_of(Place(once("fetched", _fetch)), tmp_path / "place")
    for name, value in place.environment.items():
        if name.startswith(("TRANSLATIONS_", "DAGSTER_")):
            monkeypatch.setenv(name, value)
    monkeypatch.chdir(place.root)
    return place


def the_step(place: Place) -> Manifest:
    [made] = place.store.manifests()
    return made


def contents(place: Place) -> dict[str, bytes]:
    """All files of the store but leases and work folders."""
    store = place.root / "state" / "store"
    folders = (store / name for name in ("blobs", "steps", "refs", "runs"))
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files}


def test_a_step_has_the_same_bytes_elsewhere_and_the_store_stays_as_it_is(
    place: Place, command: Command, tmp_path: Path
) -> None:
    before, other = contents(place), tmp_path / "other"
    options = ("--folder", str(other), "--threads", "3", "--umask", "077", "--locale", "tr_TR.UTF-8")
    said = command("cache", "verify", "--remake", "100%", "--seed", "4", "--python", sys.executable, *options)
    assert said.code == 0, said.err
    assert said.out.splitlines() == [
        f"same     {the_step(place).label} (dataset_train, en-eo.tiny)",
        "1 of 1 steps have the same bytes (seed 4).",
        f"The store {place.root / 'state' / 'store'} has 1 results of steps that are repeatable.",
    ]
    assert contents(place) == before
    assert [*other.iterdir()] == []


def test_the_workers_start_as_asked(place: Place, command: Command, tmp_path: Path) -> None:
    """The interpreter of another environment is used: here one that notes how it was started."""
    notes, python = tmp_path / "notes", tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\numask > "{notes}"\necho "$LC_ALL" >> "{notes}"\nexec "{sys.executable}" "$@"\n'
    )
    python.chmod(0o755)
    options = ("--python", str(python), "--umask", "027", "--locale", "tr_TR.UTF-8")
    assert command("cache", "verify", "--remake", "1", *options).code == 0
    assert notes.read_text().split() == ["0027", "tr_TR.UTF-8"]


def test_other_bytes_are_named_with_their_first_difference(place: Place, command: Command) -> None:
    """Also where there are as many of them."""
    made, store = the_step(place), place.store
    wrong = {
        name: store.add_bytes(b"no text" + store.read_blob(blob)[7:])
        for name, blob in made.outputs.items()
        if name.endswith(".json")
    }
    assert wrong
    store.commit(replace(made, generation=2, outputs={**made.outputs, **wrong}))
    said = command("cache", "verify", "--remake", "100%", "--json")
    assert said.code == 1
    check_shape("cache verify", json.loads(said.out))
    [told] = json.loads(said.out)["steps"]
    assert not told["same"]
    assert told["different"].keys() == wrong.keys()
    assert all("and was 'no text" in words for words in told["different"].values())
    printed = command("cache", "verify", "--remake", "100%")
    assert printed.out.startswith(f"differs  {made.label} (dataset_train, en-eo.tiny)\n    ")
    assert "0 of 1 steps have the same bytes" in printed.out


def test_a_step_that_cannot_be_made_is_told_with_the_reason(place: Place, command: Command) -> None:
    made = the_step(place)
    worker = made.provenance.worker
    assert worker
    wrong = replace(worker, command=(*worker.command, "--no-such-option"))
    place.store.commit(replace(made, generation=2, provenance=replace(made.provenance, worker=wrong)))
    said = command("cache", "verify", "--remake", "100%")
    assert said.code == 1
    assert said.out.startswith(f"failed   {made.label}")
    assert "--no-such-option" in said.out


def test_a_step_whose_code_is_gone_is_left_out(place: Place, command: Command) -> None:
    made = the_step(place)
    (place.root / "state" / "store" / "blobs" / made.bundle.digest[:2] / made.bundle.digest).unlink()
    said = command("cache", "verify", "--remake", "100%", "--seed", "4")
    assert said.code == 0
    assert said.out.splitlines()[:2] == [
        f"left out {made.label}: the store has no more its code",
        "0 of 0 steps have the same bytes (seed 4).",
    ]


def test_of_two_results_with_one_label_the_one_that_can_be_is_made(place: Place, command: Command) -> None:
    made = the_step(place)
    place.store.commit(replace(made, key="ab" * 32, bundle=Blob("00" * 32, 10)))
    said = command("cache", "verify", "--remake", "100%", "--json")
    assert said.code == 0
    told = json.loads(said.out)
    assert [(step["key"], step["same"]) for step in told["steps"]] == [(made.key, True)]
    assert told["left_out"] == {"ab" * 32: "its code"}


def test_what_the_store_beneath_has_is_read_there(
    place: Place, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, own = the_step(place), LocalStore(tmp_path / "own")
    for blob in made.outputs.values():
        own.add_bytes(place.store.read_blob(blob))
    own.commit(made)  # its code stands in the base
    monkeypatch.setenv("TRANSLATIONS_STORE", str(tmp_path / "own"))
    monkeypatch.setenv("TRANSLATIONS_STORE_BASE", str(place.root / "state" / "store"))
    said = command("cache", "verify", "--remake", "100%", "--seed", "4")
    assert said.code == 0, said.out + said.err
    assert "1 of 1 steps have the same bytes (seed 4)." in said.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--remake", "x"), "--remake x is neither a number of steps nor a share up to 100%."),
        (("--remake", "101%"), "--remake 101% is neither a number of steps nor a share up to 100%."),
        (("--remake", "1", "--sample", "1"), "--sample is of contents and --remake of steps"),
        (("--remake", "1", "--umask", "9"), "--umask 9 is no umask: give octal digits, such as 077."),
        (("--remake", "1", "--python", "nowhere"), "--python nowhere is no interpreter"),
        (("--remake", "1", "--folder", "/dev/null/x"), "Nothing can be made in /dev/null/x"),
    ],
)
def test_what_cannot_be_done_is_refused(
    place: Place, command: Command, words: tuple[str, ...], told: str
) -> None:
    said = command("cache", "verify", *words)
    assert said.code == 1
    assert told in said.err
