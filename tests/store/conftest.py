"""The stores that the same tests run over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from tests.memory_store import MemoryStore
from tests.store.gcs_server import BUCKET, GcsServer, serve
from tests.store.machines import World
from translations_assets.common.errors import StoreError
from translations_assets.running.protocols import Store
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.gcs.objects import GcsObjects
from translations_assets.store.local import LocalStore
from translations_assets.store.overlay import OverlayStore

OBJECTS = GcsObjects(BUCKET, patience=5, pauses=(0.01, 0.1))


@pytest.fixture(params=["local", "memory", "gcs", "overlay"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """An empty store of each kind."""
    if request.param == "memory":
        return MemoryStore()
    if request.param == "overlay":
        folder = tmp_path_factory.mktemp("overlay")
        return OverlayStore(LocalStore(folder / "own"), LocalStore(folder / "base", read_only=True))
    kept: Store = request.getfixturevalue("local" if request.param == "local" else "bucket")
    return kept


@pytest.fixture
def local(tmp_path: Path) -> LocalStore:
    """An empty store in a folder."""
    return LocalStore(tmp_path / "store")


@pytest.fixture(scope="session")
def _server() -> Iterator[GcsServer]:
    with serve(BUCKET) as server:
        yield server


@pytest.fixture
def gcs(_server: GcsServer, monkeypatch: pytest.MonkeyPatch) -> GcsServer:
    """A server with an empty bucket, for this process and those it starts."""
    _server.clear()
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", _server.url)
    return _server


@pytest.fixture
def bucket(gcs: GcsServer) -> BucketStore:
    """An empty store in a bucket, below a prefix."""
    return BucketStore(replace(OBJECTS, prefix=f"{uuid4().hex[:8]}/store/"))


@pytest.fixture
def world() -> Iterator[World]:
    """An empty bucket, and no threads; whoever still owns something at the end gives it back."""
    world = World()
    yield world
    world.service.away = False
    for machine in world.machines:
        with suppress(StoreError):
            machine.leave()
