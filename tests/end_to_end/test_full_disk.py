"""A disk that is full in any part of a step, the commit included: told, nothing half written; it goes on."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.full_disk import COMMIT, Told

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).resolve().parents[2]
NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]


def why_not() -> str:
    """Give the reason why no disk can be mounted in a namespace here; empty when it can."""
    command = [*NAMESPACE, "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "/mnt"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except OSError as error:
        return str(error)
    return "" if done.returncode == 0 else done.stderr.strip() or f"exit code {done.returncode}"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[Told]:
    """Results of one step with little room on the disk, and finally with enough."""
    if problem := why_not():
        pytest.skip(
            f"no disk can be mounted in a namespace here ({problem}); a full disk is also simulated: see "
            "test_a_full_disk_is_told_and_leaves_nothing_half_written in tests/store/test_local.py and "
            "test_a_disk_that_is_full_during_the_commit_is_temporary in tests/runners/test_attempt.py"
        )
    folder = tmp_path_factory.mktemp("full") / "place"
    done = subprocess.run(
        [*NAMESPACE, sys.executable, "-m", "tests.end_to_end.full_disk", str(folder)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [Told(**json.loads(line)) for line in done.stdout.splitlines()]


def test_it_goes_on_once_there_is_room(told: list[Told]) -> None:
    for one in told:
        made = {label.partition("-url")[0] for label in one.finished}
        assert made == {"dataset-test", *([] if one.error else ["dataset-devtest-demo_dev-en-eo"])}
    assert told[0].error
    assert not told[-1].error


def test_the_store_is_whole_whenever_the_disk_was_full(told: list[Told]) -> None:
    assert [one for one in told if one.defects or one.left] == []


def test_each_error_says_what_is_full_and_what_to_do(told: list[Told]) -> None:
    for one in filter(lambda one: one.error, told):
        assert re.search("[Nn]o space left", one.error), one
        assert re.search("[Ff]ree some|Check space", one.error), one
        assert not re.search("Traceback|bug", one.error), one


def test_the_disk_was_full_at_the_start_in_the_script_and_in_the_commit(told: list[Told]) -> None:
    """Else the other tests of this file would show little."""
    assert "was not started" in told[0].error
    assert any(re.search(r"no space left in .*/work \(exit code", one.error) for one in told)
    assert any(COMMIT.search(one.error) for one in told)
