"""The stores that these tests look into: the same tests over each service."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.store.conftest import OBJECTS, S3_OBJECTS
from tests.store.gcs_server import GcsServer
from tests.store.s3_server import S3Server
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.gcs.objects import GcsObjects
from translations_assets.store.s3.objects import S3Objects

Service = GcsServer | S3Server
Adapter = GcsObjects | S3Objects


def flip(service: Service, name: str) -> None:
    """Change one byte of an object behind everybody's back."""
    data = bytearray(service.contents(name))
    data[-1] ^= 1
    service.damage(name, bytes(data))


@pytest.fixture(params=["gcs", "s3"])
def service(request: pytest.FixtureRequest) -> Service:
    """A server with an empty bucket."""
    server: Service = request.getfixturevalue(request.param)
    return server


@pytest.fixture
def objects(service: Service) -> Adapter:
    """All objects of the bucket."""
    adapter: Adapter = OBJECTS if isinstance(service, GcsServer) else S3_OBJECTS
    return replace(adapter, prefix="")


@pytest.fixture
def store(objects: Adapter) -> BucketStore:
    """An empty store whose names are those of the bucket."""
    return BucketStore(objects)
