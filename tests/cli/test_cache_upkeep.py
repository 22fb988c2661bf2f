"""`cache verify`, `gc`, `pin`, and `artifacts --provenance`, over made-up results of the tiny pair."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import Command, make
from tests.cli.shapes import check_shape
from tests.end_to_end.tiny import PARTITION
from tests.store.gcs_server import BUCKET, serve
from translations_assets.project import Project
from translations_assets.records.manifest import Blob
from translations_assets.records.run import RunRecord

VOCAB = "train-vocab-en-eo"


@pytest.fixture
def root(command: Command) -> Path:
    """The folder of a store with a vocabulary and what that needs; its runs have ended long ago."""
    make("train_vocab")
    return Path(Project().store.url.removeprefix("file://"))


def blob_of(root: Path, name: str) -> Path:
    """The file of one of the vocabulary's outputs."""
    session = Project().session("test", PARTITION)
    step = session.graph.step(VOCAB)
    session.results.need([step])
    result = session.results.result(step)
    assert result is not None
    digest = result.outputs[name].digest
    return root / "blobs" / digest[:2] / digest


def test_a_whole_store(command: Command, root: Path) -> None:
    said = command("cache", "verify")
    assert said.code == 0
    assert said.out.endswith("All is whole.\n")
    assert command("cache", "verify", "--json", "--sample", "10%", "--seed", "5").code == 0


def test_a_sample_prints_its_seed(command: Command, root: Path) -> None:
    said = command("cache", "verify", "--sample", "3")
    assert said.code == 0
    assert "3 contents re-hashed" in said.out
    seed = said.out.split("(a sample; seed ")[1].split(")")[0]
    assert command("cache", "verify", "--sample", "3", "--seed", seed).out == said.out
    numbers = {}
    for share in ("100%", "20%"):
        said = command("cache", "verify", "--json", "--sample", share)
        numbers[share] = json.loads(said.out)["checked"]["contents re-hashed"]
    assert 1 <= numbers["20%"] <= numbers["100%"] / 4
    refused = command("cache", "verify", "--sample", "many")
    assert (refused.code, refused.err) == (
        1,
        "error: --sample many is neither a number of contents nor a share up to 100%.\n",
    )


def test_damage_is_named_with_its_step_and_put_aside(command: Command, root: Path) -> None:
    path = blob_of(root, "vocab.en.spm")
    path.chmod(0o644)
    path.write_bytes(bytes(path.stat().st_size))
    said = command("cache", "verify")
    assert said.code == 1
    name = path.relative_to(root).as_posix()
    assert f"damaged  {name}: its contents differ from its name; moved to quarantine/\n" in said.out
    assert f"    {VOCAB} (train_vocab, {PARTITION}), vocab.en.spm: " in said.out
    assert said.out.endswith("1 file is not whole\n")
    again = command("cache", "verify", "--json")
    assert again.code == 1
    told = json.loads(again.out)
    check_shape("cache verify", told)
    (problem,) = told["problems"]
    assert (problem["kind"], problem["path"]) == ("missing", name)
    assert {owner["label"] for owner in problem["owners"]} == {VOCAB}


def test_gc_is_dry_and_tells_by_stage(command: Command, root: Path) -> None:
    """All results have ended in 1970; what refs name is kept unless none are."""
    kept = command("cache", "gc", "--keep-days", "0", "--grace-days", "0")
    assert kept.code == 0, kept.err
    assert "Would free 0 bytes of 0 artifacts" in kept.out
    end_runs()
    options = ("cache", "gc", "--keep-days", "0", "--keep-refs", "0", "--grace-days", "0")
    dry = json.loads(command(*options, "--json").out)
    assert not dry["deleted"]
    assert dry["stages"]["train_vocab"]["count"] == 1
    assert dry["total"]["count"] == 6
    people = command(*options)
    assert "train_vocab " in people.out
    assert people.out.endswith("Nothing was removed. To do so, add --delete.\n")
    assert len(list(Project().store.manifests())) == 6
    real = json.loads(command(*options, "--delete", "--json").out)
    assert {**real, "deleted": False} == dry
    assert list(Project().store.manifests()) == []
    assert command("cache", "verify").code == 0


def end_runs() -> None:
    """Write down that all runs have ended a while ago."""
    store = Project().store
    for run in store.runs():
        past = time.time() - 1000
        store.write_run(run, replace(store.read_run(run) or RunRecord(), heartbeat=past, ended=past))


def test_pins(command: Command, root: Path) -> None:
    assert command("cache", "pins").out.startswith("No run is pinned.")
    said = command("cache", "pin", "run-1", "--reason", "the release of May")
    assert (said.code, said.out) == (0, "Pinned run-1: its 6 artifacts are kept.\n")
    assert "the release of May" in command("cache", "pins").out
    (pin,) = json.loads(command("cache", "pins", "--json").out)
    assert (pin["run"], pin["reason"]) == ("run-1", "the release of May")
    assert "is pinned already" in command("cache", "pin", "run-1").err
    end_runs()
    command("cache", "gc", "--keep-days", "0", "--keep-refs", "0", "--grace-days", "0", "--delete")
    assert len(list(Project().store.manifests())) == 6
    assert command("cache", "unpin", "run").out == "Unpinned run-1.\n", "an id that begins so is enough"
    assert "no pinned run run-1" in command("cache", "unpin", "run-1").err
    assert "no run run-9" in command("cache", "pin", "run-9").err
    store = Project().store
    made = next(iter(store.manifests()))
    (root / "steps" / made.key[:2] / made.key / f"{made.generation}.json").unlink()
    said = command("cache", "pin", "run-1")
    assert (said.code, said.out) == (
        0,
        "Pinned run-1: its 6 artifacts are kept; already gone: 1.\n",
    )
    assert command("cache", "pins").out.endswith(f"gone by then: {made.label}\n")
    Project().store.write_run("run-2", RunRecord())
    assert "Several runs begin with run: run-1, run-2" in command("cache", "pin", "run").err


def test_provenance_goes_up_to_the_datasets(command: Command, root: Path) -> None:
    said = command("artifacts", PARTITION, VOCAB, "--provenance")
    assert said.code == 0, said.err
    told = json.loads(said.out)
    labels = [step["label"] for step in told["steps"]]
    assert (len(labels), labels[-1]) == (6, VOCAB)
    assert all(step["code"]["bundle"]["digest"] and step["versions"]["libraries"] for step in told["steps"])
    datasets = [source["label"] for source in told["sources"]]
    assert datasets
    assert all(label.startswith("dataset") for label in datasets)
    (config,) = told["configs"].values()
    assert config["experiment"]["src"] == "en"
    blob = Blob(**told["steps"][-1]["config"])
    assert json.loads(Project().store.read_blob(blob)) == config
    assert "Name the step" in command("artifacts", PARTITION, "--provenance").err


def test_an_old_store_is_told_to_be_empty(command: Command) -> None:
    assert "nothing there" in command("cache", "verify").out
    assert command("cache", "gc").code == 0
    assert not os.path.exists(Project().store.url.removeprefix("file://"))


@pytest.mark.slow
def test_a_store_in_a_bucket_is_looked_after_alike(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(BUCKET) as server:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", server.url)
        monkeypatch.setenv("TRANSLATIONS_STORE", f"gs://{BUCKET}/cli")
        make("train_vocab")
        assert command("cache", "verify").out.endswith("All is whole.\n")
        assert f"in gs://{BUCKET}/cli" in command("cache", "gc").out
        assert command("cache", "pin", "run-1").code == 0
        command("cache", "gc", "--keep-days", "0", "--keep-refs", "0", "--grace-days", "0", "--delete")
        assert len(list(Project().store.manifests())) == 6
        damaged = next(name for name in server.names() if name.startswith("cli/blobs/"))
        server.damage(damaged, b"")
        said = command("cache", "verify")
        assert said.code == 1
        assert damaged.removeprefix("cli/") in said.out
