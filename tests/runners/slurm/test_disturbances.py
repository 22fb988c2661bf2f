"""A tenth of the disturbances of `python -m benchmarks.slurm --only chaos`: each kind once."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.slurm.daemons import Slurm
from tests.slurm.disturbances import Disturbed, kinds, make_on_one_machine
from translations_assets.runners.batch.silence import SILENT_SECONDS

pytestmark = pytest.mark.slow
BOTH = pytest.mark.parametrize("daemons", [False, True], indirect=True, ids=["plain", "accounting"])


@BOTH
def test_disturbances_of_every_kind_change_nothing(slurm: Slurm, tmp_path: Path) -> None:
    wanted = kinds(slurm)
    one = Disturbed(tmp_path / "run", slurm, wanted, random.Random(1), longs=1)
    happened = one.run(len(wanted))
    same = one.compare(make_on_one_machine(tmp_path / "local", longs=1))
    assert one.problems == []
    assert happened >= 10, "the run lasts long enough to be disturbed"
    assert same > 30
    assert one.silence.longest < SILENT_SECONDS + 1, one.silence.after


@BOTH
def test_disturbances_that_end_no_job_cost_no_attempt(slurm: Slurm, tmp_path: Path) -> None:
    wanted = kinds(slurm, harmless=True)
    one = Disturbed(tmp_path / "run", slurm, wanted, random.Random(1), texts=8, longs=0)
    one.run(len(wanted))
    assert one.problems == []
    assert one.happened.total() >= 3
