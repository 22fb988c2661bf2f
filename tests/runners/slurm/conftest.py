"""A place on a real Slurm."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runners.slurm.places import Place
from tests.slurm.daemons import Slurm, missing_programs


@pytest.fixture(scope="module")
def daemons(request: pytest.FixtureRequest) -> Iterator[Slurm]:
    """A Slurm of two nodes; a parameter says whether with accounting."""
    accounting = getattr(request, "param", False)
    if missing := missing_programs(accounting):
        pytest.skip(f"Slurm is not installed: {', '.join(missing)}")
    made = Slurm(accounting=accounting)
    yield made
    made.close()


@pytest.fixture
def slurm(daemons: Slurm, monkeypatch: pytest.MonkeyPatch) -> Slurm:
    """The same, found by this process's commands."""
    for name in ("PATH", "SLURM_CONF"):
        monkeypatch.setenv(name, daemons.environment[name])
    return daemons


@pytest.fixture
def place(tmp_path: Path, slurm: Slurm) -> Iterator[Place]:
    """A store and a Slurm; all runs end with the test."""
    made = Place(tmp_path, slurm)
    yield made
    made.close()
