"""A store that somebody else has written to harms nobody who types a command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command, make
from tests.end_to_end.tiny import PARTITION, Place
from tests.store.test_contract import checkpoint_set
from translations_assets.project import Project
from translations_assets.records.encoding import seal, unseal
from translations_assets.records.run import RunRecord
from translations_assets.store.local import LocalStore

VOCAB = "train-vocab-en-eo"


@pytest.fixture
def store(command: Command) -> LocalStore:
    """A store with a vocabulary and what that needs."""
    make("train_vocab")
    store = Project().store
    assert isinstance(store, LocalStore)
    return store


def files_beside(place: Place) -> set[Path]:
    """Every file of the place but those of its state."""
    return {path for path in place.root.rglob("*") if (place.root / "state") not in path.parents}


def tamper(path: Path, **changes: Any) -> None:
    """Change fields of a sealed record, and seal it again, as whoever may write the store can."""
    value = unseal(path.read_bytes())
    path.chmod(0o644)
    path.write_bytes(seal({**value, **changes}))


def manifest_of(store: LocalStore, label: str) -> Path:
    """The file of a step's manifest."""
    made = next(manifest for manifest in store.manifests() if manifest.label == label)
    return store.manifest_file(made.key, made.generation)


@pytest.mark.parametrize("name", ["../x", "/nowhere/x", "a/../../x", "x\x1b[2J"])
def test_downloaded_files_stay_in_the_folder(
    name: str, command: Command, store: LocalStore, place: Place
) -> None:
    path = manifest_of(store, VOCAB)
    outputs = unseal(path.read_bytes())["outputs"]
    tamper(path, outputs={**outputs, name: outputs["vocab.en.spm"]})
    for ref in store.files.walk(store.root / "refs"):
        said = unseal(ref.read_bytes())
        if VOCAB in said["outputs"]:
            tamper(ref, outputs={VOCAB: {**said["outputs"][VOCAB], name: outputs["vocab.en.spm"]}})
    before = files_beside(place)
    done = command("artifacts", PARTITION, VOCAB, "--download", "downloads/vocab")
    assert done.code == 1
    assert done.err.splitlines()[-1].startswith("error: ")
    assert "Traceback" not in done.err
    assert files_beside(place) <= before | {place.root / "downloads"}


@pytest.mark.parametrize(
    "changes",
    [
        {"outputs": {"../x": {"digest": "00" * 32, "size": 1}}},
        {"outputs": {"x": {"digest": "../../etc/passwd", "size": 1}}},
        {"outputs": {"x": {"digest": "00" * 32, "size": "1"}}},
        {"outputs": ["x"]},
        {"bundle": None},
        {"provenance": {"files": {"../x": {"digest": "00" * 32, "size": 1}}}},
        {"provenance": ["script"]},
        {"provenance": {"code": "of a key whose other parts are not told"}},
        {"provenance": {"repeatable": "perhaps"}},
        {"provenance": {"worker": {"workspace": "large"}}},
        {"ended": "yesterday"},
        {"usage": []},
    ],
    ids=str,
)
def test_a_tampered_manifest_is_a_named_damage(
    changes: dict[str, Any], command: Command, store: LocalStore
) -> None:
    path = manifest_of(store, VOCAB)
    tamper(path, **changes)
    said = command("cache", "verify")
    assert said.code == 1
    name = path.relative_to(store.root).as_posix()
    assert f"damaged  {name}: it is an incomplete manifest; moved to quarantine/\n" in said.out
    assert "Traceback" not in said.err
    for words in (("plan", PARTITION), ("cache", "gc"), ("explain", PARTITION, VOCAB), ("status", PARTITION)):
        assert "Traceback" not in command(*words).err, words


@pytest.mark.parametrize("options", [{"start": 5}, {"overrides": "x"}, []], ids=str)
def test_a_run_whose_options_are_of_another_form_is_a_named_damage(
    options: object, command: Command, place: Place
) -> None:
    store = Project().store
    assert isinstance(store, LocalStore)
    store.write_run("run-1", RunRecord("run-1", PARTITION, heartbeat=1.0))
    path = store.root / "runs" / "run-1.json"
    tamper(path, options=options)
    for words in (("status",), ("status", "run-1"), ("plan", PARTITION), ("cache", "gc")):
        assert "Traceback" not in command(*words).err, words
    said = command("cache", "verify")
    assert "damaged  runs/run-1.json: options: " in said.out


@pytest.mark.parametrize("name", ["..%2F..%2F..%2F..%2Foutside", "%2E%2E", "%2Fnowhere"])
def test_a_resumed_training_writes_nowhere_else(
    name: str, command: Command, store: LocalStore, place: Place, tmp_path: Path
) -> None:
    """`shell` puts files into the work folder by the worker's function."""
    session = Project().session("test", PARTITION)
    step = session.graph.step("train-backwards-en-eo")
    make(step.stage)
    session.results.need(list(step.upstream()))
    key = session.keys.parts(step, session.results.inputs(step)).digest
    store.add_checkpoint(key, 2, "000001-update-000000020", checkpoint_set(tmp_path / "set", "a"))
    sets = store.root / "checkpoints" / key / "2"  # the next generation
    (sets / "000001-update-000000020").rename(sets / name)
    before = files_beside(place)
    said = command("shell", PARTITION, "train-backwards-en-eo", "--command", "find checkpoints")
    assert said.code == 0, said.err
    assert said.out.split() == ["checkpoints"]
    assert files_beside(place) == before
    assert not (place.root / "state" / "outside").exists()


def test_collecting_garbage_removes_nothing_behind_links(
    command: Command, store: LocalStore, place: Place
) -> None:
    thesis = place.root / "thesis"
    for folder in (thesis, thesis / "1", thesis / "1.1"):
        folder.mkdir()
        (folder / "1.1").mkdir() if folder == thesis / "1" else (folder / "chapter").write_text(
            "years of work"
        )
    before = files_beside(place)
    (store.root / "checkpoints").mkdir(exist_ok=True)
    (store.root / "checkpoints" / ("ab" * 32)).symlink_to(thesis)
    (store.root / "logs" / ("ab" * 32)).symlink_to(thesis)
    options = ("--keep-days", "0", "--keep-refs", "0", "--grace-days", "0", "--delete")
    said = command("cache", "gc", *options)
    assert "Traceback" not in said.err
    verified = command("cache", "verify")
    assert verified.code == 1
    assert f"strange  logs/{'ab' * 32}: a symbolic link" in verified.out
    assert files_beside(place) == before
