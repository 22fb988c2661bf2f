"""The option `--slow-part`, by which `.ci/run` runs a share of the slow tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDER = "tests/store"  # a few files with slow tests among many without


def files(*options: str) -> set[str]:
    """The files of the folder that have tests to run."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-qq",
        "-p",
        "no:cacheprovider",
        FOLDER,
        *options,
    ]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {line.partition(":")[0] for line in ended.stdout.splitlines() if line.startswith(f"{FOLDER}/")}


@pytest.mark.slow
def test_the_parts_share_the_slow_tests_and_each_has_all_others() -> None:
    slow = files("-m", "slow")
    parts = [files("-m", "slow", "--slow-part", f"{number}/2") for number in (1, 2)]
    assert parts[0] | parts[1] == slow
    assert not parts[0] & parts[1]
    assert all(parts)
    assert files("-m", "not slow", "--slow-part", "1/2") == files("-m", "not slow")


@pytest.mark.parametrize("wrong", ["0/2", "3/2", "half"])
def test_a_part_that_there_is_not_is_refused(wrong: str) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        files("--slow-part", wrong)
