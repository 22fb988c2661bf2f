"""Golden files: what Dagster loads, and the demo's graph. `make golden` renews them; read the difference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
DEMO = "en-eo.demo"


def definitions() -> dict[str, Any]:
    """Assets with their dependencies, jobs with their selections, sensors, checks, as plain values."""
    from translations_assets.definitions import defs

    repository = defs.get_repository_def()
    graph = repository.asset_graph
    return {
        "assets": {
            key.to_user_string(): {
                "group": graph.get(key).group_name,
                "executable": graph.get(key).is_executable,
                "upstream": sorted(parent.to_user_string() for parent in graph.get(key).parent_keys),
            }
            for key in sorted(graph.get_all_asset_keys(), key=lambda key: key.to_user_string())
        },
        "checks": sorted(key.to_user_string() for key in graph.asset_check_keys),
        "jobs": sorted(job.name for job in repository.get_all_jobs() if not job.name.startswith("__")),
        "sensors": sorted(sensor.name for sensor in repository.sensor_defs),
    }


def demo_graph() -> dict[str, Any]:
    """The demo's steps by label: script, inputs by label of the step that makes them, outputs, worker."""
    from translations_assets.project import Project

    graph = Project().read_graph(DEMO)
    return {
        step.label: {
            "stage": step.stage,
            "script": step.script,
            "worker": step.worker,
            "inputs": {f"{name}/{path}": output.step.label for name, path, output in step.input_outputs()},
            "outputs": list(step.outputs),
        }
        for step in graph.steps
    }


GOLDEN = {"definitions.json": definitions, "graph.en-eo.demo.json": demo_graph}


def as_text(value: Any) -> str:
    """A value as the golden files have it."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
