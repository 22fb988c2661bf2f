"""Runs, merged from Dagster's instance and the store's records, and their cancellation.

Importing Dagster takes longer than all the rest, so only what needs its instance does.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from translations_assets.cli.common import this_project, whole_id
from translations_assets.dagster_home import home, prepare, unusable
from translations_assets.errors import TranslationsError
from translations_assets.process_id import PROCESS_TAG, has_ended
from translations_assets.records.run import RunOptions, RunRecord

if TYPE_CHECKING:
    from dagster import DagsterInstance, DagsterRun
    from dagster import RunRecord as DagsterRecord

State = Literal["waiting", "running", "ending", "done", "failed", "cancelled", "lost its process", "ended"]

LOST_TAG = "translations/lost"  # of a run whose process was found to have ended
_POLL_SECONDS = 0.2
_ID = re.compile(r"[0-9a-f]{1,8}|[0-9a-f]{8}-[0-9a-f-]*")
STATES: dict[str, State] = {  # by Dagster's
    "SUCCESS": "done",
    "FAILURE": "failed",
    "CANCELED": "cancelled",
    "CANCELING": "ending",
    "STARTED": "running",
}


@dataclass(frozen=True)
class Run:
    """A run.

    state    `ended` when only the store knows it, and no step failed and some are not made
    record   what was asked of it, and, once the store knows it, what it uses
    dagster  the state as Dagster has it; empty when its instance does not know the run
    """

    id: str
    partition: str
    state: State
    record: RunRecord
    started: float | None = None
    ended: float | None = None
    dagster: str = ""

    @property
    def short(self) -> str:
        """The beginning of the id, as the UI shows it."""
        return self.id[:8]

    @property
    def is_over(self) -> bool:
        """True if nothing works on it any more."""
        return self.state not in ("waiting", "running", "ending")

    @property
    def seconds(self) -> float | None:
        """The seconds that it took, or has taken so far."""
        if self.started is None:
            return None
        end = self.ended if self.ended is not None else None if self.is_over else time.time()
        return None if end is None else end - self.started


def newest_runs(number: int | None) -> list[Run]:
    """The newest runs, or all, those that began last first.

    Those whose process has died are marked in Dagster.
    """
    from translations_assets.server import PARTITION_TAG

    store = this_project().store
    found = {run: _of_record(run, store.read_run(run) or RunRecord()) for run in store.runs()[:number]}
    if _has_instance():
        with open_instance() as instance:
            records = instance.get_run_records(limit=number)
            known = [_of_dagster(instance, one) for one in records if PARTITION_TAG in one.dagster_run.tags]
        for run in known:
            found[run.id] = _merged(run, found.get(run.id) or _stored(run.id))
    newest = sorted(found.values(), key=lambda run: run.started or time.time(), reverse=True)
    return newest[:number]


def find_run(name: str) -> Run:
    """The run with an id, or with an id that begins so. TranslationsError when there is none, or several."""
    ids = list(this_project().store.runs())
    if _has_instance():
        with open_instance() as instance:
            ids += instance.get_run_ids()
    return get_run(whole_id(name, ids, "There is no run", "translations status"))


def get_run(run: str) -> Run:
    """A run by its whole id, as it is now."""
    stored = _stored(run)
    if _has_instance():
        with open_instance() as instance:
            record = instance.get_run_record_by_id(run)
            if record:
                return _merged(_of_dagster(instance, record), stored)
    if stored is None:
        raise TranslationsError(f"There is no run {run}. To list the runs: translations status")
    return stored


def running_of(partition: str) -> list[Run]:
    """The runs of a partition that Dagster knows and something works on."""
    runs = (run for run in newest_runs(1000) if run.partition == partition)
    return [run for run in runs if run.dagster and not run.is_over]


def is_run(name: str) -> bool:
    """True if a name can only be that of a run: partitions begin with a pair of languages."""
    return bool(_ID.fullmatch(name)) or this_project().store.read_run(name) is not None


def missed_gates(run: str) -> dict[str, list[str]]:
    """The asset checks of a run that did not pass, by state: "failed" (or warned) or "not computed"."""
    from dagster import DagsterEventType

    from translations_assets.checks.gates import HARMLESS
    from translations_assets.server import GATE

    with open_instance() as instance:
        checks = instance.all_logs(run, of_type=DagsterEventType.ASSET_CHECK_EVALUATION)
        others = instance.all_logs(run, of_type=DagsterEventType.ENGINE_EVENT)
    missed: dict[str, list[str]] = {}
    for entry in checks:
        check = entry.get_dagster_event().asset_check_evaluation_data
        if not check.passed:
            missed.setdefault(str(check.metadata["state"].value), []).append(check.check_name)
    for entry in others:
        metadata = entry.get_dagster_event().engine_event_data.metadata
        if GATE in metadata and metadata["state"].value not in HARMLESS:
            missed.setdefault(str(metadata["state"].value), []).append(str(metadata[GATE].value))
    return {state: sorted(names) for state, names in sorted(missed.items())}


def next_steps(run: Run) -> Iterator[str]:
    """Suggest the next steps after a run that failed, was cancelled or has lost its process."""
    if not run.dagster:  # which alone can repeat it
        yield f"To make what is missing: translations train {run.partition}"
        return
    from translations_assets.defs.ended import EndedRun

    with open_instance() as instance:
        for line in EndedRun(instance, _existing(instance, run.id)).next_steps():
            yield line.replace("`", "")


def end_run(run: str, seconds: float) -> str:
    """Cancel a run, as the UI does, wait at most so long for its end, and return Dagster's status.

    A run whose process has died is marked as cancelled.
    """
    with open_instance() as instance:
        found = _existing(instance, run)
        if not _mark_when_lost(instance, found, canceled=True) and not found.is_finished:
            _request_end(instance, found)
        deadline = time.monotonic() + seconds
        while not _is_over(found := _existing(instance, run)) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
            _mark_when_lost(instance, found, canceled=True)
        return found.status.value


@contextmanager
def open_instance() -> Iterator[DagsterInstance]:
    """The instance in Dagster's home. Raises TranslationsError when its databases cannot be used."""
    from dagster import DagsterInstance
    from sqlalchemy.exc import OperationalError

    prepare(home())
    try:
        with DagsterInstance.from_config(str(home())) as instance:
            yield instance
    except OperationalError as error:
        raise unusable(home(), error) from error


def _has_instance() -> bool:
    """True if there is an instance, so that none is made, and Dagster is not imported in vain."""
    return (home() / "dagster.yaml").exists()


def _stored(run: str) -> Run | None:
    record = this_project().store.read_run(run)
    return _of_record(run, record) if record else None


def _of_record(run: str, record: RunRecord) -> Run:
    is_over, is_silent = record.ended is not None, record.is_silent(time.time())
    return Run(
        id=run,
        partition=record.partition,
        state=_ended(record) if is_over else "lost its process" if is_silent else "running",
        record=record,
        started=record.started,
        ended=(record.heartbeat or None) if is_silent else record.ended,
    )


def _ended(record: RunRecord) -> State:
    """Return the state in which a run ended, as far as its own record says."""
    if record.failed:
        return "failed"
    return "done" if record.labels and not record.labels.keys() - record.uses.keys() else "ended"


def _of_dagster(instance: DagsterInstance, record: DagsterRecord) -> Run:
    from translations_assets.defs.runs import stages_of
    from translations_assets.server import PARTITION_TAG

    run = record.dagster_run
    lost = LOST_TAG in run.tags or _mark_when_lost(instance, run)
    config = run.run_config.get("resources", {}) if isinstance(run.run_config, dict) else {}
    asked = RunRecord(
        stages=tuple(stages_of(instance, run)),
        options=RunOptions.from_dict(config.get("run", {}).get("config", {})),
    )
    return Run(
        id=run.run_id,
        partition=run.tags.get(PARTITION_TAG, ""),
        state="lost its process" if lost else STATES.get(run.status.value, "waiting"),
        record=asked,
        started=record.start_time,
        ended=record.end_time,
        dagster=run.status.value,
    )


def _merged(known: Run, stored: Run | None) -> Run:
    """A run with Dagster's state, and the store's record of the resources used."""
    if stored is None:
        return known
    return replace(
        known,
        record=replace(stored.record, stages=stored.record.stages or known.record.stages),
        started=known.started or stored.started,
        ended=known.ended or (stored.ended if known.is_over else None),
    )


def _request_end(instance: DagsterInstance, run: DagsterRun) -> None:
    """Through its launcher; its executor checks the status as well, so a failure here does not matter."""
    try:
        instance.run_coordinator.cancel_run(run.run_id)
    except Exception as error:
        instance.report_engine_event(f"The run's launcher cannot be reached: {error}", run)
    found = _existing(instance, run.run_id)
    if not found.is_finished and found.status.value != "CANCELING":
        instance.report_run_canceling(found)


def _existing(instance: DagsterInstance, run: str) -> DagsterRun:
    found = instance.get_run_by_id(run)
    assert found is not None  # runs are looked up before they are ended
    return found


def _mark_when_lost(instance: DagsterInstance, run: DagsterRun, canceled: bool = False) -> bool:
    """Mark a run as failed (or canceled) when its process has died; true if it was."""
    if run.is_finished or not _is_lost(run):
        return False
    found = _existing(instance, run.run_id)  # it may have ended since it was read
    if found.is_finished:
        return False
    message = "The run's process has ended: it was killed, or its machine stopped. Finished steps are kept."
    instance.add_run_tags(run.run_id, {LOST_TAG: "true"})
    if canceled or found.status.value == "CANCELING":
        instance.report_run_canceled(found, message)
    else:
        instance.report_run_failed(found, message)
    return True


def _is_over(run: DagsterRun) -> bool:
    """True if Dagster knows the run's end and so does its record, which is written a moment later."""
    if not run.is_finished:
        return False
    record = this_project().store.read_run(run.run_id)
    return record is None or record.ended is not None or _is_lost(run)


def _is_lost(run: DagsterRun) -> bool:
    ended = has_ended(run.tags.get(PROCESS_TAG, ""), run.run_id)
    if ended is not None or PROCESS_TAG not in run.tags:
        return bool(ended)
    # it runs on another machine, where only its record in the store can be read
    record = this_project().store.read_run(run.run_id)
    return bool(record and record.is_silent(time.time()))
