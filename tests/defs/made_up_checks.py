"""Trains a made-up teacher that is worse than the backwards model, and prints what Dagster's checks say.

A process of its own, because the definitions are made from the settings when they are imported:

    python -m tests.defs.made_up_checks PARTITION

prints a JSON object for each of two runs of everything, the second with the teacher's gate turned off.
"""

import json
import sys
from typing import Any
from uuid import uuid4

import dagster as dg

from tests.defs.runner import MadeUpRunner
from translations_assets.cli.runs import missed_gates
from translations_assets.cli.runs_train import launch
from translations_assets.defs.shared import PROJECT
from translations_assets.records.run import RunOptions
from translations_assets.stages import STAGES

OFF = {"checks": {"teacher-margin": {"level": "off"}}}


def run(partition: str, options: RunOptions) -> dict[str, Any]:
    """Materialize everything; the run's status, what it made, and the evaluations of its checks."""
    session = PROJECT.session(str(uuid4()), partition, options, list(STAGES))
    ended = launch(session, lambda event: None)
    with dg.DagsterInstance.get() as instance:
        made = instance.all_logs(ended.run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION)
        checked = instance.all_logs(ended.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    evaluations = [entry.get_dagster_event().asset_check_evaluation_data for entry in checked]
    return {
        "status": ended.status.value,
        "missed": missed_gates(ended.run_id),
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


if __name__ == "__main__":
    PROJECT.__dict__["runner"] = MadeUpRunner({"train-teacher": 20.0, "train-backwards": 50.0})
    for options in (RunOptions(), RunOptions(overrides=OFF)):
        print(json.dumps(run(sys.argv[1], options)))
