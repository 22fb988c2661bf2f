"""Results that a session finds, and what they tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

import zstandard

from translations_assets.graph.step import Step
from translations_assets.records.manifest import Blob, Manifest
from translations_assets.results.files import Reader, Value
from translations_assets.running.protocols import Reading
from translations_assets.running.session import Session, UpstreamMissing

MOST_TEXT = 64 << 20  # bytes of a test set that are read


class ReadOnce:
    """A store of which each run's record, each manifest and each blob is read once, by whoever asks."""

    def __init__(self, store: Reading) -> None:
        self._store = store
        self.runs = cache(store.runs)
        self.read_run = cache(store.read_run)
        self.generation = cache(store.generation)
        self.read_blob = cache(store.read_blob)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class KnownResult(NamedTuple):
    """A step, and the manifest of the result that counts for it."""

    step: Step
    manifest: Manifest


def known_results(session: Session, steps: Iterable[Step]) -> dict[str, KnownResult]:
    """Label → the result that counts, by key or by the newest ref, of each step that has one."""
    found = {}
    for step in steps:
        try:
            session.results.need([step])
        except UpstreamMissing:
            continue
        result = session.results.result_of(step)
        manifest = result.manifest or session.store.generation(result.key, result.generation)
        if manifest is not None:
            found[step.label] = KnownResult(step, manifest)
    return found


def read_each(session: Session, results: Mapping[str, KnownResult], read: Reader[Value]) -> dict[Step, Value]:
    """Step → what its file holds, by a reader of `results.files`; without those that leave no such file."""
    found = {step: read(session.store, manifest.outputs, step.label) for step, manifest in results.values()}
    return {step: value for step, value in found.items() if value is not None}


def read_text(store: Reading, blob: Blob) -> list[str]:
    """The lines of a text that is compressed by zstd; of a very long one its beginning."""
    with zstandard.ZstdDecompressor().stream_reader(store.read_blob(blob), read_across_frames=True) as reader:
        return reader.read(MOST_TEXT).decode("utf-8", errors="replace").removesuffix("\n").split("\n")
