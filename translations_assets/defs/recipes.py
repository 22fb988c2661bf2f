"""Recipes: what a stage's steps are, apart from the contents that reach them.

Dagster knows nothing of a partition's config, and its code versions are the same for all partitions. So each
stage has an external upstream asset `recipe/<stage>`, whose data version in a partition is the hash of the
stage's code, arguments, libraries and repository files there. When a config or a script changes, exactly the
partitions and stages concerned show as stale. See docs/decisions/0010-recipes.md.
"""

from collections.abc import Iterable, Mapping, Sequence

import dagster as dg
from dagster._core.definitions.data_version import get_input_data_version_tag, get_input_event_pointer_tag

from translations_assets.defs.partitions import TRAINING_CONFIGS
from translations_assets.graph.graph import Graph
from translations_assets.keys.key import KeyMaker
from translations_assets.project import Project, ReadConfig
from translations_assets.records.canonical import json_digest
from translations_assets.running.session import Session
from translations_assets.stages import ASSETS
from translations_assets.why.explain import NO_EARLIER, Explainer, known_parts

DATA_VERSION_TAG = "dagster/data_version"
EXPLAINED = 20  # steps of a stage of which an observation says what changed
SHOWN = 10  # lines of that


def recipe_key(stage: str) -> dg.AssetKey:
    """The key of a stage's recipe."""
    return dg.AssetKey(["recipe", stage])


def recipe_version(graph: Graph, keys: KeyMaker, stage: str) -> str:
    """The data version of a stage's recipe."""
    return json_digest([[step.label, keys.recipe(step)] for step in graph.stages[stage]])


def recipe_versions(graph: Graph, keys: KeyMaker, stages: Iterable[str] = ASSETS) -> dict[str, str]:
    """Stage → data version of its recipe."""
    return {stage: recipe_version(graph, keys, stage) for stage in stages}


def observed_versions(
    instance: dg.DagsterInstance, stages: Iterable[str], partitions: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Partition → stage → data version of its recipe that was observed last; one query a stage."""
    observed: dict[str, dict[str, str]] = {partition: {} for partition in partitions}
    for stage in stages:
        tags = instance.event_log_storage.get_latest_tags_by_partition(
            recipe_key(stage), dg.DagsterEventType.ASSET_OBSERVATION, [DATA_VERSION_TAG], partitions
        )
        for partition, values in tags.items():
            observed[partition][stage] = values[DATA_VERSION_TAG]
    return observed


def observe_recipes(
    instance: dg.DagsterInstance,
    project: Project,
    config: ReadConfig | Session,
    keys: KeyMaker,
    stages: Iterable[str] = ASSETS,
    observed: Mapping[str, str] | None = None,
) -> int:
    """Report recipes of a config's stages that differ from those observed last; how many these are.

    `observed` is what `observed_versions` has for the partition, for a caller who asks for several at once.
    """
    graph, partition = config.graph, config.partition
    versions = recipe_versions(graph, keys, stages)
    if observed is None:
        observed = observed_versions(instance, versions, [partition])[partition]
    changed = {stage: version for stage, version in versions.items() if observed.get(stage) != version}
    if changed:
        explainer = project.explainer(graph, project.history(partition), keys)
        for stage, version in changed.items():
            _observe(instance, stage, partition, version, _what_changed(explainer, graph, keys, stage))
    return len(changed)


def recipe_tags(instance: dg.DagsterInstance, session: Session, stage: str) -> dict[str, str]:
    """Tags of a materialization that say by which recipe it was made.

    Dagster would take the recipe that was observed last. That is another one when the config was edited since
    the run began, or when the run overrides parts of it. It is observed again then: the asset shows as stale.
    """
    version = recipe_version(session.graph, session.keys, stage)
    observed, event = _observed(instance, stage, session.partition)
    if observed != version:
        _observe(instance, stage, session.partition, version, ["used by a run that is under way"])
        _, event = _observed(instance, stage, session.partition)
        if observed:
            _observe(instance, stage, session.partition, observed, ["of the training config as it is now"])
    key = recipe_key(stage)
    return {get_input_data_version_tag(key): version, get_input_event_pointer_tag(key): str(event)}


def _observed(instance: dg.DagsterInstance, stage: str, partition: str) -> tuple[str, int | None]:
    """The recipe's data version that was observed last, and the number of that event."""
    last = instance.get_latest_data_version_record(recipe_key(stage), is_source=True, partition_key=partition)
    observation = last.asset_observation if last else None
    if last is None or observation is None:
        return "", None
    return observation.tags.get(DATA_VERSION_TAG, ""), last.storage_id


def _observe(
    instance: dg.DagsterInstance, stage: str, partition: str, version: str, changed: Iterable[str]
) -> None:
    instance.report_runless_asset_event(
        dg.AssetObservation(
            asset_key=recipe_key(stage),
            partition=partition,
            tags={DATA_VERSION_TAG: version},
            metadata={"what changed": dg.MetadataValue.md("\n".join(f"* {line}" for line in changed))},
        )
    )


def _what_changed(explainer: Explainer, graph: Graph, keys: KeyMaker, stage: str) -> list[str]:
    """How the stage's steps differ from their nearest earlier artifacts, inputs left out."""
    steps = graph.stages[stage]
    lines: dict[str, None] = {}
    for step in steps[:EXPLAINED]:
        found = explainer.explain(step, known_parts(keys, step, {}))
        lines.update(dict.fromkeys(found.differences if found.earlier else [NO_EARLIER]))
    if not steps:
        return ["no steps"]
    return list(lines)[:SHOWN] or ["nothing since the newest artifacts"]


def recipes() -> dg.Definitions:
    """The recipes as external assets."""
    specs = [
        dg.AssetSpec(
            recipe_key(stage),
            description=f"Code, arguments, libraries and files of {stage}'s steps for a training config.",
            group_name="recipes",
            partitions_def=TRAINING_CONFIGS,
        )
        for stage in ASSETS
    ]
    return dg.Definitions(assets=specs)
