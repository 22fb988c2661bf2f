"""The store as the engine, the plan and the worker use it; the stores know nothing of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from translations_assets.records.manifest import Blob, Manifest, Pin, Publication, Ref
from translations_assets.records.run import RunRecord


class Reading(Protocol):
    """A store that is only read: all that may be asked of one that only others write, see `Store`."""

    @property
    def url(self) -> str:
        """The URL by which `open_store` opens this store (`file:///…`)."""

    @property
    def look_ups(self) -> int:
        """The number of look-ups at once that pay off: 1 where one takes no time to speak of."""

    @property
    def rewrite_seconds(self) -> float:
        """Seconds for which what was written should not be replaced; 0 where that does not matter."""

    def exists(self) -> bool:
        """True if anything was ever stored here: a store that is only read is not made."""

    # Blobs
    def place_blob(self, blob: Blob, target: Path) -> None:
        """Put the contents at a path, read-only (reflink, else hard link, else copy). Raises DamagedError."""

    def read_blob(self, blob: Blob) -> bytes:
        """The contents, digest verified. Raises DamagedError when missing or different."""

    def has_blob(self, blob: Blob) -> bool:
        """True if the contents are there, with the right size (the digest is not computed)."""

    # Manifests
    def latest(self, key: str) -> Manifest | None:
        """The highest generation of a step's manifest, None when the step never finished."""

    def damaged(self) -> Mapping[str, int]:
        """Keys of manifests that were damaged and put aside, each with the highest of their generations."""

    def generation(self, key: str, number: int) -> Manifest | None:
        """One generation of a step's manifest."""

    def level_of(self, key: str, generation: int) -> str:
        """The level of trust of a result: that of the place where it stands; empty where there are none."""

    def manifests(self) -> Iterator[Manifest]:
        """Every whole manifest, each generation of each step, by key."""

    def retired(self) -> Iterator[Manifest]:
        """Manifests of collected artifacts that something kept was made from; no look-up finds them."""

    def read_retired(self, key: str, number: int) -> Manifest | None:
        """A retired manifest of a step's generation."""

    # Logs: parts that are written once, in order
    def read_log(self, key: str, generation: int, attempt: int, part: int = 0) -> Iterator[bytes]:
        """The parts from number `part` on that are there now; below 0, so many of the last."""

    def attempts(self, key: str, generation: int) -> list[int]:
        """Numbers of the attempts that have a log, ascending."""

    def log_seconds(self, key: str, generation: int, attempt: int) -> float:
        """The time from an attempt's first part of log to its last."""

    # Checkpoint sets of a resumable step that is not finished
    def place_checkpoints(self, key: str, generation: int, target: Path) -> list[str]:
        """Put the newest two whole sets under a folder, as writable copies; their names, oldest first."""

    def checkpoints(self, key: str, generation: int) -> list[str]:
        """The names of the whole sets, oldest first: their contents are not read."""

    # Refs: what a partition's stage last was, by space
    def spaces(self) -> Iterable[str]:
        """The spaces that have refs."""

    def refs(self, space: str, partition: str, stage: str) -> list[Ref]:
        """A stage's refs, newest first."""

    # Runs and pasted configs
    def read_run(self, run: str) -> RunRecord | None:
        """Read a run's record."""

    def runs(self) -> list[str]:
        """Ids of the runs, newest first."""

    def publications(self) -> list[Publication]:
        """List publications of results."""

    def config_names(self) -> list[str]:
        """The names of the stored training configs, in order; none is read."""

    def config(self, name: str) -> str | None:
        """The text of a stored training config; None when there is none, or it is damaged."""


class Owners(Protocol):
    """Owners of steps, and those who wait for results."""

    def lock(
        self, key: str, generation: int, lost: Callable[[str], None] | None = None
    ) -> AbstractContextManager[bool]:
        """Try to become the owner of a step's generation; False at once when another process is.

        `lost` is called, from any thread and with a reason, when the ownership cannot be kept up: then the
        owner ends its script at once, and stores nothing more than the result of a script that had ended.
        """

    def is_owned(self, key: str, generation: int) -> bool:
        """True if a process owns a step's generation now; asking does not keep others from owning it."""

    def disown(self, finished: Collection[tuple[str, int]]) -> None:
        """Remove what owners of finished steps (key, generation) left who were killed before they could.

        Where no other process notices their end, that takes some seconds if there is anything.
        """

    def waiting(self, key: str, generation: int) -> AbstractContextManager[None]:
        """Be counted among those who want a step's result, until the end of the block or of the process."""

    def waiters(self, key: str, generation: int) -> int:
        """Count those that want a step's result now."""


class Store(Reading, Protocol):
    """A home of finished steps: blobs by SHA-256, manifests by key and generation, refs, logs, checkpoints.

    Nothing is ever replaced: of two writers of the same thing the second finds the first's. All methods raise
    StoreError (a message for people) when the store cannot be read or written, StoreUnreachable when that may
    pass.
    """

    # Blobs
    def add_blob(self, path: Path) -> Blob:
        """Store a file's contents durably and return their digest; a contents already there is not copied."""

    def add_bytes(self, data: bytes) -> Blob:
        """The same for bytes in memory."""

    # Manifests
    def commit(self, manifest: Manifest) -> Manifest:
        """Make a step finished: durable, all or nothing. Returns what counts: the first writer's manifest."""

    def quarantine(self, blob: Blob, reason: str) -> None:
        """Put damaged contents aside, so that they are not used."""

    @property
    def owners(self) -> Owners:
        """Owners of steps, one at a time, and those who wait for results."""

    # Logs: parts that are written once, in order
    def append_log(
        self, key: str, generation: int, attempt: int, part: int, data: bytes, replies: bytes = b""
    ) -> None:
        """Store one part (at most 1 MB of log), and its worker's replies, which no reader of the log sees."""

    def log_part(self, key: str, generation: int, attempt: int, part: int) -> tuple[bytes, bytes] | None:
        """Read a part that workers store here, and the replies in it; None while it is not there."""

    # Checkpoint sets of a resumable step that is not finished
    def add_checkpoint(self, key: str, generation: int, name: str, folder: Path) -> None:
        """Store a set durably (its manifest goes last) and drop all but the newest two."""

    def drop_checkpoints(self, key: str, generation: int) -> None:
        """Remove the sets of a step that has finished."""

    # Refs: what a partition's stage last was, by space
    def add_ref(self, ref: Ref) -> None:
        """Append a ref."""

    # Runs and pasted configs
    def write_run(self, run: str, record: RunRecord) -> None:
        """Store what a run uses (replaces the run's own earlier state)."""

    def pin(self, run: str, reason: str) -> Pin:
        """Keep what a run uses from being collected. Raises StoreError for an unknown or pinned run."""

    def unpin(self, run: str) -> None:
        """Let what a run uses be collected again. Raises StoreError when the run is not pinned."""

    def pins(self) -> Mapping[str, Pin]:
        """The pinned runs by id, those that were pinned first first."""

    def add_publication(self, made: Publication) -> None:
        """Remember where a result was published; nothing when that is known."""

    def add_config(self, name: str, text: str) -> None:
        """Store a training config under a name, for good; StoreError when the name has another text."""
