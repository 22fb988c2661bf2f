"""A place whose steps run on a real Slurm."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.end_to_end.tiny import Place, write_place
from tests.slurm.daemons import Slurm, variables

# `steps-per-job`: steps of a stage that are ready together share an allocation
CLASS: dict[str, Any] = {"cpus": 1, "memory": "3G", "steps-per-job": 4, "grace-seconds": 20, "max-hours": 1.0}


@dataclass(frozen=True)
class SlurmPlace(Place):
    """A place whose steps run on Slurm, with their results in a folder that all nodes see."""

    slurm: Slurm

    @property
    def environment(self) -> dict[str, str]:
        found = {**super().environment, **variables(self.slurm)}
        return {**found, "TRANSLATIONS_DEPLOYMENT": str(self.root / "deployment.yml")}


def make_slurm_place(root: Path, slurm: Slurm, **changes: Any) -> SlurmPlace:
    """A place with the tiny data, whose steps run there."""
    write_place(root)
    deployment = {
        "store": str(root / "state" / "store"),
        "runner": "slurm",
        "slurm": {
            "folder": str(root / "jobs"),
            "python": [sys.executable],
            "files": ["/"],
            "worker-classes": dict.fromkeys(("cpu", "large-cpu", "gpu", "large-gpu"), CLASS),
            **changes,
        },
    }
    (root / "deployment.yml").write_text(json.dumps(deployment))
    return SlurmPlace(root, slurm)
