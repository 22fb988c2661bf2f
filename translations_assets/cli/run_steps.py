"""Rows of `translations status`: how far a step is, as it is shown and printed as JSON."""

from __future__ import annotations

import time
from typing import Any

from translations_assets.records.cost import Cost
from translations_assets.records.manifest import Usage
from translations_assets.running.prices import Prices, spent_on
from translations_assets.runs.steps import StepProgress

Row = dict[str, Any]


def row_of(step: StepProgress, prices: Prices | None = None) -> Row:
    """Make the row of a step; `prices` tell its cost. What nobody has measured yet is None."""
    manifest, since = step.manifest, step.since
    usage = manifest.usage if manifest else Usage()
    spent = spent_on(step.needs, manifest, prices) if manifest else Cost()
    return {
        "label": step.label,
        "stage": step.stage,
        "state": step.state,
        "attempts": step.attempts,
        "worker": step.worker,
        "host": manifest.host if manifest else None,
        "started": manifest.started if manifest else since,
        "seconds": usage.seconds if manifest else None if since is None else time.time() - since,
        "cpu_seconds": usage.cpu_seconds if manifest else None,
        "memory_mb": usage.peak_memory / 1e6 if manifest else None,
        "gpus": usage.gpus,
        "gpu_utilisation": usage.gpu_utilisation,
        "gpu_memory_mb": usage.gpu_memory / 1e6,
        "cost": spent.values,
        "why": step.why or None,
        "goes_on_from": step.saved or None,
    }
