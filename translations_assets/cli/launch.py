"""Launches a run of assets in this process. Imports Dagster: import it inside functions."""

from __future__ import annotations

from collections.abc import Callable

from dagster import AssetKey, DagsterRun, JobDefinition

from translations_assets.cli.instance import open_instance
from translations_assets.definitions import defs
from translations_assets.defs.runs import create_run, run_created
from translations_assets.defs.shared import LISTENERS
from translations_assets.errors import TranslationsError
from translations_assets.running.engine import Listener
from translations_assets.running.session import Session
from translations_assets.server import PARTITION_TAG
from translations_assets.stages import ASSETS


def all_job() -> JobDefinition:
    """The job that holds every asset."""
    return defs.resolve_job_def("all")


def launch(
    session: Session,
    listener: Listener,
    begin: Callable[[str], None] = lambda run: None,
    parent: str | None = None,
) -> DagsterRun:
    """Materialize the assets of a session's stages, with their checks, and wait; the run as it ended.

    The run takes over the session of its id that this process's project has. `begin` is told the run's id
    before it starts. `parent` is the id of a run that this one repeats. Raises TranslationsError when the
    partition was added after the definitions were loaded.
    """
    job, partition = all_job(), session.partition
    if job.partitions_def is None or partition not in job.partitions_def.get_partition_keys():
        raise TranslationsError(f"{partition} is no partition; is its file in a folder of training configs?")
    config = {
        "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
        "resources": {"run": {"config": session.options.to_dict()}},
    }
    selection = [AssetKey(stage) for stage in session.stages if stage in ASSETS]
    LISTENERS.append(listener)
    try:
        with open_instance() as instance:
            tags = {PARTITION_TAG: partition}
            run = create_run(
                instance, all_job, selection, run_id=session.run, config=config, tags=tags, parent=parent
            )
            begin(run.run_id)
            return run_created(instance, all_job, run)
    finally:
        LISTENERS.remove(listener)
