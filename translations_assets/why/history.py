"""Earlier artifacts of a step: by its label, in the partition's own history and then in its relatives'."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from translations_assets.graph.step import Step
from translations_assets.records.manifest import Manifest, Ref
from translations_assets.records.run import RunRecord, partition_of
from translations_assets.running.protocols import Store

RUNS = 20  # newest runs whose records are read
PLACES = 20  # other spaces and partitions whose refs are read

NOT_KNOWN = "not known"

_NUMBER = re.compile(r"\d+")


class SpacePartition(NamedTuple):
    """The space and partition of refs."""

    space: str
    partition: str


class History:
    """Past results of a partition and its relatives in the store; reads each record once.

    `earlier` is safe for use by several threads, which read artifacts at the same time; the rest is for one.
    """

    def __init__(self, store: Store, space: str, partition: str) -> None:
        self.store = store
        self._own = SpacePartition(space, partition)
        self._refs: dict[tuple[SpacePartition, str], list[Ref]] = {}
        self._manifests: dict[tuple[str, int], Manifest | None] = {}
        self._naming = threading.Lock()  # held while refs and runs are read

    def earlier(self, step: Step, key: str, most: int) -> list[Manifest]:
        """At most so many artifacts of the step under other keys than its own, the likeliest first.

        By its label: what the partition's refs name in this space, what the newest runs used, what the refs
        of other spaces and of the pair's other partitions name. Without any, artifacts of the stage whose
        labels differ in numbers only (another part of a text that is split in more parts now).
        """
        found: dict[str, Manifest] = {}
        named = self._named(step)
        while len(found) < most:
            with self._naming:
                used = next(named, None)
            if used is None:
                break
            manifest = self._manifest(*used)
            if manifest is not None and manifest.key not in (key, *found) and manifest.provenance.parts.code:
                found[manifest.key] = manifest
        return list(found.values())

    def published(self, step: Step) -> set[tuple[str, int]]:
        """Keys and generations of the step's artifacts that the partition's own refs name."""
        with self._naming:
            return set(self._in_refs(self._own, step))

    def of_stage(self, stage: str) -> Iterator[Manifest]:
        """Artifacts of a stage by the newest refs: of this partition, of its relatives, of all others."""
        others = (place for place in self._places if not self._is_related(place))
        for place in (self._own, *self._relatives, *others):
            for ref in self._refs_of(place, stage)[:1]:
                for used in ref.steps.values():
                    manifest = self._manifest(*used)
                    if manifest is not None:
                        yield manifest

    def _named(self, step: Step) -> Iterator[tuple[str, int]]:
        """Keys and generations of artifacts that may be the step's earlier ones."""
        own = chain(self._in_refs(self._own, step), self._in_runs(step))
        relatives = (self._in_refs(place, step) for place in self._relatives)
        nothing = True
        for used in chain(own, chain.from_iterable(relatives)):
            nothing = False
            yield used
        if nothing:
            yield from self._of_other_numbers(step)

    def _in_refs(self, place: SpacePartition, step: Step) -> Iterator[tuple[str, int]]:
        return (ref.steps[step.label] for ref in self._refs_of(place, step.stage) if step.label in ref.steps)

    def _in_runs(self, step: Step) -> Iterator[tuple[str, int]]:
        for place, uses in self._runs:
            if place.partition == self._own.partition and step.label in uses:
                yield uses[step.label]

    def _of_other_numbers(self, step: Step) -> Iterator[tuple[str, int]]:
        shape = _NUMBER.sub("#", step.label)
        for ref in self._refs_of(self._own, step.stage)[:1]:
            yield from (used for label, used in ref.steps.items() if _NUMBER.sub("#", label) == shape)

    @cached_property
    def _runs(self) -> list[tuple[SpacePartition, Mapping[str, tuple[str, int]]]]:
        """Space, partition and what was used, of the newest runs."""
        found = []
        for run in self.store.runs()[:RUNS]:
            record = self.store.read_run(run)
            if record and record.space and record.partition:
                found.append((SpacePartition(record.space, record.partition), record.uses))
        return found

    @cached_property
    def _places(self) -> list[SpacePartition]:
        """Other spaces and partitions, those used last first."""
        places = dict.fromkeys(place for place, _ in self._runs)
        return [place for place in places if place != self._own][:PLACES]

    @cached_property
    def _relatives(self) -> list[SpacePartition]:
        """Those of the same language pair; the same partition in other spaces first."""
        related = [place for place in self._places if self._is_related(place)]
        return sorted(related, key=lambda place: place.partition != self._own.partition)

    def _is_related(self, place: SpacePartition) -> bool:
        return _pair(place.partition) == _pair(self._own.partition)

    def _refs_of(self, place: SpacePartition, stage: str) -> list[Ref]:
        if (place, stage) not in self._refs:
            self._refs[place, stage] = self.store.refs(*place, stage)
        return self._refs[place, stage]

    def _manifest(self, key: str, generation: int) -> Manifest | None:
        if (key, generation) not in self._manifests:
            self._manifests[key, generation] = self.store.generation(key, generation)
        return self._manifests[key, generation]


def _pair(partition: str) -> str:
    return partition_of(partition).partition(".")[0]


def why_made(manifest: Manifest, read_run: Callable[[str], RunRecord | None]) -> str:
    """Explain why an artifact was made: by its run's record, or of earlier versions the artifact itself."""
    run = manifest.provenance.run
    if manifest.reason or not run:
        return manifest.reason or NOT_KNOWN
    return (read_run(run) or RunRecord()).reasons.get(manifest.label, NOT_KNOWN)
