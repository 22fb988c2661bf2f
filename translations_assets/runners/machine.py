"""What this machine has: CPU cores that we may use, GPUs and their memory."""

from __future__ import annotations

import math
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_NVIDIA_SMI = ("nvidia-smi", "--query-gpu=index,memory.total", "--format=csv,noheader,nounits")
_CGROUP = Path("/sys/fs/cgroup")
_CGROUP_CPU = _CGROUP / "cpu.max"
_CPU_WORKSPACE = 512
_GPU_SHARE = 0.75  # of a GPU's memory for Marian's workspace; models and optimiser need the rest


@dataclass(frozen=True)
class Gpu:
    """A GPU: its id, as nvidia-smi counts, and its memory in MB."""

    id: str
    memory: int


def cpu_count(cgroup_cpu: Path = _CGROUP_CPU) -> int:
    """Cores that this process may use: by its affinity and, rounded up, by its control group's quota."""
    cores = len(os.sched_getaffinity(0))
    try:
        quota, period = cgroup_cpu.read_text().split()
        return max(1, min(cores, math.ceil(int(quota) / int(period))))
    except (OSError, ValueError):  # no control group, or `max`: no quota
        return cores


def out_of_memory_kills(cgroup: Path = _CGROUP) -> int:
    """How often the kernel has killed a process of this control group for want of memory."""
    try:
        events = dict(line.split() for line in (cgroup / "memory.events").read_text().splitlines())
        return int(events["oom_kill"])
    except (OSError, ValueError, KeyError):  # no control group
        return 0


def memory_limit(cgroup: Path = _CGROUP) -> int | None:
    """Bytes of memory that this control group may use, None when as many as there are."""
    try:
        return int((cgroup / "memory.max").read_text())
    except (OSError, ValueError):  # no control group, or `max`
        return None


def find_gpus(environment: Mapping[str, str]) -> list[Gpu]:
    """The GPUs, those of CUDA_VISIBLE_DEVICES when it is set; none when nvidia-smi is absent or fails."""
    try:
        answer = subprocess.run(_NVIDIA_SMI, capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    gpus = [Gpu(*_id_and_memory(line)) for line in answer.splitlines() if line.strip()]
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return gpus
    return [gpu for gpu in gpus if gpu.id in {name.strip() for name in visible.split(",")}]


def workspace(gpus: Sequence[Gpu]) -> int:
    """MB of Marian's workspace on each of some GPUs; without any, on the CPU."""
    return int(min(gpu.memory for gpu in gpus) * _GPU_SHARE) if gpus else _CPU_WORKSPACE


def _id_and_memory(line: str) -> tuple[str, int]:
    index, memory = line.split(",")
    return index.strip(), int(memory)
