"""Tests of pipeline.train.gpu_memory, and of trainings (with a stand-in for Marian) whose GPU is full."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.common.errors import InputError
from pipeline.train.checkpoints import FEED, MODEL
from pipeline.train.gpu_memory import OutOfGpuMemory, halve, out_twice, ran_out
from tests.patience import PATIENCE
from tests.pipeline.train.training import QUICK, metrics, names, running, train

FAKE = f"{sys.executable} -m tests.pipeline.train.fake_marian"
trains = [pytest.mark.marian, pytest.mark.slow]
ASKED = {**QUICK, "valid-freq": 20, "valid-mini-batch": 9, "optimizer-delay": 1}


@pytest.mark.parametrize(
    "message",
    [
        "CUDA error 2 'out of memory' - /src/tensors/gpu/device.cu:38: cudaMalloc(&data_, size)",
        "Cublas Error: 3 - /src/tensors/gpu/backend.h:66: cublasCreate(&cublasHandle_)",
        "Cusparse Error: 2 - /src/tensors/gpu/backend.h:80: cusparseCreate(&cusparseHandle_)",
        "Curand error 102 - /src/tensors/rand.cpp:67: curandCreateGenerator(&generator_, type)",
        "CUDA Error 2: out of memory - /src/tensors/gpu/algorithm.cu:12: cudaMalloc(&p, n)",
        "Unhandled exception of type 'N6thrust6system6detail9bad_allocE': std::bad_alloc: "
        "cudaErrorMemoryAllocation: out of memory",
        "Unhandled exception of type 'N6thrust6system12system_errorE': after reduction step 1: "
        "cudaErrorMemoryAllocation: out of memory",
    ],
)
def test_how_marian_says_that_a_gpu_is_full(message: str) -> None:
    assert ran_out(f"[2026-01-01 00:00:00] Error: {message}")
    assert not ran_out(f"[2026-01-01 00:00:00] [valid] {message}")


@pytest.mark.parametrize(
    "message",
    [
        "Error: CUDA error 209 'no kernel image is available for execution on the device' - x.cu:1: f()",
        "Error: CUDA error 700 'an illegal memory access was encountered' - x.cu:1: f()",
        "Error: Cublas Error: 13 - x.cu:1: f()",
        "[memory] Extending reserved space to 9088 MB (device gpu0)",
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "Error: Unhandled exception of type 'St9bad_alloc': std::bad_alloc",
        "Error: NCCL error 1 'unhandled cuda error' - x.cpp:1: ncclAllReduce()",
    ],
)
def test_what_else_fails_is_no_lack_of_a_gpus_memory(message: str) -> None:
    assert not ran_out(f"[2026-01-01 00:00:00] {message}")


def test_smaller_micro_batches_leave_the_batch_as_it_is() -> None:
    asked = {"mini-batch-words": 25000, "optimizer-delay": 3, "valid-mini-batch": 9, "seed": 1}
    assert halve(asked) == {**asked, "optimizer-delay": 6, "valid-mini-batch": 5}
    assert halve({"optimizer-delay": 1.5}) == {"optimizer-delay": 4}


def test_a_batch_that_marian_fits_itself_is_told_of() -> None:
    error = out_twice(OutOfGpuMemory("CUDA error 2"), {"mini-batch-fit": True, "workspace": 9000})
    assert isinstance(error, InputError)
    assert "mini-batch-fit, which fills the workspace of 9000 MB" in str(error)


def given(folder: Path, mode: str) -> dict[str, object]:
    return {"TRANSLATIONS_MARIAN": FAKE, "FAKE_MARIAN": mode, "TRANSLATIONS_CHECKPOINTS": folder / "sets"}


def trained(folder: Path, mode: str) -> "subprocess.CompletedProcess[str]":
    return train(folder, ASKED, env=given(folder, mode))


def delays(log: str) -> list[int]:
    """The optimizer-delay of each start of Marian."""
    return [int(line.split()[-1]) for line in log.splitlines() if line.startswith("optimizer-delay: ")]


def updates(folder: Path) -> list[int]:
    return [point["update"] for point in metrics(folder)["curve"]]


def place(folder: Path) -> Any:
    """That of the newest set."""
    return json.loads((max(folder.glob("sets/0*")) / FEED).read_text())


@pytest.mark.parametrize("mode", ["full", "full-validating"])
def test_training_goes_on_from_the_last_save_with_smaller_micro_batches(tmp_path: Path, mode: str) -> None:
    done = trained(tmp_path, mode)
    assert done.returncode == 0, done.stderr
    assert "out of memory" in done.stderr
    assert "going on from the last save, with micro-batches half as large" in done.stderr
    assert "Going on from checkpoint 000001-update-000000010" in done.stderr
    assert delays(done.stderr) == [1, 2]
    facts = metrics(tmp_path)
    assert facts["updates"] == 25
    assert facts["derived"]["optimizer-delay"] == 2
    assert facts["derived"]["out-of-memory-at"] == 10
    assert facts["derived"]["mini-batch"] == QUICK["mini-batch"]
    assert updates(tmp_path) == [10, 25]  # what came after the save is made again
    assert np.load(tmp_path / "out" / MODEL)["weights"][0] == 25  # not the best of half a validation
    assert place(tmp_path)["halved_at"] == 10
    assert sorted(names(tmp_path / "sets")) == ["000001-update-000000010", "000002-update-000000025"]


def test_without_a_save_training_begins_anew(tmp_path: Path) -> None:
    done = trained(tmp_path, "full-first")
    assert done.returncode == 0, done.stderr
    assert delays(done.stderr) == [1, 2]
    assert done.stderr.count("No checkpoint: training from the beginning") == 2
    assert metrics(tmp_path)["derived"]["out-of-memory-at"] == 0
    assert updates(tmp_path) == [25]


def test_the_second_time_training_fails_and_says_what_to_set(tmp_path: Path) -> None:
    done = trained(tmp_path, "full-always")
    assert done.returncode == 1
    assert delays(done.stderr) == [1, 2]
    assert "error: [2026-01-01 00:00:00] Error: CUDA error 2 'out of memory'" in done.stderr
    assert "optimizer-delay: 4 (smaller micro-batches of the same batch)" in done.stderr
    assert "smaller mini-batch-words" in done.stderr
    assert names(tmp_path / "out") == []


def test_a_gpu_without_room_for_the_workspace_is_worth_another_attempt(tmp_path: Path) -> None:
    """Smaller micro-batches would not help: another process holds its memory."""
    done = trained(tmp_path, "full-reserving")
    assert done.returncode == 75, done.stderr
    assert delays(done.stderr) == [1]
    assert "The GPU has no room for Marian's workspace: another process holds its memory" in done.stderr
    assert names(tmp_path / "out") == []


def test_a_later_attempt_remembers_the_smaller_micro_batches(tmp_path: Path) -> None:
    """Its set says so: the attempt begins with them, and is the second time when memory runs out."""
    assert trained(tmp_path, "full").returncode == 0
    for path in (tmp_path / "out").iterdir():
        path.unlink()
    done = trained(tmp_path, "full-always")
    assert done.returncode == 1
    assert delays(done.stderr) == [2]
    assert "ran out again" in done.stderr
    assert place(tmp_path)["halved_at"] == 10


def test_a_gpu_that_is_full_while_marian_stops_is_a_stop(tmp_path: Path) -> None:
    with running(tmp_path, {}, given(tmp_path, "full-stopping"), marian_args=ASKED) as process:
        deadline = time.monotonic() + PATIENCE
        while "waiting for a signal" not in (tmp_path / "log").read_text():
            assert time.monotonic() < deadline, (tmp_path / "log").read_text()
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE) == 75, (tmp_path / "log").read_text()
    assert delays((tmp_path / "log").read_text()) == [1]
    assert place(tmp_path)["halved_at"] is None
