"""The stores that the same tests run over."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from tests.memory_store import MemoryStore
from tests.store import gcs_server, other_s3, s3_server
from tests.store.gcs_server import BUCKET, GcsServer
from tests.store.machines import World
from tests.store.s3_server import S3Server
from translations_assets.common.errors import StoreError
from translations_assets.running.protocols import Store
from translations_assets.store.bucket.objects import TIMEOUT
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.gcs.objects import GcsObjects
from translations_assets.store.local import LocalStore
from translations_assets.store.overlay import OverlayStore
from translations_assets.store.s3.client import client
from translations_assets.store.s3.objects import S3Objects

OBJECTS = GcsObjects(BUCKET, patience=5, pauses=(0.01, 0.1))
S3_OBJECTS = S3Objects(s3_server.BUCKET, patience=5, pauses=(0.01, 0.1))


@pytest.fixture(params=["local", "memory", "gcs", "s3", "localstack", "overlay"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """An empty store of each kind."""
    if request.param == "memory":
        return MemoryStore()
    if request.param == "overlay":
        folder = tmp_path_factory.mktemp("overlay")
        return OverlayStore(LocalStore(folder / "own"), LocalStore(folder / "base", read_only=True))
    fixtures = {"gcs": "bucket", "s3": "s3_bucket", "localstack": "other_s3_bucket"}
    kept: Store = request.getfixturevalue(fixtures.get(request.param, "local"))
    return kept


@pytest.fixture
def local(tmp_path: Path) -> LocalStore:
    """An empty store in a folder."""
    return LocalStore(tmp_path / "store")


@pytest.fixture(scope="session")
def _server() -> Iterator[GcsServer]:
    with gcs_server.serve(BUCKET) as server:
        yield server


@pytest.fixture(scope="session")
def _s3_server() -> Iterator[S3Server]:
    with s3_server.serve(s3_server.BUCKET) as server:
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
def s3(_s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """A server with an empty bucket of S3, for this process and those it starts."""
    _s3_server.clear()
    for name, value in _s3_server.environment.items():
        monkeypatch.setenv(name, value)
    return _s3_server


@pytest.fixture
def s3_bucket(s3: S3Server) -> BucketStore:
    """An empty store in a bucket of S3, below a prefix."""
    return BucketStore(replace(S3_OBJECTS, prefix=f"{uuid4().hex[:8]}/store/"))


@pytest.fixture(scope="session")
def _other_s3_url() -> Iterator[str]:
    if other_s3.PYTHON not in os.environ:
        pytest.skip(f"{other_s3.PYTHON} names no interpreter of an environment with LocalStack")
    with other_s3.serve() as url:
        yield url


@pytest.fixture
def other_s3_bucket(_other_s3_url: str, monkeypatch: pytest.MonkeyPatch) -> BucketStore:
    """An empty store in a bucket of a service that is not moto, below a prefix."""
    for name, value in s3_server.environment(_other_s3_url).items():
        monkeypatch.setenv(name, value)
    service = client(TIMEOUT)
    service.create_bucket(Bucket="other")  # again for each test: it is ours by then, which is no error
    service.put_bucket_versioning(Bucket="other", VersioningConfiguration={"Status": "Enabled"})
    return BucketStore(replace(S3_OBJECTS, bucket_name="other", prefix=f"{uuid4().hex[:8]}/store/"))


@pytest.fixture
def world() -> Iterator[World]:
    """An empty bucket, and no threads; whoever still owns something at the end gives it back."""
    world = World()
    yield world
    world.service.away = False
    for machine in world.machines:
        with suppress(StoreError):
            machine.leave()
