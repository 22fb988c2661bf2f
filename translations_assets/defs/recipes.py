"""Recipes: what a stage's steps are, apart from the contents that reach them.

Dagster knows nothing of a partition's config, and its code versions are the same for all partitions. So each
stage has an external upstream asset `recipe/<stage>`, whose data version in a partition is the hash of the
stage's code, arguments, libraries and repository files there. When a config or a script changes, exactly the
partitions and stages concerned show as stale. See docs/decisions/0010-recipes.md.

The sensor observes the recipes of the training configs and the code that have changed. What it has seen
stands in its cursor: for each partition the state of config and code, and what is wrong with the config. So a
tick without a change reads no config and asks no event log, also after a restart.
"""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import dagster as dg

from translations_assets.common.errors import StoreUnreachable, TranslationsError
from translations_assets.config.errors import ConfigError
from translations_assets.configs.training_configs import ReadConfig
from translations_assets.defs.changes import RECIPES, changes_metadata, recipe_key, what_changed
from translations_assets.defs.shared import PROJECT, TRAINING_CONFIGS
from translations_assets.graph.graph import Graph
from translations_assets.keys.key import KeyMaker
from translations_assets.records.canonical import json_digest
from translations_assets.running.session import Session
from translations_assets.stages import ASSETS
from translations_assets.why.explain import NO_EARLIER, Explainer, known_parts

DATA_VERSION_TAG = "dagster/data_version"
# Tags of a materialization, with an input's key: the data version that was used, and the event that told it.
INPUT_VERSION_TAG, INPUT_EVENT_TAG = "dagster/input_data_version", "dagster/input_event_pointer"
EXPLAINED = 20  # steps of a stage of which an observation says what changed
SHOWN = 10  # lines of that
SENSOR_SECONDS = 30
WORK_SECONDS = 25.0  # of one tick; the next one goes on, and Dagster ends a tick at 60 s


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
        explainer = PROJECT.explainer(config.config, PROJECT.history(partition), keys)
        for stage, version in changed.items():
            _observe(instance, stage, partition, version, _what_changed(explainer, graph, keys, stage))
    return len(changed)


def recipe_tags(instance: dg.DagsterInstance, session: Session, stage: str) -> dict[str, str]:
    """Tags of a materialization that say by which recipe it was made.

    Dagster would take the recipe that was observed last. That is another one when the config was edited since
    the run began, or when the run overrides parts of it. It is observed again then: the asset shows as stale.
    """
    version = recipe_version(session.graph, session.keys, stage)
    key = recipe_key(stage)
    observed, event = _observed(instance, stage, session.partition)
    if observed != version:
        changed = what_changed(instance, key, session.partition)
        _observe(instance, stage, session.partition, version, ["used by a run that is under way"])
        _, event = _observed(instance, stage, session.partition)
        if observed:
            _observe(instance, stage, session.partition, observed, changed)
    name = key.to_user_string()
    return {f"{INPUT_VERSION_TAG}/{name}": version, f"{INPUT_EVENT_TAG}/{name}": str(event)}


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
            metadata=changes_metadata(changed),
        )
    )


def _what_changed(explainer: Explainer, graph: Graph, keys: KeyMaker, stage: str) -> list[str]:
    """Describe how the stage's steps differ from their nearest earlier artifacts, apart from inputs."""
    steps = graph.stages[stage]
    lines: dict[str, None] = {}
    for step in steps[:EXPLAINED]:
        found = explainer.explain(step, known_parts(keys, step, {}))
        lines.update(dict.fromkeys(found.differences if found.earlier else [NO_EARLIER]))
    if not steps:
        return ["no steps"]
    return list(lines)[:SHOWN] or ["nothing since the newest artifacts"]


def make_recipe(stage: str) -> dg.AssetSpec:
    """A stage's recipe, as an external asset."""
    return dg.AssetSpec(
        recipe_key(stage),
        description=f"Code, arguments, libraries and files of {stage}'s steps for a training config.",
        group_name=RECIPES,
        partitions_def=TRAINING_CONFIGS,
    )


def file_state(*folders: Path) -> dict[str, str]:
    """Path → time of change and size, of all files below folders but Python's caches."""
    files = (path for folder in folders for path in folder.rglob("*") if "__pycache__" not in path.parts)
    found = {path: path.stat() for path in files if path.is_file()}
    return {str(path): f"{status.st_mtime_ns} {status.st_size}" for path, status in found.items()}


# What graphs are built by; a process that has loaded it cannot follow when it changes.
_BUILDERS = [Path(__file__).parents[1] / name for name in ("config", "stages", "graph", "records", "keys")]
_LOADED = file_state(*_BUILDERS)


class Seen(NamedTuple):
    """The state in which a partition's recipes were observed, and why they could not be; "" if they were."""

    state: str
    problem: str


class CurrentKeys:
    """Keys of the code as it is at the moment: made again when a file of it has changed."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._keys: KeyMaker | None = None
        self.state = ""

    def get(self) -> KeyMaker:
        """The keys of the code as it is now; `state` then stands for that code and for what builds graphs."""
        code = file_state(self._root / "pipeline", self._root / "requirements")
        state = json_digest([code, _LOADED])
        if self._keys is None or state != self.state:
            self._keys, self.state = KeyMaker(self._root, PROJECT.files), state
        return self._keys


_KEYS = CurrentKeys(PROJECT.root)


@dg.sensor(
    name="recipes", minimum_interval_seconds=SENSOR_SECONDS, default_status=dg.DefaultSensorStatus.RUNNING
)
def recipes_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Observes recipes of what has changed, so that the UI shows as stale what a change concerns.

    The tick fails while the store is away: the UI shows that in red, with the reason.
    """
    if file_state(*_BUILDERS) != _LOADED:
        return dg.SkipReason("The code that builds graphs has changed. Reload the code location.")
    found = PROJECT.configs.partitions()
    if found.away:
        raise StoreUnreachable(
            f"The store is away. Runs wait for it, and what is stale is not known meanwhile. {found.away}"
        )
    loaded = TRAINING_CONFIGS.get_partition_keys()
    keys = _KEYS.get()
    states = {key: json_digest([found.states.get(key), _KEYS.state]) for key in loaded}
    seen = {key: Seen(*known) for key, known in json.loads(context.cursor or "{}").items() if key in states}
    changed = [key for key in loaded if key not in seen or seen[key].state != states[key]]
    reported = _observe_changed(context.instance, changed, states, keys, seen)
    context.update_cursor(json.dumps(seen))
    return dg.SkipReason("\n".join(_report(reported, changed, states, seen, found.states.keys() - states)))


def _observe_changed(
    instance: dg.DagsterInstance,
    changed: list[str],
    states: dict[str, str],
    keys: KeyMaker,
    seen: dict[str, Seen],
) -> int:
    """Observe recipes for as long as a tick may take, and note what was seen; how many were reported."""
    end, reported = time.monotonic() + WORK_SECONDS, 0
    observed = observed_versions(instance, ASSETS, changed) if changed else {}
    for partition in changed:
        if time.monotonic() > end:
            break
        problem = ""
        try:
            read = PROJECT.configs.read(partition)
            reported += observe_recipes(instance, read, keys, observed=observed[partition])
        except StoreUnreachable:
            raise
        except (ConfigError, TranslationsError) as error:
            problem = f"{partition}: {error}"
        seen[partition] = Seen(states[partition], problem)
    return reported


def _report(
    reported: int, changed: list[str], states: dict[str, str], seen: dict[str, Seen], new: set[str]
) -> list[str]:
    """Describe the findings of a tick."""
    left = [key for key in changed if key not in seen or seen[key].state != states[key]]
    lines = [f"{reported} recipes changed"]
    if left:
        lines.append(f"{len(left)} of {len(states)} training configs are left for the next tick")
    if new:
        lines.append(f"New training configs: {', '.join(sorted(new))}. Reload the code location to see them.")
    return [*lines, *(known.problem for known in seen.values() if known.problem)]
