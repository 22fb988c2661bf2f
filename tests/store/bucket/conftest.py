"""The store that these tests look into."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.store.conftest import OBJECTS
from tests.store.gcs_server import GcsServer
from translations_assets.store.bucket.store import BucketStore


@pytest.fixture
def store(gcs: GcsServer) -> BucketStore:
    """An empty store whose names are those of the bucket."""
    return BucketStore(replace(OBJECTS, prefix=""))
