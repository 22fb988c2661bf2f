"""Leaves behind what a version of this project writes: run in that version's tree, with this environment.

    python write.py TREE PLACE

PLACE gets a store in a folder (`state/store`), the objects of a bucket (`bucket/`), and the description of a
Job of the cluster (`job.json`), as far as the version has them. Nothing of today's code is imported.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from dataclasses import fields, replace
from functools import cache
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

TARGET = "evaluate_backwards"
SMALL = "pipeline.translate.split"
UNFINISHED = "c" * 64
PASTED = "src: en\n"


def main(tree: str, place: str) -> None:
    """Write everything that the version in a tree can write."""
    sys.path.insert(0, tree)
    root = Path(place)
    made = import_module("tests.end_to_end.tiny").make_place(root)
    os.environ |= {
        name: value for name, value in made.environment.items() if name[:6] in ("TRANSL", "DAGSTE")
    }
    os.chdir(root)
    config = root / "configs" / "en-eo.tiny.yml"
    config.write_text(config.read_text().replace(str(root), "/srv"))  # no step reads its files
    _have_one_bundle()
    _note_usage()
    _make_runs()
    store = import_module("translations_assets.project").Project().store
    _write_records(store)
    _write_bucket(root / "bucket")
    _write_job(root / "job.json")


def _found(*places: str) -> Any:
    """The object at the first of some places, `module:name`, that the version has."""
    for place in places:
        module, _, name = place.partition(":")
        with suppress(ModuleNotFoundError, AttributeError):
            return getattr(import_module(f"translations_assets.{module}"), name)
    raise LookupError(places)


def _have_one_bundle() -> None:
    """Every step gets the code of a small script: that of all of them has a megabyte."""
    maker = _found("keys.key:KeyMaker", "steps.key:KeyMaker")
    bundle = cache(maker.bundle)
    maker.bundle = lambda keys, script: bundle(keys, SMALL)


def _note_usage() -> None:
    """Every field of what a step has used has a value, and each manifest names a worker."""
    store = _found("store.local:LocalStore")
    usage = _found("records.manifest:Usage", "steps.manifest:Usage")
    values = {field.name: 1.0 if "float" in str(field.type) else 2 for field in fields(usage)}
    worker = {"command": ("pipeline.made.up", "--output", "out"), "threads": 2, "gpus": 0, "workspace": 500}
    commit = store.commit

    def noting(self: Any, manifest: Any) -> Any:
        provenance = manifest.provenance
        if isinstance(provenance, dict):
            provenance = {**provenance, "worker": {**worker, "python": "3.11.7"}}
        else:
            kind = _found("records.manifest:Worker")
            provenance = replace(provenance, worker=kind(**worker, others={"python": "3.11.7"}))
        return commit(self, replace(manifest, provenance=provenance, usage=usage(**values)))

    store.commit = noting


def _make_runs() -> None:
    """A run; one with overrides; one with a step that fails."""
    conftest = import_module("tests.cli.conftest")
    make = conftest.make
    make(TARGET)
    known = signature(make).parameters
    if "overrides" in known:
        make("dataset_train", "run-2", {"experiment.best-model": "chrf"})
    if "runner" in known:
        runner = conftest.MadeUpRunner(fails="train-vocab-en-eo")
        make("train_vocab", "run-3", {"experiment.spm-vocab-size": 304}, runner=runner)


def _write_records(store: Any) -> None:
    """Everything else that a store keeps."""
    reference = store.refs("test", "en-eo.tiny", "dataset_train")[0]
    key, generation = next(iter(reference.steps.values()))
    store.append_log(key, generation, 1, 1, b"a second part\n")
    if "replies" in signature(store.append_log).parameters:
        store.append_log(key, generation, 1, 2, b"a third part\n", b"pod-1\n" + _replies())
    store.add_config("en-eo.pasted", PASTED)
    saved = Path("saved")
    saved.mkdir()
    (saved / "model.npz").write_bytes(b"weights")
    store.add_checkpoint(UNFINISHED, 1, "update-00000020", saved)
    if hasattr(store, "pin"):
        store.pin("run-1", "kept")
    if hasattr(store, "add_publication"):
        kind = _found("records.manifest:Publication")
        store.add_publication(kind(key, generation, "gs://released/model", 1.0))


def _replies() -> bytes:
    """The replies of a worker: all kinds."""
    wire, events, jobs = (import_module(f"translations_assets.{name}") for name in _WIRE)
    numbers = {"epoch": 1, "updates": 20, "loss": 2.5}
    said = [
        events.Started(pid=7),
        events.Progress(numbers),
        jobs.Outcome("temporary", None, "killed", "the end"),
        wire.Busy(),
    ]
    return b"".join(map(wire.pack_reply, said))


_WIRE = ("runners.wire", "running.events", "running.job")


def _write_bucket(folder: Path) -> None:
    """The objects of a store in a bucket, while an owner has a step and a run waits for it."""
    try:
        store = import_module("tests.memory_store").MemoryStore()
    except ModuleNotFoundError:
        return
    blob = store.add_bytes(b"contents")
    with store.owners.lock(UNFINISHED, 1), store.owners.waiting(UNFINISHED, 1):
        store.add_checkpoint(UNFINISHED, 1, "update-00000020", Path("saved"))
        store.append_log(UNFINISHED, 1, 1, 0, b"begun\n")
        objects = store.files.objects
        for found in list(objects.walk("")):
            path = folder / found.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(objects.read(found.name)[0])
    assert (folder / "blobs" / blob.digest[:2] / blob.digest).exists()


def _write_job(path: Path) -> None:
    """A Job of Kubernetes, as the runner describes it."""
    try:
        describe = import_module("tests.runners.kubernetes.test_jobs").describe
    except ModuleNotFoundError:
        return
    body = describe(preemptions=2)
    for container in body["spec"]["template"]["spec"]["containers"]:
        container["command"] = ["python"]  # the text of a program
    path.write_text(json.dumps(body))


if __name__ == "__main__":
    main(*sys.argv[1:])
