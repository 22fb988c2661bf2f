"""Everything that earlier versions wrote is read by today's code, and used again where it fits."""

from __future__ import annotations

import json
import tarfile
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

from tests.cli.conftest import Command, make
from tests.end_to_end.tiny import PARTITION, Place
from tests.formats.versions import NUMBERS, VERSIONS, WRITTEN
from tests.formats.write import PASTED, UNFINISHED
from tests.memory_store import MemoryStore
from translations_assets.records.encoding import unseal
from translations_assets.runners.batch.member import Member
from translations_assets.runners.batch.stored_log import StoredLog
from translations_assets.runners.kubernetes.state import JobState
from translations_assets.running.events import JobEvent
from translations_assets.store.local import LocalStore

ROOT = "/srv"  # where the data of the old versions' config is said to be


@dataclass(frozen=True)
class Old:
    """What a version has left behind, where commands of today find it."""

    version: str
    place: Place

    @property
    def store(self) -> LocalStore:
        """The store in a folder."""
        return LocalStore(self.place.root / "state" / "store")

    @property
    def since(self) -> int:
        """The version's place among all: what came later is not in it."""
        return list(VERSIONS).index(self.version)

    def has(self, version: str) -> bool:
        """True if it also has what that version was the first to write."""
        return self.since >= list(VERSIONS).index(version)


@pytest.fixture(params=VERSIONS)
def old(request: pytest.FixtureRequest, place: Place) -> Old:
    """The fixture of each version, with the config that it was made by."""
    with tarfile.open(WRITTEN / f"{request.param}.tar.xz") as archive:
        archive.extractall(place.root, filter="data")
    config = place.root / "configs" / f"{PARTITION}.yml"
    config.write_text(config.read_text().replace(str(place.root), ROOT))
    return Old(request.param, place)


def test_a_number_that_is_raised_has_a_fixture() -> None:
    now = tuple(_number(place) for place in NUMBERS.values())
    assert now == [*VERSIONS.values()][-1].numbers, "Add a version to tests/formats/versions.py."


def _number(place: str) -> int:
    module, _, name = place.partition(":")
    value = getattr(import_module(module), name)
    return int(json.loads(value)["format"]) if isinstance(value, bytes) else int(value)


def test_every_version_has_a_fixture_and_every_fixture_a_version() -> None:
    assert {path.name for path in WRITTEN.iterdir()} == {f"{version}.tar.xz" for version in VERSIONS}


def test_a_fixture_has_the_numbers_of_its_version(old: Old) -> None:
    mark = old.store.root / "store.json"
    manifests = [unseal(path.read_bytes()) for path in old.store.root.glob("steps/*/*/*.json")]
    mark_number = json.loads(mark.read_bytes())["format"] if mark.exists() else 0
    numbers = {value.get("format", 0) for value in manifests}
    assert ((mark_number,), numbers) == (
        VERSIONS[old.version].numbers[:1],
        {VERSIONS[old.version].numbers[1]},
    )


def test_every_record_of_a_store_is_read(old: Old, caplog: pytest.LogCaptureFixture) -> None:
    store = old.store
    manifests = list(store.manifests())
    assert len(manifests) == len(list(store.root.glob("steps/*/*/*.json"))) > 5
    for manifest in manifests:
        worker, parts = manifest.provenance.worker, manifest.provenance.parts
        assert (manifest.usage.seconds, manifest.usage.peak_memory) == (1.0, 2)
        assert (worker and worker.command, parts.digest) == (
            ("pipeline.made.up", "--output", "out"),
            manifest.key,
        )
        assert all(store.has_blob(blob) for blob in [*manifest.outputs.values(), *manifest.origins()])
    for run in store.runs():
        record = store.read_run(run)
        assert record
        assert (record.partition, record.space) == (PARTITION, "test")
        assert record.uses
    assert store.runs() == ["run-3", "run-2", "run-1"][-len(store.runs()) :]
    assert list(store.pins()) == ["run-1"] * old.has("marked")
    assert [made.url for made in store.publications()] == ["gs://released/model"] * old.has("publications")
    assert store.config("en-eo.pasted") == PASTED
    assert len([value for _, value in store.all_records() if isinstance(value, Exception)]) == 0
    assert caplog.messages == []


def test_logs_are_read_part_by_part(old: Old) -> None:
    store = old.store
    (made,) = (one for one in store.manifests() if one.stage == "dataset_train")
    parts = list(store.read_log(made.key, 1, 1))
    assert parts[:2] == [f"the log of {made.label}\n".encode(), b"a second part\n"]
    assert parts[2:] == [b"a third part\n"] * old.has("replies")


def test_a_training_goes_on_from_the_checkpoint_sets_of_an_earlier_version(old: Old, tmp_path: Path) -> None:
    assert old.store.place_checkpoints(UNFINISHED, 1, tmp_path / "resumed") == ["update-00000020"]
    assert (tmp_path / "resumed" / "update-00000020" / "model.npz").read_bytes() == b"weights"
    old.store.add_checkpoint(UNFINISHED, 1, "update-00000040", old.place.root / "data")
    assert old.store.checkpoints(UNFINISHED, 1) == ["update-00000020", "update-00000040"]


def test_a_run_reads_what_the_worker_of_an_earlier_version_replies(old: Old) -> None:
    if not old.has("replies"):
        return  # nothing of a worker's replies was kept
    (made,) = (one for one in old.store.manifests() if one.stage == "dataset_train")
    log = StoredLog(old.store, Member(made.key, 1, 1, made.label), "pod-1")
    events = [item.kind for item in log.read(ended=True) if isinstance(item, JobEvent)]
    assert events == ["started", "progress"]
    assert log.outcome
    assert (log.outcome.kind, log.outcome.uncounted) == ("temporary", False)


@pytest.mark.slow
def test_commands_show_what_an_earlier_version_made(old: Old, command: Command) -> None:
    for words in (
        ("cache", "verify"),
        ("status",),
        ("status", "run-1"),
        ("cache", "gc"),
        ("cache", "du"),
        ("cache", "pins"),
        ("explain", PARTITION, "train-backwards-en-eo"),
        ("results", PARTITION),
        ("report", PARTITION, "--output", "report.html"),
        ("artifacts", PARTITION, "train-vocab-en-eo"),
        ("logs", "run-1", "train-backwards-en-eo"),
        ("uses", f"url_file://{ROOT}/data/train.[LANG].gz"),
    ):
        said = command(*words)
        assert said.code == 0, (words, said.err)
        assert not any(word in said.err + said.out for word in ("damaged", "Traceback")), (words, said)
    said = command("checks", PARTITION)
    assert (said.code, "gates have no result" in said.err) == (1, True), said.err
    assert not (old.store.root / "quarantine").exists()


def test_a_result_without_files_that_are_needed_today_is_refused_with_the_remedy(
    old: Old, command: Command
) -> None:
    said = command("artifacts", PARTITION, "train-backwards-en-eo")
    is_whole = old.has("clusters")  # since then a training keeps what it continues from
    assert said.code == (0 if is_whole else 1)
    remedy = f"Make it again: translations train {PARTITION} --target train_backwards"
    assert is_whole or remedy in said.err


@pytest.mark.slow
def test_results_of_an_earlier_version_are_used_again(old: Old, command: Command) -> None:
    words = ("--start", "train_vocab", "--previous-run", "run-1", "--target", "train_vocab", "--force")
    said = command("plan", PARTITION, *words)
    assert said.code == 0, said.err
    assert "5 cached" in said.out  # run-1's, whatever their keys
    before = {manifest.key for manifest in old.store.manifests()}
    make("train_vocab", "new-run")
    assert {manifest.key for manifest in old.store.manifests()} >= before
    assert command("cache", "verify").code == 0
    record = old.store.read_run("new-run")
    assert record
    assert "train-vocab-en-eo" in record.uses


def test_a_bucket_of_an_earlier_version_is_read_and_its_dead_owner_followed(old: Old, tmp_path: Path) -> None:
    folder = old.place.root / "bucket"
    assert folder.exists() == old.has("publications")
    if not folder.exists():
        return
    store = MemoryStore()
    for path in folder.rglob("*"):
        if path.is_file():
            store.files.objects.write(path.relative_to(folder).as_posix(), path.read_bytes())
    assert store.checkpoints(UNFINISHED, 1) == ["update-00000020"]
    assert store.place_checkpoints(UNFINISHED, 1, tmp_path / "resumed") == ["update-00000020"]
    assert list(store.read_log(UNFINISHED, 1, 1)) == [b"begun\n"]
    assert store.owners.is_owned(UNFINISHED, 1)
    assert store.owners.waiters(UNFINISHED, 1) == 1


def test_a_job_of_an_earlier_version_is_found_by_its_step(old: Old) -> None:
    path = old.place.root / "job.json"
    assert path.exists() == old.has("clusters")
    if not path.exists():
        return
    body = json.loads(path.read_bytes())
    state = JobState.of({**body, "metadata": {**body["metadata"], "uid": "1"}})
    assert [(member.key, member.generation, member.attempt) for member in state.members] == [
        ("ab" * 32, 1, 1)
    ]
    assert (state.preemptions, state.live, state.worker_class) == (2, True, "gpu")
    assert (len(state.spec), state.image) == (len(state.store), "registry/worker:1")
