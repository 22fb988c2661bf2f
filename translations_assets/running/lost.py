"""Tells a result that was lost from one that was never made: the store has no manifest of either.

What cannot be repeated byte by byte is not made again unasked, when its manifest was damaged or deleted. What
the garbage collector has taken is not lost, and it takes what is asked for here in this order: refs first,
then the manifest, which stays in `retired/` until the log is removed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

from translations_assets.graph.step import Step
from translations_assets.records.run import RunRecord
from translations_assets.running.protocols import Store

DAMAGED = "its manifest was damaged and is put aside in quarantine/"
RUNS = 20  # newest runs whose records are read


class LostResults:
    """What is lost of the results of a partition, given by the names that its refs have (`ref_partitions`).

    Nothing is read before it is asked for a step that cannot be repeated and has no manifest.
    """

    def __init__(self, store: Store, partitions: Collection[str]) -> None:
        self._store, self._partitions = store, partitions

    def reason(self, step: Step, key: str) -> str:
        """Why a step that has no manifest for its key is lost; empty when it is simply to be made."""
        if step.repeatable:
            return ""
        if self._store.has_damaged(key):
            return DAMAGED
        for run, generation in self._named(step, key):
            if self._is_missing(key, generation):
                return f"its manifest is missing from the store, although run {run} has used it"
        return ""

    def _named(self, step: Step, key: str) -> Iterator[tuple[str, int]]:
        """Runs that have had a result of the key, and its generation."""
        for space in self._store.spaces() if self._partitions else ():
            for partition in self._partitions:
                for ref in self._store.refs(space, partition, step.stage):
                    yield from ((ref.run, number) for named, number in ref.steps.values() if named == key)
        for run, record in self._runs.items():
            for named, number in record.uses.values():
                if named == key and self._store.attempts(key, number):
                    yield run, number

    @cached_property
    def _runs(self) -> Mapping[str, RunRecord]:
        """The newest runs of the partition that have ended: what they name had been made."""
        read = {run: self._store.read_run(run) for run in self._store.runs()[:RUNS]}
        return {
            run: record
            for run, record in read.items()
            if record and record.partition in self._partitions and record.ended is not None
        }

    def _is_missing(self, key: str, generation: int) -> bool:
        """Whether the garbage collector has nothing to do with it; that may put it back at this moment."""
        is_retired = self._store.read_retired(key, generation) is not None
        return not is_retired and self._store.generation(key, generation) is None
