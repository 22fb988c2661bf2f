"""GPUs in a step's usage and provenance, with a made-up nvidia-smi."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.runners.scripts import alive, eventually, job, run, written
from tests.runners.test_machine import nvidia_smi
from tests.store.values import manifest
from translations_assets.records.manifest import KeyParts, Manifest, Provenance, Usage
from translations_assets.runners import machine
from translations_assets.runners.local import LocalRunner
from translations_assets.runners.machine import Gpu, GpuMonitor
from translations_assets.store.local import LocalStore

# Tells how it was called; two GPUs, busier the second time.
SMI = """
echo "$@" >> {folder}/calls
if [ "$(wc -l < {folder}/calls)" = 1 ]; then
    echo 'NVIDIA H200, 550.90, 20, 1000'; echo 'NVIDIA H200, 550.90, 40, 3000'
else
    echo 'NVIDIA H200, 550.90, 90, 2000'; echo 'NVIDIA H200, 550.90, 100, 2500'
fi
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is first on the path."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(machine, "GPU_FIRST_SAMPLE", 0.0)
    monkeypatch.setattr(machine, "GPU_SAMPLE_SECONDS", 0.01)
    return tmp_path


def test_utilisation_is_a_mean_and_memory_a_peak(programs: Path) -> None:
    nvidia_smi(programs, SMI.format(folder=programs))
    monitor = GpuMonitor(["0", "1"])

    def two_samples() -> bool:
        monitor.sample()
        return (programs / "calls").exists() and monitor.utilisation > 0.5

    assert eventually(two_samples)
    monitor.close()
    assert monitor.utilisation == pytest.approx((0.2 + 0.4 + 0.9 + 1.0) / 4)
    assert monitor.peak_memory == 4500 << 20
    assert (monitor.models, monitor.driver) == (["NVIDIA H200", "NVIDIA H200"], "550.90")
    assert (programs / "calls").read_text().startswith("-i 0,1 --query-gpu=")


@pytest.mark.parametrize("answer", ["echo 'No devices were found'; exit 6", "echo 'X, 1, [N/A], [N/A]'"])
def test_an_answer_that_says_nothing_is_passed_over(programs: Path, answer: str) -> None:
    nvidia_smi(programs, f"echo x >> {programs}/calls\n{answer}")
    monitor = GpuMonitor(["0"])

    def asked_twice() -> bool:
        monitor.sample()
        return (programs / "calls").exists() and len((programs / "calls").read_text()) > 3

    assert eventually(asked_twice)
    monitor.close()
    assert (monitor.utilisation, monitor.peak_memory) == (0, 0)
    assert "No devices" not in "".join(monitor.models)


def test_a_driver_that_hangs_delays_nothing(programs: Path) -> None:
    nvidia_smi(programs, f"echo $$ >> {programs}/pids\nexec sleep 600")
    monitor = GpuMonitor(["0"])
    monitor.sample()
    assert eventually(lambda: (programs / "pids").exists() and (programs / "pids").read_text() != "")
    for _ in range(5):
        monitor.sample()
    (asked,) = map(int, (programs / "pids").read_text().split())
    assert alive(asked), "the samples waited for its answer"
    assert monitor.close() == 0
    assert not alive(asked)


@pytest.mark.parametrize("script", ["sleep 600", "sleep 600 &\nexec sleep 600"])
def test_what_a_wrapper_of_nvidia_smi_has_started_is_killed_with_it(programs: Path, script: str) -> None:
    """It holds the pipe, which is not waited for."""
    nvidia_smi(programs, f"touch {programs}/begun\n{script}")
    monitor = GpuMonitor(["0"])
    monitor.sample()
    assert eventually((programs / "begun").exists)
    began = time.monotonic()
    assert monitor.close() == 0
    assert time.monotonic() - began < PATIENCE


def test_one_that_does_not_even_end_when_killed_is_left(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As while it waits for a driver that hangs."""
    nvidia_smi(programs, f"echo $$ >> {programs}/pids\nexec sleep 600")
    monitor = GpuMonitor(["0"])
    monitor.sample()
    assert eventually(lambda: (programs / "pids").exists() and (programs / "pids").read_text() != "")
    (asked,) = map(int, (programs / "pids").read_text().split())
    with monkeypatch.context() as patch:
        patch.setattr(os, "killpg", lambda group, signal: None)
        with pytest.warns(ResourceWarning, match="still running"):
            left = monitor.close()
    assert left == asked
    os.killpg(asked, signal.SIGKILL)


# A script has ended, and left a process of its own; another process, of a group beside, does not go away.
BESIDE = """
import os, pathlib, psutil, subprocess, sys, time
from translations_assets.runners.script import ScriptProcess
folder = pathlib.Path(sys.argv[1])
(folder / "ends.py").write_text(
    "import subprocess; subprocess.Popen(['sleep', '600'], start_new_session=True)"
)
beside = subprocess.Popen(["sleep", "600"], start_new_session=True)
environment = {**os.environ, "PYTHONPATH": str(folder)}
process = ScriptProcess("ends", [], cwd=folder, environment=environment, log=folder / "log")
while not process.exited():
    time.sleep(0.01)
print(process.kill(beside.pid), beside.poll(), len(psutil.Process().children()))
beside.kill()
"""


def test_a_script_ends_although_something_beside_it_does_not(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", BESIDE, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert told.stdout == "0 None 1\n"


def test_without_gpus_or_nvidia_smi_nothing_is_asked(programs: Path) -> None:
    nvidia_smi(programs, f"touch {programs}/calls")
    GpuMonitor([]).sample()
    assert not (programs / "calls").exists()
    (programs / "nvidia-smi").unlink()
    monitor = GpuMonitor(["0"])
    monitor.sample()
    monitor.sample()
    assert monitor.utilisation == 0


def test_a_step_with_gpus_tells_what_it_used_of_them(
    store: LocalStore, programs: Path, tmp_path: Path
) -> None:
    nvidia_smi(programs, SMI.format(folder=programs))
    runner = LocalRunner(tmp_path / "state", cpus=2, gpus=[Gpu("0", 16384), Gpu("1", 16384)])
    known = Provenance(KeyParts(libraries={"pymarian": "1"}))
    work = job(store, written("time.sleep(2.5)"), worker="large-gpu", provenance=known)
    outcome = run(runner, store, work)
    assert outcome.manifest is not None, outcome.message
    used = outcome.manifest.usage
    assert (used.gpus, used.gpu_utilisation, used.gpu_memory) == (2, 0.3, 4000 << 20)
    assert outcome.manifest.provenance.worker is not None
    worker = outcome.manifest.provenance.worker.others
    assert (worker["gpu_models"], worker["gpu_driver"]) == (["NVIDIA H200", "NVIDIA H200"], "550.90")
    assert worker["marian"].startswith("1.")
    assert worker["platform"].startswith("Linux ")
    assert Manifest.from_dict(outcome.manifest.to_dict()) == outcome.manifest


def test_a_step_without_gpus_says_nothing_of_them(runner: LocalRunner, store: LocalStore) -> None:
    made = run(runner, store, job(store, written(""))).manifest
    assert made is not None
    assert made.usage.gpus == 0
    assert made.provenance.worker is not None
    assert {"gpu_models", "marian"}.isdisjoint(made.provenance.worker.others)


def test_manifests_of_before_are_read() -> None:
    value = manifest({}).to_dict()
    value["usage"] = {"seconds": 1.0, "cpu_seconds": 0.5, "peak_memory": 10, "disk": 20}
    assert Manifest.from_dict(value).usage == Usage(1.0, 0.5, 10, 20, gpus=0)
