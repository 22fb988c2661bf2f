"""The stores that the same tests run over."""

from __future__ import annotations

from pathlib import Path

import pytest

from translations_assets.steps.protocols import Store
from translations_assets.store.local import LocalStore
from translations_assets.store.memory import MemoryStore


@pytest.fixture(params=["local", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """An empty store of each kind."""
    return LocalStore(tmp_path / "store") if request.param == "local" else MemoryStore()


@pytest.fixture
def local(tmp_path: Path) -> LocalStore:
    """An empty store in a folder."""
    return LocalStore(tmp_path / "store")
