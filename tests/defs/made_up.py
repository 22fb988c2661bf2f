"""Runs every asset with a runner that makes up results, and prints what Dagster then thinks of them.

A process of its own, because the definitions are made from the settings when they are imported:

    python -m tests.defs.made_up make PARTITION …   materialize everything
    python -m tests.defs.made_up look PARTITION …   tick the sensor, print {"skip", "stale", "said"} as JSON

`look` reads standard input: for each line, the JSON of a list of edits [file, old text, new text], it makes
those edits and looks again. CODE names another folder with the scripts.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import dagster as dg
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest

from tests.defs.runner import MadeUpRunner
from translations_assets.cli.runs_train import launch
from translations_assets.definitions import defs
from translations_assets.defs import recipes
from translations_assets.defs.recipes import recipe_key
from translations_assets.defs.shared import PROJECT
from translations_assets.records.run import RunOptions
from translations_assets.stages import ASSETS


def make(partitions: Sequence[str]) -> None:
    """Materialize every asset of the partitions."""
    PROJECT.__dict__["runner"] = MadeUpRunner()
    for partition in partitions:
        session = PROJECT.session(str(uuid4()), partition, RunOptions(), list(ASSETS))
        run = launch(session, lambda event: None)
        assert run.status is dg.DagsterRunStatus.SUCCESS, run.status


def look(partitions: Sequence[str]) -> dict[str, object]:
    """What the sensor says, which materialized assets are stale in which partitions, and why."""
    graph = defs.get_repository_def().asset_graph
    with dg.DagsterInstance.get() as instance:
        with dg.build_sensor_context(instance, definitions=defs) as context:
            skip = recipes.recipes_sensor(context)
        resolver = CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance))
        stale = {
            stage: [
                key for key in partitions if resolver.get_status(dg.AssetKey(stage), key) != StaleStatus.FRESH
            ]
            for stage in ASSETS
        }
        stale = {stage: keys for stage, keys in stale.items() if keys}
        said = {stage: _said(instance, stage, keys[-1]) for stage, keys in stale.items()}
    assert isinstance(skip, dg.SkipReason)
    return {"skip": skip.skip_message, "stale": stale, "said": said}


def _said(instance: dg.DagsterInstance, stage: str, partition: str) -> str:
    """What the newest observation of a stage's recipe says in a partition."""
    record = instance.get_latest_data_version_record(
        recipe_key(stage), is_source=True, partition_key=partition
    )
    assert record is not None
    assert record.asset_observation is not None
    return str(record.asset_observation.metadata["what changed"].value)


def looks(partitions: Sequence[str]) -> None:
    """Print what `look` finds, now and after each line of edits."""
    if "CODE" in os.environ:
        setattr(recipes, "_KEYS", recipes.CurrentKeys(Path(os.environ["CODE"])))  # noqa: B010
    print(json.dumps(look(partitions)))
    for line in sys.stdin:
        for name, old, new in json.loads(line):
            text = Path(name).read_text()
            assert old in text, name
            Path(name).write_text(text.replace(old, new))
        print(json.dumps(look(partitions)))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2:])
    else:
        looks(sys.argv[2:])
