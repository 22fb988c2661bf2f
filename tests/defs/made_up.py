"""Runs every asset with a runner that makes up results, and prints what Dagster then thinks of them.

A process of its own, because the definitions are made from the settings when they are imported:

    python -m tests.defs.made_up make PARTITION …   materialize everything
    python -m tests.defs.made_up look PARTITION …   tick the sensor, print {"skip", "stale": {asset: [partition]}}
"""

import hashlib
import json
import sys
import threading
from collections.abc import Callable, Sequence

import dagster as dg
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest

from translations_assets.cli.launch import launch
from translations_assets.definitions import defs
from translations_assets.defs.recipes import recipes_sensor
from translations_assets.defs.shared import PROJECT
from translations_assets.stages import STAGES
from translations_assets.steps.job import Job, JobEvent, Outcome
from translations_assets.steps.manifest import Manifest
from translations_assets.steps.protocols import Store

STATISTICS = {"lines": {"in": 3, "kept": 2, "dropped": {"empty": 1}}, "samples": ["a line"]}
SCORES = {
    "dataset": "tiny",
    "bleu": {"score": 1.0, "signature": "made up"},
    "chrf": {"score": 2.0, "signature": "made up"},
    "samples": [],
}
TRAINING = {"updates": 1, "best": {}, "curve": []}


class MadeUpRunner:
    """Finishes every job at once; what it writes depends on the job's key alone."""

    def run(
        self, job: Job, store: Store, cancel: threading.Event, on_event: Callable[[JobEvent], None]
    ) -> Outcome:
        """See `steps.protocols.Runner`."""
        on_event(JobEvent("started", job.label, {"pid": 1}))
        outputs = {name: store.add_bytes(_contents(job, name)) for name in job.outputs}
        manifest = Manifest(
            key=job.key,
            generation=job.generation,
            outputs=outputs,
            label=job.label,
            reason=job.reason,
            bundle=job.bundle,
            provenance=job.provenance,
            attempt=job.attempt,
            host="here",
            started=1.0,
            ended=2.0,
        )
        return Outcome("done", store.commit(manifest))


def _contents(job: Job, name: str) -> bytes:
    if name == "stats.json":
        return json.dumps(STATISTICS).encode()
    if name == "metrics.json":
        return json.dumps(SCORES if job.script.endswith("evaluate") else TRAINING).encode()
    return hashlib.sha256(f"{job.key} {name}".encode()).hexdigest().encode()


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
