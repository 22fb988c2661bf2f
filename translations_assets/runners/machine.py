"""The machine of a worker: its cores, GPUs, memory and programs, and what a step uses of them."""

from __future__ import annotations

import logging
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from translations_assets.common.errors import TranslationsError
from translations_assets.graph.step import WorkerClass
from translations_assets.runners.work_folder import WorkFolder

_GPUS = ("--query-gpu=index,uuid,memory.total", "--format=csv,noheader,nounits")
_MIG = re.compile(r"MIG \d+g\.(\d+)gb\S* +Device +\d+: \(UUID: (MIG-[\w-]+)\)")  # a part of a GPU, in a list
_MIG_GIGABYTE = 900  # MB that a part has at least for each GB of its name
_NOT_ITS_OWN = "[N/A]"  # memory of a GPU that uses the machine's
_NO_DEVICE = ("-1", "NoDevFiles")  # in CUDA_VISIBLE_DEVICES; the second is Slurm's
_CGROUP = Path("/sys/fs/cgroup")
_CPU_WORKSPACE = 512
_GPU_SHARE = 0.75  # of a GPU's memory for Marian's workspace; models and optimiser need the rest
GPU_FIRST_SAMPLE = 1.0  # seconds after the start
GPU_SAMPLE_SECONDS = 10.0
_KILLED_SECONDS = 1.0  # that nvidia-smi is waited for
_FIELDS = ("name", "driver_version", "utilization.gpu", "memory.used")
_MEGABYTE = 1 << 20
_SCRIPT_SHARE = 0.9  # of what a control group may use; the rest is for the worker and the kernel's caches
_MACHINE_SHARE = 0.5  # of a machine that other programs use as well
_FIRST_SAMPLE = 0.4
_SAMPLE_SECONDS = 1.0
_MARIAN = "pymarian"
_PAGE = os.sysconf("SC_PAGE_SIZE")
CHILDREN = Path("/proc/thread-self/children")  # kernels that are built without PROC_CHILDREN lack it

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Gpu:
    """A GPU: its id, as nvidia-smi counts, or a part's UUID (MIG); and its memory in MB."""

    id: str
    memory: int


def cpu_count(cgroup: Path = _CGROUP) -> int:
    """Cores that this process may use: by its affinity and, rounded up, by its control group's quota."""
    cores = len(os.sched_getaffinity(0))
    quota = _words(cgroup / "cpu.max") or _words(
        cgroup / "cpu" / "cpu.cfs_quota_us", cgroup / "cpu" / "cpu.cfs_period_us"
    )
    try:
        share = int(quota[0]) / int(quota[1])
    except (IndexError, ValueError):  # no control group, or `max`: no quota
        return cores
    return max(1, min(cores, math.ceil(share))) if share > 0 else cores


def allotted_cpus(environment: Mapping[str, str]) -> int:
    """Cores of this process, no more than Slurm has given to its job, where that binds it to none."""
    given = environment.get("SLURM_CPUS_ON_NODE", "")
    return min(cpu_count(), int(given)) if given.isdecimal() else cpu_count()


def allotted_memory(environment: Mapping[str, str]) -> int:
    """MB for all scripts that run at a time, of the memory that Slurm has given to this process's job.

    >>> allotted_memory({"SLURM_MEM_PER_CPU": "2000", "SLURM_CPUS_ON_NODE": "4"})
    7200
    """
    of_node, of_cpu = (environment.get(f"SLURM_MEM_PER_{name}", "") for name in ("NODE", "CPU"))
    cpus = environment.get("SLURM_CPUS_ON_NODE", "")
    given = int(of_node) if of_node.isdecimal() else 0
    if not given and of_cpu.isdecimal() and cpus.isdecimal():
        given = int(of_cpu) * int(cpus)
    return int(given * _SCRIPT_SHARE) or script_memory()  # 0: all of the node's


def out_of_memory_kills(cgroup: Path = _CGROUP) -> int:
    """Count the processes of this control group that the kernel has killed for want of memory."""
    words = _words(cgroup / "memory.events") or _words(cgroup / "memory" / "memory.oom_control")
    return int(dict(zip(words[::2], words[1::2], strict=False)).get("oom_kill", 0))


def memory_limit(cgroup: Path = _CGROUP) -> int | None:
    """Bytes of memory that this control group may use, None when as many as there are."""
    said = _words(cgroup / "memory.max") or _words(cgroup / "memory" / "memory.limit_in_bytes")
    limit = int(said[0]) if said and said[0].isdecimal() else _machine_memory()
    return limit if limit < _machine_memory() else None  # version 1 says an enormous number for none


def script_memory(cgroup: Path = _CGROUP) -> int:
    """MB for all scripts that run at a time: of a control group's limit, else of the machine's memory."""
    limit = memory_limit(cgroup)
    return int(limit * _SCRIPT_SHARE if limit else _machine_memory() * _MACHINE_SHARE) // 1_000_000


def _machine_memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * _PAGE


def _words(*files: Path) -> list[str]:
    """The words of some files of a control group, of version 2 or 1; none where there are no such files."""
    try:
        return [word for file in files for word in file.read_text().split()]
    except OSError:
        return []


def find_gpus(environment: Mapping[str, str]) -> list[Gpu]:
    """The GPUs, those of CUDA_VISIBLE_DEVICES when it is set; none when nvidia-smi is absent or fails.

    Raises TranslationsError when the variable names some, by number or UUID, of which none is here.
    """
    gpus = _all_gpus()
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is None or not gpus:
        return list(gpus.values())
    names = [name.strip() for name in visible.split(",") if name.strip()]
    if any(name.startswith("MIG-") for name in names):
        gpus |= _mig_devices()
    found = [gpu for uuid, gpu in gpus.items() if any(_is_called(gpu, uuid, name) for name in names)]
    if names and not found and names[0] not in _NO_DEVICE:
        there = ", ".join(gpu.id if gpu.id == uuid else f"{gpu.id} ({uuid})" for uuid, gpu in gpus.items())
        raise TranslationsError(
            f"CUDA_VISIBLE_DEVICES is {visible}, which names no GPU that is here: nvidia-smi lists {there}. "
            "Name some of these, unset the variable to use all, or set it to nothing to use none."
        )
    return found


def _is_called(gpu: Gpu, uuid: str, name: str) -> bool:
    """True if a name means a GPU, as CUDA reads it: its number, its UUID, or the beginning of that."""
    return name == gpu.id or (name.startswith(("GPU-", "MIG-")) and uuid.startswith(name))


def _all_gpus() -> dict[str, Gpu]:
    """The GPUs by UUID. One whose memory nvidia-smi cannot tell, as that of a broken one, is passed over."""
    gpus: dict[str, Gpu] = {}
    for line in _nvidia_smi(*_GPUS):
        number, uuid, memory = (*(word.strip() for word in line.split(",")), "", "")[:3]
        if memory.isdecimal():
            gpus[uuid] = Gpu(number, int(memory))
        elif memory == _NOT_ITS_OWN:
            gpus[uuid] = Gpu(number, script_memory())
        elif number:
            _log.warning("nvidia-smi tells no memory of a GPU, which is not used: %s", line)
    return gpus


def _mig_devices() -> dict[str, Gpu]:
    """The parts of GPUs (MIG), which are listed by their UUIDs alone."""
    found = (_MIG.search(line) for line in _nvidia_smi("-L"))
    return {part[2]: Gpu(part[2], int(part[1]) * _MIG_GIGABYTE) for part in found if part}


def _nvidia_smi(*options: str) -> list[str]:
    """The lines of its answer; none when it is absent or fails."""
    try:
        asked = ["nvidia-smi", *options]
        answer = subprocess.run(asked, capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    return answer.splitlines()


def gpus_of(worker: WorkerClass, there: int) -> int:
    """The number of a machine's GPUs that a step of a worker class takes: all, one, or none."""
    return {"large-gpu": there, "gpu": min(1, there)}.get(worker, 0)


def workspace(gpus: Sequence[Gpu]) -> int:
    """MB of Marian's workspace on each of some GPUs; without any, on the CPU."""
    return int(min(gpu.memory for gpu in gpus) * _GPU_SHARE) if gpus else _CPU_WORKSPACE


class Monitor:
    """Peak memory and disk of a process tree, in bytes.

    Memory is the sum of the processes' resident sets: what they share counts for each of them.
    """

    def __init__(self, pid: int, folder: WorkFolder) -> None:
        self._pid, self._folder = pid, folder
        self._next = time.monotonic() + _FIRST_SAMPLE
        self.peak_memory = 0
        self.peak_disk = 0

    def sample(self) -> None:
        """Look, when it is time to."""
        if time.monotonic() < self._next:
            return
        self.peak_memory = max(self.peak_memory, _memory(self._pid))
        self.peak_disk = max(self.peak_disk, self._folder.size())
        self._next = time.monotonic() + _SAMPLE_SECONDS


def _memory(pid: int) -> int:
    return sum(map(_resident, (pid, *descendants(pid))))


def descendants(pid: int) -> Iterator[int]:
    """The descendants of a process; those whose parent has ended are none, as they have another one then."""
    if not CHILDREN.exists():
        import psutil  # looks at every process of the machine

        with suppress(psutil.Error):
            yield from (child.pid for child in psutil.Process(pid).children(recursive=True))
        return
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError):  # it has ended
            for child in map(int, (thread / CHILDREN.name).read_text().split()):
                yield child
                yield from descendants(child)


def _resident(pid: int) -> int:
    """Bytes of a process's resident set, 0 once it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


class GpuMonitor:
    """Mean utilisation (0 to 1) of some GPUs, peak memory in bytes of all of them together, and their names.

    These are NVML's numbers, asked for in a process of their own: a driver that hangs would hang what
    calls the library, and a worker has to hear SIGTERM and store what its script saves. Nothing waits for
    nvidia-smi, which may take seconds: its answer is read when it is there.
    """

    def __init__(self, ids: Sequence[str]) -> None:
        fields, gpus = ",".join(_FIELDS), ",".join(ids)
        self._command = ["nvidia-smi", "-i", gpus, f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
        self._next = time.monotonic() + GPU_FIRST_SAMPLE if ids else float("inf")
        self._asked: subprocess.Popen[str] | None = None
        self._utilisations: list[float] = []
        self.peak_memory = 0
        self.models: list[str] = []
        self.driver = ""

    @property
    def utilisation(self) -> float:
        """The mean of all samples of all GPUs, 0 when there is none."""
        return sum(self._utilisations) / max(1, len(self._utilisations))

    def sample(self) -> None:
        """Ask when it is time to; take the answer when it is there."""
        if self._asked is not None:
            if self._asked.poll() is not None:
                answer, _ = self._asked.communicate()
                self._asked = None
                self._read(answer)
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + GPU_SAMPLE_SECONDS
            self._ask()

    def close(self) -> int:
        """Kill what was asked; its process group where it does not end, as of a driver that hangs, else 0."""
        asked, self._asked = self._asked, None
        if asked is None or asked.stdout is None:
            return 0
        os.killpg(asked.pid, signal.SIGKILL)
        asked.stdout.close()
        try:
            asked.wait(_KILLED_SECONDS)
        except subprocess.TimeoutExpired:
            return asked.pid
        return 0

    def _ask(self) -> None:
        try:
            self._asked = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )
        except OSError:  # it is not here: nothing is measured
            self._next = float("inf")

    def _read(self, answer: str) -> None:
        rows = [line.split(", ") for line in answer.splitlines()]
        try:
            self.driver, self.models = rows[0][1], [row[0] for row in rows]
            self.peak_memory = max(self.peak_memory, sum(int(row[3]) * _MEGABYTE for row in rows))
            self._utilisations += [float(row[2]) / 100 for row in rows]
        except (ValueError, IndexError):  # "[N/A]", or an error in place of an answer
            return


def toolchain(libraries: Mapping[str, str], gpus: GpuMonitor) -> dict[str, Any]:
    """Python, the platform; Marian, when the step uses it; the GPUs' models and driver, when it has some.

    libraries  what the step uses, with the versions that its key stands for
    """
    system = os.uname()
    versions: dict[str, Any] = {
        "python": ".".join(map(str, sys.version_info[:3])),
        "platform": f"{system.sysname} {system.release} {system.machine}",
    }
    if _MARIAN in libraries:
        from importlib.metadata import version  # takes long to import

        versions["marian"] = ""  # when it is missing
        with suppress(ModuleNotFoundError):
            versions["marian"] = version(_MARIAN)  # which is not always the one in the lock
    if gpus.models:
        versions |= {"gpu_models": gpus.models, "gpu_driver": gpus.driver}
    return versions
