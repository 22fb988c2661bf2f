"""The resource that begins and ends a run, and holds what was asked of it."""

import logging
from collections.abc import Iterator

import dagster as dg
from dagster import InitResourceContext

from translations_assets.config.errors import ConfigError
from translations_assets.defs.notes import tell_notes
from translations_assets.defs.recipes import observe_recipes
from translations_assets.defs.shared import PROJECT
from translations_assets.errors import TranslationsError
from translations_assets.records.run import OPTIONS, RunOptions
from translations_assets.server import PARTITION_TAG
from translations_assets.stages import ASSETS, STAGES

KINDS = {str: str, bool: bool, dict: dg.Permissive()}  # type: ignore[no-untyped-call]
CONFIG = {
    name: dg.Field(KINDS[type(option.default)], default_value=option.default, description=option.help)
    for name, option in OPTIONS.items()
}


# A function and no ConfigurableResource: with that, Dagster reads what Pydantic has deprecated, and warns.
@dg.resource(config_schema=CONFIG, description="What was asked of the run; it begins and ends with this.")
def run(context: InitResourceContext) -> Iterator[RunOptions]:
    """Called by Dagster once per run.

    Dagster notes an asset's upstream data versions when the asset starts; a recipe that is observed later
    would show what was just made as stale.
    """
    options = RunOptions.from_dict(context.resource_config)
    log = context.log or logging.getLogger(__name__)
    dagster_run = context.dagster_run
    partition = dagster_run.tags.get(PARTITION_TAG) if dagster_run else None
    if not dagster_run or not partition or not context.instance:
        yield options
        return
    try:
        session = PROJECT.session(dagster_run.run_id, partition, options, _stages(dagster_run))
        session.continues = _continued(context.instance, dagster_run)
        tell_notes(context.instance, dagster_run.run_id, log, session.notes)
        if not options.overrides:  # the recipes are those of the config
            stages = [stage for stage in session.stages if stage in ASSETS]
            observe_recipes(context.instance, PROJECT, session, session.keys, stages)
        session.keep_alive()
        for warning in session.warnings:
            log.warning(warning)
    except (ConfigError, TranslationsError) as error:  # the assets tell it once more, and fail
        log.warning("The run of %s cannot begin: %s", partition, error)
    try:
        yield options
    finally:
        PROJECT.end_sessions(dagster_run.run_id)


def _continued(instance: dg.DagsterInstance, dagster_run: dg.DagsterRun) -> list[str]:
    """The runs that a re-execution goes back to: its parent, that one's parent, and so on."""
    earlier: list[str] = []
    parent = dagster_run.parent_run_id
    while parent and parent not in earlier:
        earlier.append(parent)
        found = instance.get_run_by_id(parent)
        parent = found.parent_run_id if found else None
    return earlier


def _stages(dagster_run: dg.DagsterRun) -> list[str]:
    """The stages of the run's selection; all when it has none."""
    selected = dagster_run.asset_selection
    if selected is None:
        return list(STAGES)
    names = {key.to_user_string() for key in selected}
    if dagster_run.step_keys_to_execute:  # a re-execution from failure
        names &= set(dagster_run.step_keys_to_execute)
    return [name for name, stage in STAGES.items() if name in names or stage.checks in names]


def resources() -> dg.Definitions:
    """The resources of all definitions."""
    return dg.Definitions(resources={"run": run})
