"""The runs that Dagster's instance or the store knows, each merged into one `Run`.

Importing Dagster takes longer than all the rest, so only what needs its instance does.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass

from translations_assets.common.errors import TranslationsError
from translations_assets.instance.home import has_instance, open_instance
from translations_assets.records.run import RunRecord
from translations_assets.running.protocols import Store
from translations_assets.runs.run import Run, merged, run_of_record

_POLL_SECONDS = 0.2
_ID = re.compile(r"[0-9a-f]{1,8}|[0-9a-f]{8}-[0-9a-f-]*")


@dataclass(frozen=True)
class KnownRuns:
    """The runs of a store and of Dagster's instance, if there is one."""

    store: Store

    def newest(self, number: int | None) -> list[Run]:
        """The newest runs, or all, those that began last first.

        Those whose process has died are marked in Dagster.
        """
        records = {run: self.store.read_run(run) or RunRecord() for run in self.store.runs()[:number]}
        found = {run: run_of_record(run, record) for run, record in records.items()}
        if has_instance():
            for known in self._known_to_dagster(number):
                found[known.id] = merged(known, records.get(known.id) or self.store.read_run(known.id))
        newest = sorted(found.values(), key=lambda run: run.started or time.time(), reverse=True)
        return newest[:number]

    def _known_to_dagster(self, number: int | None) -> list[Run]:
        from translations_assets.instance.server import PARTITION_TAG
        from translations_assets.runs.instance import run_of_dagster

        with open_instance() as instance:
            records = instance.get_run_records(limit=number)
            ours = [one for one in records if PARTITION_TAG in one.dagster_run.tags]
            return [run_of_dagster(instance, self.store, one) for one in ours]

    def find(self, name: str) -> Run:
        """The run with an id, or with an id that begins so. TranslationsError if none, or several."""
        ids = list(self.store.runs())
        if has_instance():
            with open_instance() as instance:
                ids += instance.get_run_ids()
        return self.get(whole_id(name, ids, "There is no run", "translations status"))

    def get(self, run: str) -> Run:
        """A run by its whole id, as it is now."""
        record = self.store.read_run(run)
        if has_instance():
            from translations_assets.runs.instance import run_of_dagster

            with open_instance() as instance:
                if known := instance.get_run_record_by_id(run):
                    return merged(run_of_dagster(instance, self.store, known), record)
        if record is None:
            raise TranslationsError(f"There is no run {run}. To list the runs: translations status")
        return run_of_record(run, record)

    def is_run(self, name: str) -> bool:
        """True if a name can only be that of a run: partitions begin with a pair of languages."""
        return bool(_ID.fullmatch(name)) or self.store.read_run(name) is not None

    def running_of(self, partition: str) -> list[Run]:
        """The runs of a partition that Dagster knows and something works on."""
        runs = (run for run in self.newest(1000) if run.partition == partition)
        return [run for run in runs if run.dagster and not run.is_over]

    def end(self, run: str, seconds: float) -> str:
        """Cancel a run, as the UI does, wait at most so long for its end, and return Dagster's status.

        A run whose process has died is marked as cancelled.
        """
        from translations_assets.runs.instance import existing, is_over, mark_when_lost, request_end

        with open_instance() as instance:
            found = existing(instance, run)
            if not mark_when_lost(instance, self.store, found, canceled=True) and not found.is_finished:
                request_end(instance, found)
            deadline = time.monotonic() + seconds
            while not is_over(self.store, found := existing(instance, run)) and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
                mark_when_lost(instance, self.store, found, canceled=True)
            return found.status.value


def whole_id(name: str, runs: Iterable[str], none: str, listing: str) -> str:
    """The run whose id is a name, or begins so.

    TranslationsError when there are several, or none: what `none` says, and the command that lists them.
    """
    found = {run for run in runs if run.startswith(name)}
    if name in found or len(found) == 1:
        return name if name in found else found.pop()
    if found:
        raise TranslationsError(
            f"Several runs begin with {name}: {', '.join(sorted(found)[:5])}. Give more of the id."
        )
    raise TranslationsError(f"{none} {name}. To list the runs: {listing}")
