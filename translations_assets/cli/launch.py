"""Launches a run of assets in this process; the only module of the command line that imports Dagster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dagster import AssetKey, DagsterInstance, DagsterRun, JobDefinition, execute_job, reconstructable
from sqlalchemy.exc import OperationalError

from translations_assets.dagster_home import home, unusable
from translations_assets.definitions import defs
from translations_assets.defs.shared import LISTENERS, PARTITION_TAG, REPEAT_TAG
from translations_assets.steps.engine import Listener
from translations_assets.steps.errors import TranslationsError


def all_job() -> JobDefinition:
    """The job that holds every asset."""
    return defs.resolve_job_def("all")


def launch(partition: str, stages: Iterable[str], repeat: Iterable[str], listener: Listener) -> DagsterRun:
    """Materialize the assets of stages for a partition and wait; the run as it ended.

    Raises TranslationsError when the partition was added after the definitions were loaded.
    """
    LISTENERS.append(listener)
    job = all_job()
    if job.partitions_def is None or partition not in job.partitions_def.get_partition_keys():
        raise TranslationsError(f"{partition} is no partition; is its file in a folder of training configs?")
    tags = {PARTITION_TAG: partition, REPEAT_TAG: ",".join(repeat)}
    try:
        return _execute(tags, [AssetKey(stage) for stage in stages])
    except OperationalError as error:
        raise unusable(home(), error) from error


def _execute(tags: Mapping[str, str], selection: Sequence[AssetKey]) -> DagsterRun:
    with DagsterInstance.get() as instance:
        result = execute_job(
            reconstructable(all_job),
            instance,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            tags=tags,
            asset_selection=selection,
        )
        run = instance.get_run_by_id(result.run_id)
    assert run is not None  # it has just ended
    return run
