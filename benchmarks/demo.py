"""Results of the finished demo (`make demo`), which benchmarks measure with."""

from __future__ import annotations

import subprocess
from pathlib import Path

from benchmarks.timing import BIN

PARTITION = "en-eo.demo"
TESTS = ("test-demo_test", "test-demo_aug-typos_test", "test-demo_aug-upper_test")


def download(label: str, folder: Path) -> Path:
    """Copy the outputs of the demo's step to a folder of the step's name."""
    command = [str(BIN / "translations"), "artifacts", PARTITION, label, "--download", str(folder / label)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / label
