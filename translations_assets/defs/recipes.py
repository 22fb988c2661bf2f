"""Recipes: what a stage's steps are, apart from their code and the contents that reach them.

Dagster knows nothing of a partition's config, so each stage has an external upstream asset `recipe/<stage>`,
whose data version is the hash of the stage's arguments, libraries and repository files. When a config
changes, exactly the partitions and stages concerned show as stale.
"""

from collections.abc import Iterable, Iterator

import dagster as dg

from translations_assets.config.errors import ConfigError
from translations_assets.defs.partitions import TRAINING_CONFIGS
from translations_assets.defs.shared import PROJECT
from translations_assets.project import Project
from translations_assets.stages import STAGES
from translations_assets.steps.errors import TranslationsError
from translations_assets.steps.key import json_digest

DATA_VERSION_TAG = "dagster/data_version"
SENSOR_SECONDS = 30


def recipe_key(stage: str) -> dg.AssetKey:
    """The key of a stage's recipe."""
    return dg.AssetKey(["recipe", stage])


def recipe_versions(project: Project, partition: str) -> dict[str, str]:
    """Stage → data version of its recipe, for a partition as its config is now."""
    graph = project.read_graph(partition)
    return {
        stage: json_digest([[step.label, project.keys.recipe(step)] for step in steps])
        for stage, steps in graph.stages.items()
    }


def observe_recipes(instance: dg.DagsterInstance, project: Project, partitions: Iterable[str]) -> int:
    """Report recipes that differ from what was observed last; returns how many were reported."""
    reported = 0
    for partition in partitions:
        for key, version in _changed(instance, recipe_versions(project, partition), partition):
            tags = {DATA_VERSION_TAG: version}
            observation = dg.AssetObservation(asset_key=key, partition=partition, tags=tags)
            instance.report_runless_asset_event(observation)
            reported += 1
    return reported


def _changed(
    instance: dg.DagsterInstance, versions: dict[str, str], partition: str
) -> Iterator[tuple[dg.AssetKey, str]]:
    for stage, version in versions.items():
        key = recipe_key(stage)
        last = instance.get_latest_data_version_record(key, is_source=True, partition_key=partition)
        observation = last.asset_observation if last else None
        if observation is None or observation.tags.get(DATA_VERSION_TAG) != version:
            yield key, version


@dg.sensor(
    name="recipes",
    minimum_interval_seconds=SENSOR_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
)
def recipes_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Observes every partition's recipes, so that the UI shows as stale what a changed config concerns."""
    reported, problems = 0, []
    for partition in TRAINING_CONFIGS.get_partition_keys():
        try:
            reported += observe_recipes(context.instance, PROJECT, [partition])
        except (ConfigError, TranslationsError) as error:
            problems.append(f"{partition}: {error}")
    return dg.SkipReason("\n".join([f"{reported} recipes changed", *problems]))


@dg.definitions
def recipes() -> dg.Definitions:
    """The recipes as external assets, and the sensor that observes them."""
    specs = [
        dg.AssetSpec(
            recipe_key(stage),
            description=f"Arguments, libraries and files of {stage}'s steps for a training config.",
            group_name="recipes",
            partitions_def=TRAINING_CONFIGS,
        )
        for stage in STAGES
    ]
    return dg.Definitions(assets=specs, sensors=[recipes_sensor])
