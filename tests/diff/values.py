"""Sides made of a few results, for tests of one part of a comparison."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import zstandard

from tests.store.values import finish
from translations_assets.diff.sides import Side, find_side
from translations_assets.records.manifest import Blob, Manifest, Ref
from translations_assets.records.run import RunOptions, RunRecord
from translations_assets.running.protocols import Store

SPACE = "here"


def run(store: Store, name: str, *made: Manifest, pair: Sequence[str] = ("en", "ru"), **more: Any) -> Side:
    """A run that used some results."""
    uses = {one.label: (one.key, one.generation) for one in made}
    record = RunRecord(name, "en-ru", SPACE, tuple(pair), uses=uses, started=5.0, **more)
    store.write_run(name, record)
    return find_side(store, SPACE, name)


def publish(
    store: Store, name: str, time: float, made: Manifest, overrides: Mapping[str, Any] | None = None
) -> str:
    """Publish a result by a run of its own, perhaps with overrides; the name that its refs have."""
    options = RunOptions(overrides=overrides or {})
    partition = options.ref_partitions("en-ru")[0]
    used = {made.label: (made.key, made.generation)}
    store.write_run(
        name, RunRecord(name, "en-ru", SPACE, ("en", "ru"), options=options, uses=used, started=time)
    )
    outputs = {made.label: made.outputs}
    store.add_ref(Ref(SPACE, partition, made.stage, name, time, used, outputs))
    return partition


def again(store: Store, made: Manifest, outputs: Mapping[str, bytes]) -> Manifest:
    """Make a result again under its key, as the next generation."""
    blobs = {name: store.add_bytes(data) for name, data in outputs.items()}
    return store.commit(replace(made, generation=made.generation + 1, outputs=blobs))


def packed(lines: Sequence[str]) -> bytes:
    """Lines as a text in the store."""
    return zstandard.compress("".join(f"{line}\n" for line in lines).encode())


def evaluated(
    store: Store, name: str, scores: Mapping[str, Any], stage: str = "evaluate_student", **more: Any
) -> Manifest:
    """An evaluation that left scores; `name` makes its key."""
    metrics = json.dumps({"dataset": "tiny", **scores}).encode()
    made = finish(store, name, {"metrics.json": metrics}, stage=stage, args={"dataset": "tiny"}, **more)
    return replace(made, label="evaluate-student-tiny-en-ru")


def blob(store: Store, lines: Sequence[str]) -> Blob:
    """A text in the store."""
    return store.add_bytes(packed(lines))
