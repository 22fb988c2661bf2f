"""Runs assets in this process, as a Dagster run whose id is known before it starts.

Dagster's `execute_job` tells a run's id only at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from dagster import AssetKey, DagsterInstance, DagsterRun, JobDefinition, reconstructable

# Runs a job whose run the instance already has.
from dagster._core.execution.api import execute_run

from translations_assets.process_id import PROCESS_TAG, this_process


def create_run(
    instance: DagsterInstance,
    job: Callable[[], JobDefinition],
    selection: Iterable[AssetKey],
    *,
    run_id: str,
    config: Mapping[str, object],
    tags: Mapping[str, str],
    parent: str | None = None,
) -> DagsterRun:
    """A run of assets that this process is going to run; `parent` is the id of the run that it repeats."""
    repeated = instance.get_run_by_id(parent) if parent else None
    chosen = reconstructable(job).get_subset(asset_selection=frozenset(selection))
    run = instance.create_run_for_job(
        job_def=chosen.get_definition(),
        run_id=run_id,
        run_config=config,
        tags=tags,
        asset_selection=set(selection),
        root_run_id=(repeated.root_run_id or repeated.run_id) if repeated else None,
        parent_run_id=repeated.run_id if repeated else None,
        job_code_origin=chosen.get_python_origin(),
    )
    instance.add_run_tags(run.run_id, {PROCESS_TAG: this_process(run.run_id)})
    return run


def run_created(instance: DagsterInstance, job: Callable[[], JobDefinition], run: DagsterRun) -> DagsterRun:
    """Run what `create_run` created, and wait; the run as it ended."""
    chosen = reconstructable(job).get_subset(asset_selection=run.asset_selection)
    execute_run(chosen, run, instance)
    ended = instance.get_run_by_id(run.run_id)
    assert ended is not None  # it has just ended
    return ended
