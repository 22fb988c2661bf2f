"""Tests of the machine's resources, as nvidia-smi and the control group report them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.runners.scripts import eventually
from translations_assets.common.errors import TranslationsError
from translations_assets.runners import machine
from translations_assets.runners.machine import (
    Gpu,
    allotted_cpus,
    allotted_memory,
    cpu_count,
    find_gpus,
    memory_limit,
    out_of_memory_kills,
    script_memory,
)

FAMILY = """
import subprocess, sys, threading
def start(): subprocess.Popen([sys.executable, "-c", "import subprocess; subprocess.run(['sleep', '600'])"])
thread = threading.Thread(target=start)
thread.start()
subprocess.run(["sleep", "600"])
"""


def nvidia_smi(folder: Path, script: str) -> None:
    """A program of that name on the path."""
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the path."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


TWO = "echo '0, GPU-8932f937-d72c, 16384'; echo '1, GPU-89aa4f3e-11b7, 24576'; echo"
FIRST, SECOND = Gpu("0", 16384), Gpu("1", 24576)
WITH_PARTS = """
case "$1" in
-L)
    echo 'GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-8932f937-d72c)'
    echo '  MIG 1g.5gb      Device  0: (UUID: MIG-a3b1-01)'
    echo '  MIG 3g.20gb+me  Device  1: (UUID: MIG-a3b1-02)' ;;
*) echo '0, GPU-8932f937-d72c, 40960' ;;
esac
"""


@pytest.mark.parametrize(
    ("visible", "gpus"),
    [
        ("1", [SECOND]),
        ("", []),
        ("-1", []),
        ("NoDevFiles", []),
        ("GPU-89aa4f3e-11b7", [SECOND]),
        ("GPU-8932", [FIRST]),
        ("GPU-89aa, 0", [FIRST, SECOND]),
        ("1,GPU-0", [SECOND]),
    ],
)
def test_gpus_are_those_of_nvidia_smi(programs: Path, visible: str, gpus: list[Gpu]) -> None:
    nvidia_smi(programs, TWO)
    assert find_gpus({}) == [FIRST, SECOND]
    assert find_gpus({"CUDA_VISIBLE_DEVICES": visible}) == gpus


@pytest.mark.parametrize("visible", ["2", "GPU-77", "MIG-a3b1-01", "all"])
def test_gpus_of_which_none_is_here_are_told(programs: Path, visible: str) -> None:
    nvidia_smi(programs, TWO)
    told = rf"is {visible}, .* lists 0 \(GPU-8932f937-d72c\), 1 \(GPU-89aa4f3e-11b7\)\. Name some"
    with pytest.raises(TranslationsError, match=told):
        find_gpus({"CUDA_VISIBLE_DEVICES": visible})


def test_parts_of_a_gpu_are_used_by_their_uuids(programs: Path) -> None:
    nvidia_smi(programs, WITH_PARTS)
    assert find_gpus({}) == [Gpu("0", 40960)]
    assert find_gpus({"CUDA_VISIBLE_DEVICES": "MIG-a3b1-02"}) == [Gpu("MIG-a3b1-02", 18_000)]
    both = {"CUDA_VISIBLE_DEVICES": "MIG-a3b1-02,MIG-a3b1-01"}
    assert [gpu.memory for gpu in find_gpus(both)] == [4_500, 18_000]
    with pytest.raises(TranslationsError, match=r"lists 0 \(GPU-8932f937-d72c\), MIG-a3b1-01, MIG-a3b1-02\."):
        find_gpus({"CUDA_VISIBLE_DEVICES": "MIG-77"})


def test_a_gpu_without_memory_of_its_own_has_the_machines_and_a_broken_one_is_passed_over(
    programs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    nvidia_smi(programs, "echo '0, GPU-a, [N/A]'; echo '1, GPU-b, [Unknown Error]'; echo 'No handle'")
    assert find_gpus({}) == [Gpu("0", script_memory())]
    assert [record.message.rpartition(": ")[2] for record in caplog.records] == [
        "1, GPU-b, [Unknown Error]",
        "No handle",
    ]


def test_without_a_driver_there_are_no_gpus(programs: Path) -> None:
    assert find_gpus({}) == []
    nvidia_smi(programs, "echo 'cannot talk to the driver' >&2; exit 9")
    assert find_gpus({}) == []


@pytest.mark.parametrize(
    ("quota", "cores"), [("max 100000", None), ("100000 100000", 1), ("50000 100000", 1), ("nonsense", None)]
)
def test_cores_are_limited_by_the_control_group(tmp_path: Path, quota: str, cores: int | None) -> None:
    allowed = len(os.sched_getaffinity(0))
    two, one = tmp_path / "version-2", tmp_path / "version-1"
    (one / "cpu").mkdir(parents=True)
    two.mkdir()
    (two / "cpu.max").write_text(quota + "\n")
    for name, value in zip(("quota", "period"), quota.replace("max", "-1").split(), strict=False):
        (one / "cpu" / f"cpu.cfs_{name}_us").write_text(value + "\n")
    assert cpu_count(two) == cpu_count(one) == (cores or allowed)
    assert cpu_count(tmp_path / "absent") == allowed


def test_the_control_group_tells_of_memory(tmp_path: Path) -> None:
    assert (out_of_memory_kills(tmp_path), memory_limit(tmp_path)) == (0, None)
    (tmp_path / "memory.events").write_text("low 0\nmax 7\noom 3\noom_kill 2\noom_group_kill 0\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert (out_of_memory_kills(tmp_path), memory_limit(tmp_path)) == (2, None)
    (tmp_path / "memory.max").write_text("1073741824\n")
    assert memory_limit(tmp_path) == 1 << 30


def test_control_groups_of_version_1_tell_the_same(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    limit, control = (tmp_path / "memory" / name for name in ("memory.limit_in_bytes", "memory.oom_control"))
    limit.write_text("9223372036854771712\n")  # none
    control.write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n")
    assert (out_of_memory_kills(tmp_path), memory_limit(tmp_path)) == (2, None)
    limit.write_text("1073741824\n")
    assert memory_limit(tmp_path) == 1 << 30


def test_scripts_may_use_nine_tenths_of_a_limit_and_half_of_a_machine(tmp_path: Path) -> None:
    assert script_memory(tmp_path) == psutil.virtual_memory().total // 2_000_000
    (tmp_path / "memory.max").write_text(f"{12 << 30}\n")
    assert script_memory(tmp_path) == 11_596


@pytest.mark.parametrize("listed", [True, False])
def test_descendants_are_found_whichever_thread_has_started_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: bool
) -> None:
    """Also where the kernel does not list children. Those of other processes are not among them."""
    if not listed:
        monkeypatch.setattr(machine, "CHILDREN", tmp_path / "children")
    with (
        subprocess.Popen([sys.executable, "-c", FAMILY]) as family,
        subprocess.Popen(["sleep", "600"]) as other,
    ):
        try:
            assert eventually(lambda: len([*machine.descendants(family.pid)]) == 3)
            found = {*machine.descendants(family.pid)}
            assert found == {child.pid for child in psutil.Process(family.pid).children(recursive=True)}
            assert {family.pid, other.pid} <= {*machine.descendants(os.getpid())} - found
        finally:
            for pid in (*machine.descendants(family.pid), family.pid, other.pid):
                os.kill(pid, signal.SIGKILL)
    assert [*machine.descendants(family.pid)] == []


@pytest.mark.parametrize(
    ("given", "memory"),
    [
        ({"SLURM_MEM_PER_NODE": "4000"}, 3600),
        ({"SLURM_MEM_PER_CPU": "2000", "SLURM_CPUS_ON_NODE": "3"}, 5400),
        ({"SLURM_MEM_PER_NODE": "0"}, script_memory()),  # all of the node's
        ({}, script_memory()),
    ],
)
def test_the_memory_of_a_job_of_slurm_is_its_allocations(given: dict[str, str], memory: int) -> None:
    assert allotted_memory(given) == memory


def test_the_cores_of_a_job_of_slurm_are_its_allocations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "cpu_count", lambda: 8)
    assert allotted_cpus({}) == 8
    assert allotted_cpus({"SLURM_CPUS_ON_NODE": "2"}) == 2
    assert allotted_cpus({"SLURM_CPUS_ON_NODE": "16"}) == 8  # bound to fewer
