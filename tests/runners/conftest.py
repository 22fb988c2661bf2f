"""A store and a local runner on two slots."""

from __future__ import annotations

from pathlib import Path

import pytest

from translations_assets.runners.local import LocalRunner
from translations_assets.store.local import LocalStore


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    """An empty store."""
    return LocalStore(tmp_path / "store")


@pytest.fixture
def runner(tmp_path: Path) -> LocalRunner:
    """A runner with two CPU slots and no GPU."""
    return LocalRunner(tmp_path / "state", cpus=2, gpus=[])
