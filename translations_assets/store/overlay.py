"""A store of one's own over another one, such as production's, which is read and never written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from itertools import groupby
from pathlib import Path
from urllib.parse import urlencode

from translations_assets.common.errors import StoreError
from translations_assets.records.manifest import Blob, Manifest, Pin, Publication, Ref
from translations_assets.records.run import RunRecord
from translations_assets.running.protocols import Reading, Store


class OverlayStore:
    """A `Store` whose reading looks in both, in one's own first, and whose writing is all in one's own.

    Writers of the base do not know of this store: contents of the base are not touched, and nothing in it is
    locked. Owners of steps, and pins, are in one's own store alone.
    """

    def __init__(self, own: Store, base: Reading) -> None:
        self.own, self.base = own, base
        self.url = f"{own.url}{'&' if '?' in own.url else '?'}{urlencode({'base': base.url})}"
        self.look_ups = max(own.look_ups, base.look_ups)
        self.rewrite_seconds = own.rewrite_seconds
        # Results of this store are stored here even if the base has them: the base may collect its own
        self.add_blob = own.add_blob
        self.add_bytes = own.add_bytes
        self.quarantine = own.quarantine
        self.commit = own.commit
        self.append_log, self.log_part = own.append_log, own.log_part
        self.add_checkpoint = own.add_checkpoint
        self.drop_checkpoints = own.drop_checkpoints
        self.add_ref = own.add_ref
        self.write_run = own.write_run
        self.owners = own.owners  # one at a time, among those who share one's own store
        self.unpin = own.unpin
        self.pins = own.pins
        self.add_publication = own.add_publication

    def __str__(self) -> str:
        return f"{self.own} over {self.base}"

    def exists(self) -> bool:
        """True if anything was ever stored in either."""
        return self.own.exists() or self.base.exists()

    # Blobs
    def place_blob(self, blob: Blob, target: Path) -> None:
        """Put the contents at a path, read-only. Raises DamagedError."""
        self._holder(blob).place_blob(blob, target)

    def read_blob(self, blob: Blob) -> bytes:
        """The contents, digest verified. Raises DamagedError."""
        return self._holder(blob).read_blob(blob)

    def has_blob(self, blob: Blob) -> bool:
        """True if one of the two has the contents, with the right size."""
        return self.own.has_blob(blob) or self.base.has_blob(blob)

    def _holder(self, blob: Blob) -> Reading:
        return self.own if self.own.has_blob(blob) or not self.base.has_blob(blob) else self.base

    # Manifests
    def latest(self, key: str) -> Manifest | None:
        """The highest generation in either; one's own when both have it."""
        own, base = self.own.latest(key), self.base.latest(key)
        return base if base and (own is None or base.generation > own.generation) else own

    def damaged(self) -> Mapping[str, int]:
        """The keys of manifests that were put aside, in either, each with the highest generation."""
        own, base = self.own.damaged(), self.base.damaged()
        return {key: max(own.get(key, 0), base.get(key, 0)) for key in {*own, *base}}

    def generation(self, key: str, number: int) -> Manifest | None:
        """One generation of a step's manifest."""
        return self.own.generation(key, number) or self.base.generation(key, number)

    def level_of(self, key: str, generation: int) -> str:
        """The level of trust of the result that `generation` gives."""
        return self.own.level_of(key, generation) or self.base.level_of(key, generation)

    def manifests(self) -> Iterator[Manifest]:
        """Every whole manifest, by key; of two of one generation one's own."""
        both = merge(self.own.manifests(), self.base.manifests(), key=_name)
        return (next(of_one_name) for _, of_one_name in groupby(both, _name))

    def retired(self) -> Iterator[Manifest]:
        """Manifests of collected artifacts, in either."""
        yield from self.own.retired()
        yield from self.base.retired()

    def read_retired(self, key: str, number: int) -> Manifest | None:
        """A retired manifest of a step's generation."""
        return self.own.read_retired(key, number) or self.base.read_retired(key, number)

    # Logs: an attempt's stands in one of the two, as the numbers of ours go on from the base's
    def read_log(self, key: str, generation: int, attempt: int, part: int = 0) -> Iterator[bytes]:
        """The parts from number `part` on that are there now; below 0, so many of the last."""
        return self._with_log(key, generation, attempt).read_log(key, generation, attempt, part)

    def attempts(self, key: str, generation: int) -> list[int]:
        """Numbers of the attempts that have a log, ascending."""
        return sorted({*self.own.attempts(key, generation), *self.base.attempts(key, generation)})

    def log_seconds(self, key: str, generation: int, attempt: int) -> float:
        """The time from an attempt's first part of log to its last."""
        return self._with_log(key, generation, attempt).log_seconds(key, generation, attempt)

    def _with_log(self, key: str, generation: int, attempt: int) -> Reading:
        """The store that has an attempt's log."""
        return self.own if attempt in self.own.attempts(key, generation) else self.base

    # Checkpoint sets
    def place_checkpoints(self, key: str, generation: int, target: Path) -> list[str]:
        """Put one's own newest two whole sets under a folder, or, when there are none, the base's.

        So a training that was interrupted there continues here: the same key is the same training.
        """
        own = self.own.place_checkpoints(key, generation, target)
        return own or self.base.place_checkpoints(key, generation, target)

    def checkpoints(self, key: str, generation: int) -> list[str]:
        """The names of one's own whole sets, or, when there are none, of the base's."""
        return self.own.checkpoints(key, generation) or self.base.checkpoints(key, generation)

    # Refs
    def spaces(self) -> Iterable[str]:
        """The spaces that have refs."""
        return sorted({*self.own.spaces(), *self.base.spaces()})

    def refs(self, space: str, partition: str, stage: str) -> list[Ref]:
        """A stage's refs, newest first, one's own before the base's."""
        return [*self.own.refs(space, partition, stage), *self.base.refs(space, partition, stage)]

    # Runs and pasted configs
    def read_run(self, run: str) -> RunRecord | None:
        """Read a run's record."""
        record = self.own.read_run(run)
        return self.base.read_run(run) if record is None else record

    def runs(self) -> list[str]:
        """Ids of the runs, newest first, one's own before the base's."""
        return list(dict.fromkeys([*self.own.runs(), *self.base.runs()]))

    def publications(self) -> list[Publication]:
        """List all publications of results."""
        return [*self.own.publications(), *self.base.publications()]

    def pin(self, run: str, reason: str) -> Pin:
        """Keep what a run of one's own uses from being collected in one's own store."""
        if self.own.read_run(run) is None and self.base.read_run(run) is not None:
            raise StoreError(
                f"The run {run} is one of {self.base}, which is only read: it can be pinned in that "
                "store by its administrators."
            )
        return self.own.pin(run, reason)

    def add_config(self, name: str, text: str) -> None:
        """Store a training config, for good; StoreError when the name has another text, in either."""
        if self.base.config(name) not in (None, text):
            raise StoreError(
                f"There is another training config named {name} in the store {self.base}, and configs "
                "are never replaced. Choose another name, change values by --set, or put the file into "
                "configs/, where it may be edited."
            )
        self.own.add_config(name, text)

    def config_names(self) -> list[str]:
        """The names of the stored training configs of both, in order; none is read."""
        return sorted({*self.base.config_names(), *self.own.config_names()})

    def config(self, name: str) -> str | None:
        """The text of a stored training config, one's own first; None when there is none."""
        own = self.own.config(name)
        return self.base.config(name) if own is None else own


def _name(manifest: Manifest) -> tuple[str, int]:
    return manifest.key, manifest.generation


def places(store: Reading) -> Iterator[Reading]:
    """The stores that a store looks in, one's own first."""
    while isinstance(store, OverlayStore):
        yield store.own
        store = store.base
    yield store
