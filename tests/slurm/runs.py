"""The same steps by every runner: each run is a process of its own, whose cost is measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.end_to_end.on_cluster import Site
from tests.slurm.daemons import Slurm, variables
from tests.slurm.orchestrator import LONG_CLASS, write_settings
from translations_assets.config.deployment import Slurm as Settings
from translations_assets.running.protocols import Store
from translations_assets.store.local import LocalStore

Made = Mapping[str, tuple[str, dict[str, str]]]
_WORKER_CLASS = {"cpus": 1, "memory": "500M", "grace-seconds": 10, "max-hours": 1.0}


@dataclass(frozen=True)
class Ran:
    """What a run has made, and its cost.

    made      label → key, and the digests of outputs
    cpu       seconds of processor of the orchestrator
    commands  how often it ran each of Slurm's
    """

    made: Made
    cpu: float
    commands: Mapping[str, int]


def on_slurm(folder: Path, slurm: Slurm, texts: int, pace: float, **worker_class: Any) -> Ran:
    """Make steps on Slurm."""
    write_settings(folder, slurm_settings(folder, slurm, **worker_class), texts, 0, pace)
    return _run(folder, variables(slurm), LocalStore(folder / "state" / "store"))


def on_cluster(folder: Path, site: Site, texts: int, pace: float, **worker_class: Any) -> Ran:
    """Make steps on Kubernetes."""
    write_settings(folder, None, texts, 0, pace)
    classes = site.deployment()["kubernetes"]["worker-classes"]
    classes["cpu"] |= worker_class
    settings = site.write_deployment(folder / "deployment.yml", **{"worker-classes": classes})
    return _run(folder, settings, site.store)


def here(folder: Path, texts: int, pace: float) -> Ran:
    """Make steps on this machine."""
    write_settings(folder, None, texts, 0, pace)
    return _run(folder, {}, LocalStore(folder / "state" / "store"))


def slurm_settings(folder: Path, slurm: Slurm, **worker_class: Any) -> Settings:
    """The deployment of a run in a folder; its class of long steps is in the better partition."""
    return Settings.model_validate(
        {
            "folder": str(folder / "jobs"),
            "python": [sys.executable],
            "partition": "spare",
            "worker-classes": {
                "cpu": {**_WORKER_CLASS, **worker_class},
                LONG_CLASS: {**_WORKER_CLASS, "partition": "main", "grace-seconds": 50},
            },
            **({"account": "lab"} if slurm.has_accounts else {}),
        }
    )


def made_in(store: Store) -> Made:
    """Label → key, and the digests of outputs, of what a store has."""
    return {
        manifest.label: (manifest.key, {name: blob.digest for name, blob in manifest.outputs.items()})
        for manifest in store.manifests()
    }


def command(folder: Path) -> list[str]:
    """The command of an orchestrator."""
    return [sys.executable, "-m", "tests.slurm.orchestrator", str(folder)]


def _run(folder: Path, settings: Mapping[str, str], store: Store) -> Ran:
    done = subprocess.run(
        command(folder), env={**os.environ, **settings}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    cost = json.loads(done.stdout.splitlines()[-1])
    return Ran(made_in(store), cost["cpu"], cost["commands"])
