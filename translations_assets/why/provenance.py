"""Everything that is needed to repeat an artifact: its step and all steps before it, up to the datasets."""

from __future__ import annotations

import json
import shlex
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from translations_assets.common.errors import DamagedError
from translations_assets.records.manifest import Blob, Manifest, Worker
from translations_assets.running.job import INPUT_FOLDER
from translations_assets.running.protocols import Store
from translations_assets.why.history import why_made


def provenance(store: Store, artifact: Manifest) -> dict[str, Any]:
    """The artifact's history as JSON values.

    steps    every step that the artifact comes from, in an order in which they can be run, itself last
    configs  digest → contents of the training configs that they were made for
    sources  the steps that read nothing that another step has made: the datasets, by their arguments
    """
    trace = _Trace(store)
    steps = list(trace.steps(artifact))
    made = [_step(step, trace) for step in steps]
    return {
        "artifact": artifact.label,
        "store": store.url,
        "steps": made,
        "sources": [
            {"label": one["label"], "arguments": one["arguments"], "outputs": one["outputs"]}
            for one in made
            if not any("made_by" in given for given in one["inputs"].values())
        ],
        "configs": {
            blob.digest: _read_json(store, blob)
            for blob in dict.fromkeys(step.provenance.config for step in steps)
            if blob
        },
    }


def made_from(store: Store, artifact: Manifest) -> list[Manifest]:
    """The steps that an artifact comes from, in an order in which they can be run, itself last."""
    return list(_Trace(store).steps(artifact))


class _Trace:
    """Finds the steps that made given contents: by the runs' records, else in all manifests."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.read_run = cache(store.read_run)
        self._makers: dict[str, list[Manifest]] = defaultdict(list)
        self._runs: set[str] = set()
        self._knows_all = False

    def steps(self, artifact: Manifest) -> Iterator[Manifest]:
        """The steps that an artifact comes from, each after those that it comes from, itself last."""
        entered: set[tuple[str, int]] = set()
        stack = [(artifact, False)]
        while stack:
            step, is_next = stack.pop()
            if is_next:
                yield step
            elif _id(step) not in entered:
                entered.add(_id(step))
                stack.append((step, True))
                makers = (self.maker(step, digest) for digest in inputs_of(step).values())
                stack += [(maker, False) for maker in makers if maker]

    def maker(self, step: Manifest, digest: str) -> Manifest | None:
        """The step that made an input of a step; None for a file of the repository.

        A step may hand on what it reads: an export has the quantised model, and several steps one vocabulary.
        """
        self._learn_run(step.provenance.run)
        found = self._others(step, digest)
        if not found and not self._knows_all:
            self._knows_all = True
            for manifest in (*self._store.manifests(), *self._store.retired()):
                self._learn(manifest)
            found = self._others(step, digest)
        return min(found, key=lambda made: made.ended >= step.ended, default=None)

    def _others(self, step: Manifest, digest: str) -> list[Manifest]:
        return [made for made in self._makers.get(digest, ()) if _id(made) != _id(step)]

    def _learn_run(self, run: str) -> None:
        if run in self._runs:
            return
        self._runs.add(run)
        record = self._store.read_run(run)
        for key, generation in record.uses.values() if record else ():
            manifest = self._store.generation(key, generation) or self._store.read_retired(key, generation)
            if manifest:
                self._learn(manifest)

    def _learn(self, manifest: Manifest) -> None:
        for blob in manifest.outputs.values():
            self._makers[blob.digest].append(manifest)


def _id(manifest: Manifest) -> tuple[str, int]:
    return manifest.key, manifest.generation


def inputs_of(manifest: Manifest) -> Mapping[str, str]:
    """Input path → digest of the contents that were placed there."""
    files = {path: blob.digest for path, blob in manifest.provenance.files.items()}
    return files or manifest.provenance.parts.inputs


def _step(manifest: Manifest, trace: _Trace) -> dict[str, Any]:
    known, parts = manifest.provenance, manifest.provenance.parts
    return {
        "label": manifest.label,
        "stage": manifest.stage,
        "partition": known.partition or None,
        "run": known.run or None,
        "options": known.options.to_dict(),
        "key": manifest.key,
        "generation": manifest.generation,
        "repeatable": known.repeatable,
        "command": ["python", "-m", *_command(manifest)],
        "arguments": parts.args,
        "seeds": {name: value for name, value in parts.args.items() if "seed" in name},
        "env": parts.env,
        "code": {
            "revision": known.revision or None,
            "hash": parts.code or None,
            "bundle": vars(manifest.bundle),
        },
        "config": known.config and vars(known.config),
        "inputs": {path: _input(manifest, path, trace) for path in inputs_of(manifest)},
        "outputs": {name: vars(blob) for name, blob in manifest.outputs.items()},
        "versions": {"python": parts.python or None, "libraries": parts.libraries},
        "worker": known.worker.to_dict() if known.worker else {},
        "host": manifest.host,
        "started": _iso(manifest.started),
        "ended": _iso(manifest.ended),
        "usage": vars(manifest.usage),
        "reason": why_made(manifest, trace.read_run),
        "attempt": manifest.attempt,
        "repeat": _repeat(manifest),
    }


def _input(manifest: Manifest, path: str, trace: _Trace) -> dict[str, Any]:
    digest = inputs_of(manifest)[path]
    blob = manifest.provenance.files.get(path)
    value: dict[str, Any] = {"digest": digest, "size": blob.size if blob else None}
    maker = trace.maker(manifest, digest)
    if maker is None:
        return {**value, "file": "of the repository"}
    name = next(name for name, made in maker.outputs.items() if made.digest == digest)
    return {**value, "made_by": maker.label, "output": name}


def _repeat(manifest: Manifest) -> list[str]:
    """Shell lines that make the outputs again in an empty folder, in the environment of the versions.

    $STORE is the store's folder. An input that was collected there is an output of a step before, made again.
    """
    worker = manifest.provenance.worker or Worker()
    environment = {
        "PYTHONPATH": "code",
        "PYTHONSAFEPATH": "1",
        "LANG": "C.UTF-8",
        "TRANSLATIONS_THREADS": str(worker.threads),
        "TRANSLATIONS_GPUS": " ".join(map(str, range(worker.gpus))),
        **({} if worker.workspace is None else {"TRANSLATIONS_WORKSPACE": str(worker.workspace)}),
        **manifest.provenance.parts.env,
    }
    files = inputs_of(manifest)
    folders = sorted({f"{INPUT_FOLDER}/{path}".rpartition("/")[0] for path in files})
    command = ["env", *(f"{name}={value}" for name, value in environment.items())]
    return [
        shlex.join(["mkdir", "-p", "code", *folders]),
        f"tar -xf {_stored(manifest.bundle.digest)} -C code",
        *(f"cp {_stored(digest)} {shlex.quote(f'{INPUT_FOLDER}/{path}')}" for path, digest in files.items()),
        shlex.join([*command, "python", "-m", *_command(manifest)]),
    ]


def _stored(digest: str) -> str:
    return f'"$STORE"/blobs/{digest[:2]}/{digest}'


def _command(manifest: Manifest) -> list[str]:
    """Module and options, as the worker ran them."""
    worker = manifest.provenance.worker
    return list(worker.command) if worker and worker.command else [manifest.provenance.parts.script]


def _read_json(store: Store, blob: Blob) -> Any:
    try:
        return json.loads(store.read_blob(blob))
    except (DamagedError, ValueError):
        return None


def _iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
