"""What Dagster's instance knows of runs, and ending them. Imports Dagster: import it inside functions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from dagster import AssetKey, DagsterEventType, DagsterInstance, DagsterRun, DagsterRunStatus, RunRecord
from sqlalchemy.exc import OperationalError

from translations_assets.cli.run import SILENT_SECONDS, Run, State
from translations_assets.dagster_home import home, prepare, unusable
from translations_assets.process_id import PROCESS_TAG, is_gone
from translations_assets.project import this_project
from translations_assets.records.run import RunOptions
from translations_assets.server import PARTITION_TAG

LOST_TAG = "translations/lost"  # of a run whose process was found gone
_STATES: dict[DagsterRunStatus, State] = {
    DagsterRunStatus.SUCCESS: "done",
    DagsterRunStatus.FAILURE: "failed",
    DagsterRunStatus.CANCELED: "cancelled",
    DagsterRunStatus.CANCELING: "ending",
    DagsterRunStatus.STARTED: "running",
}
_LOOK_SECONDS = 0.2


@contextmanager
def open_instance() -> Iterator[DagsterInstance]:
    """The instance in Dagster's home. Raises TranslationsError when its databases cannot be used."""
    prepare(home())
    try:
        with DagsterInstance.from_config(str(home())) as instance:
            yield instance
    except OperationalError as error:
        raise unusable(home(), error) from error


def runs(number: int) -> list[Run]:
    """The newest runs of training configs."""
    with open_instance() as instance:
        records = instance.get_run_records(limit=number)
        return [_run(instance, record) for record in records if PARTITION_TAG in record.dagster_run.tags]


def missed_gates(run: str) -> list[str]:
    """The asset checks of a run that failed or warned."""
    with open_instance() as instance:
        entries = instance.all_logs(run, of_type=DagsterEventType.ASSET_CHECK_EVALUATION)
    found = [entry.get_dagster_event().asset_check_evaluation_data for entry in entries]
    return sorted(check.check_name for check in found if not check.passed)


def get(run: str) -> Run | None:
    """A run, None when the instance does not know it."""
    with open_instance() as instance:
        record = instance.get_run_record_by_id(run)
        return _run(instance, record) if record else None


def ids() -> list[str]:
    """The ids of all runs."""
    with open_instance() as instance:
        return list(instance.get_run_ids())


def cancel(run: str, seconds: float) -> str:
    """Ask a run to end, as the UI does, and wait at most so long for its end; Dagster's status then.

    A run whose process has died is marked as cancelled.
    """
    with open_instance() as instance:
        found = _existing(instance, run)
        if not _mark_when_lost(instance, found, canceled=True) and not found.is_finished:
            _ask_to_end(instance, found)
        deadline = time.monotonic() + seconds
        while not (found := _existing(instance, run)).is_finished and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)
            _mark_when_lost(instance, found, canceled=True)
        return found.status.value


def _ask_to_end(instance: DagsterInstance, run: DagsterRun) -> None:
    """Through its launcher; its executor looks at the status as well, so any failure here is none."""
    try:
        instance.run_coordinator.cancel_run(run.run_id)
    except Exception as error:
        instance.report_engine_event(f"The run's launcher cannot be reached: {error}", run)
    asked = _existing(instance, run.run_id)
    if not asked.is_finished and asked.status is not DagsterRunStatus.CANCELING:
        instance.report_run_canceling(asked)


def _existing(instance: DagsterInstance, run: str) -> DagsterRun:
    found = instance.get_run_by_id(run)
    assert found is not None  # runs are looked up before they are ended
    return found


def _run(instance: DagsterInstance, record: RunRecord) -> Run:
    run = record.dagster_run
    lost = LOST_TAG in run.tags or _mark_when_lost(instance, run)
    return Run(
        id=run.run_id,
        partition=run.tags.get(PARTITION_TAG, ""),
        state="lost its process" if lost else _STATES.get(run.status, "waiting"),
        started=record.start_time,
        ended=record.end_time,
        dagster=run.status.value,
        process=run.tags.get(PROCESS_TAG, ""),
        selection=_selection(run),
        options=options_of(run),
    )


def options_of(run: DagsterRun) -> RunOptions:
    """What was asked of a run, as its config has it."""
    resources = run.run_config.get("resources", {}) if isinstance(run.run_config, dict) else {}
    return RunOptions.from_dict(resources.get("run", {}).get("config", {}))


def _selection(run: DagsterRun) -> tuple[str, ...]:
    return tuple(key.to_user_string() for key in run.asset_selection or () if isinstance(key, AssetKey))


def _mark_when_lost(instance: DagsterInstance, run: DagsterRun, canceled: bool = False) -> bool:
    """Mark a run as failed (or canceled) when its process has died; whether it is."""
    if run.is_finished or not _is_lost(run):
        return False
    found = _existing(instance, run.run_id)  # it may have ended between the look at it and at its process
    if found.is_finished:
        return False
    message = "The run's process is gone: it was killed, or its machine stopped. Finished steps are kept."
    instance.add_run_tags(run.run_id, {LOST_TAG: "true"})
    if canceled or found.status is DagsterRunStatus.CANCELING:
        instance.report_run_canceled(found, message)
    else:
        instance.report_run_failed(found, message)
    return True


def _is_lost(run: DagsterRun) -> bool:
    gone = is_gone(run.tags.get(PROCESS_TAG, ""), run.run_id)
    if gone is not None or PROCESS_TAG not in run.tags:
        return bool(gone)
    # it runs on another machine: only its record in the store tells
    record = this_project().store.read_run(run.run_id)
    return bool(record and record.ended is None and time.time() - record.heartbeat > SILENT_SECONDS)
