"""The resource that begins a run."""

import dagster as dg
from dagster import InitResourceContext

from translations_assets.config.errors import ConfigError
from translations_assets.defs.recipes import observe_recipes
from translations_assets.defs.shared import PARTITION_TAG, PROJECT
from translations_assets.steps.errors import TranslationsError


# A function and no ConfigurableResource: with that, Dagster reads what Pydantic has deprecated, and warns.
@dg.resource(description="Observes the recipes of the run's partition before its first asset starts.")
def run_start(context: InitResourceContext) -> None:
    """Called by Dagster once per run.

    Dagster notes an asset's upstream data versions when the asset starts; a recipe that is observed later
    would show what was just made as stale.
    """
    partition = context.dagster_run.tags.get(PARTITION_TAG) if context.dagster_run else None
    if not partition or not context.instance:
        return
    try:
        observe_recipes(context.instance, PROJECT, [partition])
    except (ConfigError, TranslationsError) as error:  # the assets tell it once more, and fail
        if context.log:
            context.log.warning(f"The recipes of {partition} cannot be observed: {error}")


@dg.definitions
def resources() -> dg.Definitions:
    """The resources of all definitions."""
    return dg.Definitions(resources={"run_start": run_start})
