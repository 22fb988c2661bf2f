"""Small values that the tests of the stores use."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from translations_assets.records.manifest import Blob, KeyParts, Manifest, Provenance, Ref, Usage
from translations_assets.running.protocols import Store
from translations_assets.store.local import LocalStore

KEY = "ab" * 32
OTHER_KEY = "cd" * 32


def manifest(
    outputs: dict[str, Blob], key: str = KEY, generation: int = 1, label: str = "split-en-ru"
) -> Manifest:
    """A finished step with these outputs."""
    return Manifest(
        key=key,
        generation=generation,
        outputs=outputs,
        label=label,
        reason="no result for its key",
        bundle=Blob("00" * 32, 10),
        provenance=Provenance(KeyParts(args={"parts": 3}, outputs=("ĉiuj – все",))),
        attempt=1,
        host="here",
        started=100.25,
        ended=101.5,
        usage=Usage(1.25, 1.0, 1 << 20, 4096),
    )


def finish(
    store: Store,
    label: str,
    outputs: dict[str, bytes],
    /,
    inputs: dict[str, Blob] | None = None,
    *,
    stage: str = "merge_corpus",
    ended: float = 101.5,
    bundle: bytes = b"",
    **provenance: Any,
) -> Manifest:
    """Commit a step whose key is made of its label, with all that a manifest names."""
    files = {path: vars(blob) for path, blob in (inputs or {}).items()}
    made = manifest(
        {name: store.add_bytes(data) for name, data in outputs.items()},
        key=hashlib.sha256(label.encode()).hexdigest(),
        label=label,
    )
    known = {
        "script": "pipeline.clean.merge",
        "stage": stage,
        "partition": "en-ru",
        "run": "run-1",
        "repeatable": True,
        "config": vars(store.add_bytes(b'{"experiment": {"src": "en", "trg": "ru"}}')),
        "inputs": {path: blob["digest"] for path, blob in files.items()},
        "files": files,
        **provenance,
    }
    code = store.add_bytes(bundle or f"code of {stage}".encode())
    return store.commit(replace(made, bundle=code, provenance=Provenance.from_dict(known), ended=ended))


def publish(store: Store, run: str, time: float, *made: Manifest, stage: str = "merge_corpus") -> Ref:
    """Append a ref of finished steps."""
    published = replace(
        ref(run, time, partition="en-ru"),
        stage=stage,
        steps={one.label: (one.key, one.generation) for one in made},
        outputs={one.label: one.outputs for one in made},
    )
    store.add_ref(published)
    return published


def ref(run: str, time: float, space: str = "ann/main", partition: str = "en-ru.big-vocab") -> Ref:
    """The ref that a run published for `merge_corpus`."""
    return Ref(
        space=space,
        partition=partition,
        stage="merge_corpus",
        run=run,
        time=time,
        steps={"merge-corpus-en-ru": (KEY, 1)},
        outputs={"merge-corpus-en-ru": {"corpus.en.zst": Blob("11" * 32, 5)}},
    )


def files(store: LocalStore) -> set[str]:
    """Every file of the store, relative to its root."""
    return {path.relative_to(store.root).as_posix() for path in store.root.rglob("*") if path.is_file()}
