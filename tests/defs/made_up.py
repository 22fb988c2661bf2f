"""Runs every asset with a runner that makes up results, and prints what Dagster then thinks of them.

A process of its own, because the definitions are made from the settings when they are imported:

    python -m tests.defs.made_up make PARTITION …   materialize everything; print a JSON object for each run
    python -m tests.defs.made_up look PARTITION …   tick the sensor, print {"skip", "stale", "said"} as JSON

The teacher that `make` makes up is worse than the backwards model: of the first partition there is a run that
its gate stops, then one with that gate turned off up to the exported student's evaluation, without the float
one's, then, as of the others, one of everything; at last, of a variant whose teacher has other options, one
that the gate stops and one with it turned off.

`look` reads standard input: for each line, the JSON of a list of edits [file, old text, new text], it makes
those edits and looks again. CODE names another folder with the scripts.
"""

import json
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import dagster as dg
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest

from tests.defs.runner import MadeUpRunner
from translations_assets.cli.common import known_runs
from translations_assets.cli.runs_end import gates_missed, next_steps
from translations_assets.cli.runs_train import launch
from translations_assets.definitions import defs
from translations_assets.defs import recipes
from translations_assets.defs.changes import recipe_key
from translations_assets.defs.shared import PROJECT
from translations_assets.records.run import RunOptions
from translations_assets.stages import ASSETS

VARIANT = {"marian-args.training-teacher.after": "21u"}
OFF = {"checks": {"teacher-margin": {"level": "off"}}}


def make(partitions: Sequence[str]) -> None:
    """Materialize every asset of the partitions."""
    PROJECT.__dict__["runner"] = MadeUpRunner({"train-teacher": 20.0, "train-backwards": 50.0})
    print(json.dumps(run(partitions[0], RunOptions())))
    print(json.dumps(run(partitions[0], RunOptions(overrides=OFF), "evaluate_exported")))
    for partition in partitions:
        whole = run(partition, RunOptions(overrides=OFF))
        assert whole["status"] == "SUCCESS", whole
        print(json.dumps(whole))
    for options in (VARIANT, {**VARIANT, **OFF}):
        print(json.dumps(run(partitions[0], RunOptions(overrides=options), "evaluate_teacher")))


def run(partition: str, options: RunOptions, target: str | None = None) -> dict[str, Any]:
    """Materialize all up to a target; the run's status, what it made, and the evaluations of its checks."""
    read = PROJECT.configs.read(partition, options.overrides)
    session = PROJECT.session(str(uuid4()), read, options, read.graph.up_to(target))
    ended = launch(session, lambda event: None)
    with dg.DagsterInstance.get() as instance:
        made = instance.all_logs(ended.run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION)
        checked = instance.all_logs(ended.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    evaluations = [entry.get_dagster_event().asset_check_evaluation_data for entry in checked]
    return {
        "status": ended.status.value,
        "missed": gates_missed(ended.run_id),
        "next": [] if ended.is_success else [*next_steps(known_runs().get(ended.run_id))],
        "made": sorted({entry.asset_key.to_user_string() for entry in map(_event, made) if entry.asset_key}),
        "checks": {
            f"{found.asset_key.to_user_string()} {found.check_name}": {
                "passed": found.passed,
                "severity": found.severity.value,
                "description": found.description,
                "partition": found.partition,
                "metadata": {name: value.value for name, value in found.metadata.items()},
            }
            for found in evaluations
        },
    }


def _event(entry: dg.EventLogEntry) -> dg.DagsterEvent:
    return entry.get_dagster_event()


def look(partitions: Sequence[str]) -> dict[str, object]:
    """Result of the sensor, and the stale materialized assets by partition, with reasons."""
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
    """Message of the newest observation of a stage's recipe in a partition."""
    record = instance.get_latest_data_version_record(
        recipe_key(stage), is_source=True, partition_key=partition
    )
    assert record is not None
    assert record.asset_observation is not None
    return str(record.asset_observation.metadata["what changed"].value)


def looks(partitions: Sequence[str]) -> None:
    """Print what `look` finds, now and after each line of edits, however long a tick takes here."""
    setattr(recipes, "WORK_SECONDS", math.inf)  # noqa: B010
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
