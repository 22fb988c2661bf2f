"""The store that these tests look into."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.store.conftest import S3_OBJECTS
from tests.store.s3_server import S3Server
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.s3.objects import S3Objects


@pytest.fixture
def objects(s3: S3Server) -> S3Objects:
    """An empty bucket's objects below `store/`."""
    return replace(S3_OBJECTS, prefix="store/")


@pytest.fixture
def store(s3: S3Server) -> BucketStore:
    """An empty store whose names are those of the bucket."""
    return BucketStore(replace(S3_OBJECTS, prefix=""))
