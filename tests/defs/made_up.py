"""Runs every asset with a runner that makes up results, and prints what Dagster then thinks of them.

A process of its own, because the definitions are made from the settings when they are imported:

    python -m tests.defs.made_up make PARTITION …   materialize everything
    python -m tests.defs.made_up look PARTITION …   tick the sensor, print {"skip", "stale"} as JSON
"""

import json
import sys
from collections.abc import Sequence

import dagster as dg
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest

from tests.defs.runner import MadeUpRunner
from translations_assets.cli.launch import launch
from translations_assets.definitions import defs
from translations_assets.defs.recipes import recipes_sensor
from translations_assets.defs.shared import PROJECT
from translations_assets.stages import STAGES


def make(partitions: Sequence[str]) -> None:
    """Materialize every asset of the partitions."""
    PROJECT.__dict__["runner"] = MadeUpRunner()
    for partition in partitions:
        run = launch(partition, STAGES, (), lambda event: None)
        assert run.status is dg.DagsterRunStatus.SUCCESS, run.status


def look(partitions: Sequence[str]) -> dict[str, object]:
    """What the sensor says, and which materialized assets are stale in which partitions."""
    graph = defs.get_repository_def().asset_graph
    with dg.DagsterInstance.get() as instance:
        with dg.build_sensor_context(instance, definitions=defs) as context:
            skip = recipes_sensor(context)
        resolver = CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance))
        stale = {
            stage: [
                key for key in partitions if resolver.get_status(dg.AssetKey(stage), key) != StaleStatus.FRESH
            ]
            for stage in STAGES
        }
    assert isinstance(skip, dg.SkipReason)
    return {"skip": skip.skip_message, "stale": {stage: keys for stage, keys in stale.items() if keys}}


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2:])
    else:
        print(json.dumps(look(sys.argv[2:])))
