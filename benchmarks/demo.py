"""Results of the finished demo (`make demo`), which benchmarks measure with."""

from __future__ import annotations

import subprocess
from pathlib import Path

from benchmarks.timing import BIN

PARTITION = "en-eo.demo"
TESTS = ("test-demo_test", "test-demo_aug-typos_test", "test-demo_aug-upper_test")


def download(label: str, folder: Path, partition: str = PARTITION) -> Path:
    """Copy the outputs of a step, of the demo's or another partition, to a folder of the step's name."""
    command = [str(BIN / "translations"), "artifacts", partition, label, "--download", str(folder / label)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / label
