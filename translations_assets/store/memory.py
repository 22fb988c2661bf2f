"""The store in memory: for tests of what uses a store; nothing survives the process."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from translations_assets.errors import DamagedError, StoreError
from translations_assets.records.manifest import Blob, Manifest, Pin, Ref
from translations_assets.store.digest import digest_bytes
from translations_assets.store.names import safe

_CHECKPOINTS = 2


class MemoryStore:
    """A `Store` whose contents are this object's; safe for use by several threads."""

    def __init__(self) -> None:
        self._guard = threading.RLock()
        self._blobs: dict[str, bytes] = {}
        self._manifests: dict[str, dict[int, Manifest]] = {}
        self._owned: set[tuple[str, int]] = set()
        self._waiting: list[tuple[str, int]] = []
        self._logs: dict[tuple[str, int, int], dict[int, bytes]] = {}
        self._checkpoints: dict[tuple[str, int], dict[str, dict[str, bytes]]] = {}
        self._refs: dict[tuple[str, str, str], list[Ref]] = {}
        self._runs: dict[str, str] = {}
        self._pins: dict[str, Pin] = {}
        self._configs: dict[str, str] = {}
        self.quarantined: dict[str, str] = {}

    @property
    def look_ups(self) -> int:
        """How many look-ups at once pay off."""
        return 1

    @property
    def url(self) -> str:
        """A name for people: no other process can open it."""
        return f"memory://{id(self):x}"

    def add_blob(self, path: Path) -> Blob:
        """Store a file's contents and return their digest."""
        try:
            return self.add_bytes(path.read_bytes())
        except OSError as error:
            raise StoreError(f"Cannot read {path} to store it: {error.strerror}.") from error

    def add_bytes(self, data: bytes) -> Blob:
        """The same for bytes in memory."""
        blob = digest_bytes(data)
        self._blobs[blob.digest] = data
        return blob

    def place_blob(self, blob: Blob, target: Path) -> None:
        """Write the contents to a path, read-only. Raises DamagedError."""
        data = self.read_blob(blob)
        try:
            target.write_bytes(data)
            target.chmod(0o444)
        except OSError as error:
            raise StoreError(f"Cannot place {blob.digest} at {target}: {error.strerror}.") from error

    def read_blob(self, blob: Blob) -> bytes:
        """The contents. Raises DamagedError when they are missing."""
        data = self._blobs.get(blob.digest)
        if data is None or len(data) != blob.size:
            raise DamagedError(f"The store has lost contents {blob.digest} ({blob.size} bytes).")
        return data

    def has_blob(self, blob: Blob) -> bool:
        """Whether the contents are there, with the right size."""
        return len(self._blobs.get(blob.digest, b"")) == blob.size and blob.digest in self._blobs

    def quarantine(self, blob: Blob, reason: str) -> None:
        """Forget damaged contents; `quarantined` keeps the reason by digest."""
        if self._blobs.pop(blob.digest, None) is not None:
            self.quarantined[blob.digest] = reason

    def latest(self, key: str) -> Manifest | None:
        """The highest generation of a step's manifest, None when the step never finished."""
        generations = self._manifests.get(key)
        return generations[max(generations)] if generations else None

    def has_damaged(self, key: str) -> bool:
        """Whether a manifest of the step was damaged: never, in memory."""
        return False

    def generation(self, key: str, number: int) -> Manifest | None:
        """One generation of a step's manifest."""
        return self._manifests.get(key, {}).get(number)

    def commit(self, manifest: Manifest) -> Manifest:
        """Make a step finished. Returns what counts: the first writer's manifest."""
        for name, blob in manifest.outputs.items():
            if not self.has_blob(blob):
                raise DamagedError(f"{manifest.label} cannot finish: its output {name} is not in the store.")
        with self._guard:
            return self._manifests.setdefault(manifest.key, {}).setdefault(manifest.generation, manifest)

    def keys(self) -> Iterator[str]:
        """Every key that has a manifest."""
        return iter(sorted(self._manifests))

    def manifests(self) -> Iterator[Manifest]:
        """Every manifest, each generation of each step, by key."""
        generations = [self._manifests[key] for key in sorted(self._manifests)]
        return iter([made for numbered in generations for _, made in sorted(numbered.items())])

    def retired(self) -> Iterator[Manifest]:
        """Nothing: nothing is collected here."""
        return iter(())

    def read_retired(self, key: str, number: int) -> Manifest | None:
        """None: nothing is collected here."""
        return None

    @contextmanager
    def lock(self, key: str, generation: int, lost: Callable[[str], None] | None = None) -> Iterator[bool]:
        """Try to become the owner of a step's generation; gives False at once when somebody else is."""
        with self._guard:
            free = (key, generation) not in self._owned
            self._owned.add((key, generation))
        try:
            yield free
        finally:
            if free:
                self._owned.discard((key, generation))

    def is_owned(self, key: str, generation: int) -> bool:
        """Whether somebody owns a step's generation now."""
        return (key, generation) in self._owned

    def disown(self, finished: Collection[tuple[str, int]]) -> None:
        """Remove what dead owners left: nothing, as they were part of this process."""

    @contextmanager
    def waiting(self, key: str, generation: int) -> Iterator[None]:
        """Be counted among those who want a step's result."""
        self._waiting.append((key, generation))
        try:
            yield
        finally:
            self._waiting.remove((key, generation))

    def waiters(self, key: str, generation: int) -> int:
        """How many want a step's result now."""
        return self._waiting.count((key, generation))

    def append_log(self, key: str, generation: int, attempt: int, part: int, data: bytes) -> None:
        """Store one part. Raises StoreError when the part is there already."""
        parts = self._logs.setdefault((key, generation, attempt), {})
        if parts.setdefault(part, data) is not data:
            raise StoreError(f"Part {part} of the log of {key} is there already: another worker writes it.")

    def read_log(self, key: str, generation: int, attempt: int, part: int = 0) -> Iterator[bytes]:
        """The parts from number `part` on that are there now."""
        parts = self._logs.get((key, generation, attempt), {})
        return iter([data for number, data in sorted(parts.items()) if number >= part])

    def attempts(self, key: str, generation: int) -> list[int]:
        """Numbers of the attempts that have a log, ascending."""
        logs = list(self._logs)  # a copy: other threads add logs meanwhile
        return sorted(attempt for name, number, attempt in logs if (name, number) == (key, generation))

    def add_checkpoint(self, key: str, generation: int, name: str, folder: Path) -> None:
        """Store a set and drop all but the newest two; a set that is there already is left as it is."""
        files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
        sets = self._checkpoints.setdefault((key, generation), {})
        sets.setdefault(name, {relative: path.read_bytes() for relative, path in files.items()})
        for old in sorted(sets)[:-_CHECKPOINTS]:
            del sets[old]

    def place_checkpoints(self, key: str, generation: int, target: Path) -> list[str]:
        """Put the newest two sets under a folder; their names, oldest first."""
        sets = self._checkpoints.get((key, generation), {})
        for name, files in sets.items():
            for relative, data in files.items():
                path = target / name / relative
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        return sorted(sets)

    def drop_checkpoints(self, key: str, generation: int) -> None:
        """Remove the sets of a step that has finished."""
        self._checkpoints.pop((key, generation), None)

    def spaces(self) -> list[str]:
        """The spaces that have refs."""
        return sorted({space for space, _, _ in list(self._refs)})

    def add_ref(self, ref: Ref) -> None:
        """Append a ref."""
        for name in (ref.space, ref.partition, ref.stage, ref.run):
            safe(name)
        self._refs.setdefault((ref.space, ref.partition, ref.stage), []).append(ref)

    def refs(self, space: str, partition: str, stage: str) -> list[Ref]:
        """A stage's refs, newest first."""
        return sorted(self._refs.get((space, partition, stage), []), key=lambda ref: ref.time, reverse=True)

    def has_refs(self, space: str, partition: str) -> list[str]:
        """The stages of a partition that have a ref."""
        return sorted(stage for *owner, stage in list(self._refs) if owner == [space, partition])

    def write_run(self, run: str, value: Mapping[str, Any]) -> None:
        """Store what a run uses (replaces the run's own earlier state)."""
        self._runs[run] = json.dumps(value)

    def read_run(self, run: str) -> Mapping[str, Any] | None:
        """What a run stored."""
        value: Mapping[str, Any] | None = json.loads(self._runs.get(run, "null"))
        return value

    def runs(self) -> list[str]:
        """Ids of the runs, those that began last first."""
        return list(self._runs)[::-1]

    def pin(self, run: str, reason: str) -> None:
        """Note that a run is pinned. Raises StoreError for an unknown or pinned run."""
        if run not in self._runs:
            raise StoreError(f"The store has no run {run}.")
        if run in self._pins:
            raise StoreError(f"The run {run} is pinned already.")
        self._pins[run] = Pin(run, reason, time.time())

    def unpin(self, run: str) -> None:
        """Forget that a run is pinned. Raises StoreError when it is not."""
        if self._pins.pop(run, None) is None:
            raise StoreError(f"The run {run} is not pinned.")

    def pins(self) -> Mapping[str, Pin]:
        """The pinned runs by id."""
        return dict(self._pins)

    def add_config(self, name: str, text: str) -> None:
        """Store a training config under a name, for good; StoreError when the name has another text."""
        if self._configs.setdefault(name, text) != text:
            raise StoreError(
                f"There is another training config named {name} in the store, and configs are never "
                "replaced. Choose another name."
            )

    def configs(self) -> Mapping[str, str]:
        """Name → text of the stored training configs."""
        return dict(sorted(self._configs.items()))
