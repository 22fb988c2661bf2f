"""Everything that is needed to repeat an artifact: its step and all steps before it, up to the datasets."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterator, Mapping
from typing import Any

from translations_assets.errors import DamagedError
from translations_assets.records.manifest import Blob, Manifest
from translations_assets.running.job import INPUT_FOLDER
from translations_assets.running.protocols import Store


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
            blob.digest: _read_json(store, blob) for blob in dict.fromkeys(filter(None, map(_config, steps)))
        },
    }


class _Trace:
    """Finds the steps that made given contents: by the runs' records, else in all manifests."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._makers: dict[str, Manifest] = {}
        self._runs: set[str] = set()
        self._knows_all = False

    def steps(self, artifact: Manifest) -> Iterator[Manifest]:
        """The steps that an artifact comes from, each after those that it comes from, itself last."""
        done: set[tuple[str, int]] = set()
        stack = [(artifact, False)]
        while stack:
            step, is_next = stack.pop()
            if (step.key, step.generation) in done:
                continue
            if is_next:
                done.add((step.key, step.generation))
                yield step
                continue
            stack.append((step, True))
            makers = (self.maker(step, digest) for digest in inputs_of(step).values())
            stack += [(maker, False) for maker in makers if maker]

    def maker(self, step: Manifest, digest: str) -> Manifest | None:
        """The step that made an input of a step; None for a file of the repository."""
        if digest not in self._makers:
            self._learn_run(str(step.provenance.get("run", "")))
        if digest not in self._makers and not self._knows_all:
            self._knows_all = True
            for manifest in (*self._store.manifests(), *self._store.retired()):
                self._learn(manifest)
        return self._makers.get(digest)

    def _learn_run(self, run: str) -> None:
        if run in self._runs:
            return
        self._runs.add(run)
        record = self._store.read_run(run)
        for key, generation in record.uses.values() if record else ():
            if manifest := self._store.generation(key, generation):
                self._learn(manifest)

    def _learn(self, manifest: Manifest) -> None:
        for blob in manifest.outputs.values():
            self._makers.setdefault(blob.digest, manifest)


def inputs_of(manifest: Manifest) -> Mapping[str, str]:
    """Input path → digest of the contents that were placed there."""
    files = {path: blob.digest for path, blob in manifest.files().items()}
    return files or manifest.provenance.get("inputs", {})


def _step(manifest: Manifest, trace: _Trace) -> dict[str, Any]:
    known = manifest.provenance
    args = known.get("args", {})
    return {
        "label": manifest.label,
        "stage": manifest.stage,
        "partition": known.get("partition"),
        "run": known.get("run"),
        "options": known.get("options", {}),
        "key": manifest.key,
        "generation": manifest.generation,
        "repeatable": known.get("repeatable"),
        "command": ["python", "-m", *_command(manifest)],
        "arguments": args,
        "seeds": {name: value for name, value in args.items() if "seed" in name},
        "env": known.get("env", {}),
        "code": {
            "revision": known.get("revision"),
            "hash": known.get("code"),
            "bundle": vars(manifest.bundle),
        },
        "config": known.get("config"),
        "inputs": {path: _input(manifest, path, trace) for path in inputs_of(manifest)},
        "outputs": {name: vars(blob) for name, blob in manifest.outputs.items()},
        "versions": {"python": known.get("python"), "libraries": known.get("libraries", {})},
        "worker": known.get("worker", {}),
        "host": manifest.host,
        "started": _iso(manifest.started),
        "ended": _iso(manifest.ended),
        "usage": vars(manifest.usage),
        "reason": manifest.reason,
        "attempt": manifest.attempt,
        "repeat": _repeat(manifest),
    }


def _input(manifest: Manifest, path: str, trace: _Trace) -> dict[str, Any]:
    digest = inputs_of(manifest)[path]
    blob = manifest.files().get(path)
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
    worker = manifest.provenance.get("worker", {})
    environment = {
        "PYTHONPATH": "code",
        "PYTHONSAFEPATH": "1",
        "LANG": "C.UTF-8",
        "TRANSLATIONS_THREADS": str(worker.get("threads", 1)),
        "TRANSLATIONS_GPUS": " ".join(map(str, range(int(worker.get("gpus", 0))))),
        **({"TRANSLATIONS_WORKSPACE": str(worker["workspace"])} if "workspace" in worker else {}),
        **manifest.provenance.get("env", {}),
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
    command: list[str] = manifest.provenance.get("worker", {}).get("command", [])
    return command or [str(manifest.provenance.get("script", ""))]


def _config(manifest: Manifest) -> Blob | None:
    config = manifest.provenance.get("config")
    return Blob.from_dict(config) if config else None


def _read_json(store: Store, blob: Blob) -> Any:
    try:
        return json.loads(store.read_blob(blob))
    except (DamagedError, ValueError):
        return None


def _iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
