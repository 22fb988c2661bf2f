"""Dagster's side of runs: a run as its instance has it, its end, and the mark of one that is lost."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from translations_assets.instance.process_id import PROCESS_TAG, has_ended
from translations_assets.instance.server import PARTITION_TAG
from translations_assets.records.run import RunOptions, RunRecord
from translations_assets.running.protocols import Store
from translations_assets.runs.run import STATES, Run
from translations_assets.stages import STAGES

if TYPE_CHECKING:
    from dagster import DagsterInstance, DagsterRun
    from dagster import RunRecord as DagsterRecord


LOST_TAG = "translations/lost"
"""Tag of a run whose process was found to have ended: the run's id, as Dagster copies tags to reruns."""


def run_of_dagster(instance: DagsterInstance, store: Store, found: DagsterRecord) -> Run:
    """A run as far as Dagster's instance knows it. One whose process has died is marked there."""
    run = found.dagster_run
    lost = _is_marked(run) or mark_when_lost(instance, store, run)
    config = run.run_config.get("resources", {}) if isinstance(run.run_config, dict) else {}
    return Run(
        id=run.run_id,
        partition=run.tags.get(PARTITION_TAG, ""),
        state="lost its process" if lost else STATES.get(run.status.value, "waiting"),
        record=RunRecord(
            stages=tuple(stages_of(instance, run)),
            options=RunOptions.from_dict(config.get("run", {}).get("config", {})),
        ),
        started=found.start_time,
        ended=found.end_time,
        dagster=run.status.value,
    )


def stages_of(instance: DagsterInstance, run: DagsterRun) -> list[str]:
    """The stages of a run: those of its selection, of its job, or of what is repeated of another run."""
    names = set(run.step_keys_to_execute or ())  # a re-execution from failure
    if not names and run.asset_selection:
        names = {key.to_user_string() for key in run.asset_selection}
    elif not names and (plan := run.execution_plan_snapshot_id):
        names = set(instance.get_execution_plan_snapshot(plan).step_keys_to_execute)
    asked = {stage for stage in STAGES if stage in names or checks_of(stage) in names}
    return [name for name, stage in STAGES.items() if name in asked or stage.checks in asked]


def checks_of(stage: str) -> str:
    """The step of a Dagster run that judges a stage by its gates, and may be the only one of a run."""
    return f"checks_of_{stage}"


def existing(instance: DagsterInstance, run: str) -> DagsterRun:
    """Dagster's run with an id that it knows, as it is now."""
    found = instance.get_run_by_id(run)
    assert found is not None
    return found


def request_end(instance: DagsterInstance, run: DagsterRun) -> None:
    """Ask a run to end, through its launcher; its executor checks the status as well, so a failure here
    does not matter.
    """
    try:
        instance.run_coordinator.cancel_run(run.run_id)
    except Exception as error:
        instance.report_engine_event(f"The run's launcher cannot be reached: {error}", run)
    found = existing(instance, run.run_id)
    if not found.is_finished and found.status.value != "CANCELING":
        instance.report_run_canceling(found)


def mark_when_lost(instance: DagsterInstance, store: Store, run: DagsterRun, canceled: bool = False) -> bool:
    """Mark a run as failed (or canceled) when its process has died; true if it was."""
    if run.is_finished or not _is_lost(store, run):
        return False
    found = existing(instance, run.run_id)  # it may have ended since it was read
    if found.is_finished:
        return False
    message = "The run's process has ended: it was killed, or its machine stopped. Finished steps are kept."
    instance.add_run_tags(run.run_id, {LOST_TAG: run.run_id})
    if canceled or found.status.value == "CANCELING":
        instance.report_run_canceled(found, message)
    else:
        instance.report_run_failed(found, message)
    return True


def _is_marked(run: DagsterRun) -> bool:
    mark = run.tags.get(LOST_TAG)
    failed = run.is_finished and run.status.value != "SUCCESS"
    return mark == run.run_id or (mark == "true" and failed)  # as marks were before they named the run


def is_over(store: Store, run: DagsterRun) -> bool:
    """True if Dagster knows the run's end and so does its record, which is written a moment later."""
    if not run.is_finished:
        return False
    record = store.read_run(run.run_id)
    return record is None or record.ended is not None or _is_lost(store, run)


def _is_lost(store: Store, run: DagsterRun) -> bool:
    ended = has_ended(run.tags.get(PROCESS_TAG, ""), run.run_id)
    if ended is not None or PROCESS_TAG not in run.tags:
        return bool(ended)
    # it runs on another machine, where only its record in the store can be read
    record = store.read_run(run.run_id)
    return bool(record and record.is_silent(time.time()))
