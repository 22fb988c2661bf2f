"""A run that is killed and started again ends as if nothing had happened. More: `benchmarks/kills.py`."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from tests.end_to_end.finished import TARGET, finished
from tests.end_to_end.kills import VICTIMS, Disturbance, differences
from tests.end_to_end.tiny import Place

pytestmark = [pytest.mark.slow, pytest.mark.marian]


def test_killed_at_random_moments_and_started_again(tmp_path: Path) -> None:
    """Orchestrator, worker, process group, all at once: no finished step runs again, nothing is left over."""
    place = Place(tmp_path / "killed")
    shutil.copytree(finished().root / "configs", place.root / "configs")
    run = Disturbance(place, TARGET, random.Random(4), longest_wait=2.0)
    killed = run.run(len(VICTIMS))
    assert run.problems == []
    assert killed == len(VICTIMS), "the run lasts long enough to be killed"
    assert run.starts == 4, "after all but the worker's death"
    compared, found = differences(place, tmp_path / "undisturbed", TARGET, finished())
    assert found == []
    assert compared > 5
