"""Which programs a step ran with, for its provenance; found without starting any."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from translations_assets.runners.gpu_monitor import GpuMonitor

_MARIAN = "pymarian"


def toolchain(libraries: Mapping[str, str], gpus: GpuMonitor) -> dict[str, Any]:
    """Python, the platform; Marian, when the step uses it; the GPUs' models and driver, when it has some.

    libraries  what the step uses, with the versions that its key stands for
    """
    versions: dict[str, Any] = {
        "python": ".".join(map(str, sys.version_info[:3])),
        "platform": _platform(),
    }
    if _MARIAN in libraries:
        versions["marian"] = _version(_MARIAN)
    if gpus.models:
        versions |= {"gpu_models": gpus.models, "gpu_driver": gpus.driver}
    return versions


def _platform() -> str:
    """The system and the machine's architecture: `Linux 6.1.0 x86_64`."""
    system = os.uname()
    return f"{system.sysname} {system.release} {system.machine}"


def _version(distribution: str) -> str:
    """The version that is installed, which is not always the one in the lock; empty when there is none."""
    from importlib.metadata import PackageNotFoundError, version  # takes long to import

    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
