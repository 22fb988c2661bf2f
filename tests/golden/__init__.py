"""Golden files: what Dagster loads, the demo's graph, and a summary of the graph of every training config.

`make golden` renews them; read the difference.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from translations_assets.config.load import load_config
from translations_assets.graph.graph import Graph
from translations_assets.graph.stage import build_graph
from translations_assets.stages import STAGES

FOLDER = Path(__file__).parent
CONFIGS = sorted((FOLDER.parents[1] / "configs").glob("*.yml"))
DEMO = "en-eo.demo"


def definitions() -> str:
    """Assets with their dependencies, jobs, schedules, sensors, checks, as JSON."""
    from translations_assets.definitions import defs

    repository = defs.get_repository_def()
    graph = repository.asset_graph
    return _json(
        {
            "assets": {
                key.to_user_string(): {
                    "group": graph.get(key).group_name,
                    "kinds": sorted(graph.get(key).kinds),
                    "tags": {
                        name: value
                        for name, value in sorted(graph.get(key).tags.items())
                        if not name.startswith("dagster/")
                    },
                    "executable": graph.get(key).is_executable,
                    "upstream": sorted(parent.to_user_string() for parent in graph.get(key).parent_keys),
                }
                for key in sorted(graph.get_all_asset_keys(), key=lambda key: key.to_user_string())
            },
            "checks": sorted(key.to_user_string() for key in graph.asset_check_keys),
            "jobs": sorted(job.name for job in repository.get_all_jobs() if not job.name.startswith("__")),
            "schedules": sorted(schedule.name for schedule in repository.schedule_defs),
            "sensors": sorted(sensor.name for sensor in repository.sensor_defs),
        }
    )


def graph_of(partition: str) -> Graph:
    """The graph of a training config of the repository."""
    return build_graph(load_config(FOLDER.parents[1] / "configs" / f"{partition}.yml"), STAGES)


def demo_graph() -> str:
    """The demo's steps by label: script, inputs by label of the step that makes them, outputs, worker."""
    return _json(
        {
            step.label: {
                "stage": step.stage,
                "script": step.script,
                "worker": step.worker,
                "inputs": {
                    f"{name}/{path}": output.step.label for name, path, output in step.input_outputs()
                },
                "outputs": list(step.outputs),
            }
            for step in graph_of(DEMO).steps
        }
    )


def _summary(partition: str) -> str:
    from tests.golden.summary import summary

    return summary(graph_of(partition))


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


GOLDEN: dict[str, Callable[[], str]] = {
    "definitions.json": definitions,
    "graph.en-eo.demo.json": demo_graph,
    **{f"summary.{path.stem}.txt": partial(_summary, path.stem) for path in CONFIGS},
}


def present() -> list[Path]:
    """The golden files that are there."""
    return sorted([*FOLDER.glob("*.json"), *FOLDER.glob("*.txt")])
