"""A place in the test cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kube.cluster import Cluster
from tests.runners.kubernetes.places import Place


@pytest.fixture
def place(tmp_path: Path, cluster: Cluster, namespace: str) -> Iterator[Place]:
    """A store and a namespace; all runs end with the test."""
    made = Place(tmp_path, cluster, namespace)
    yield made
    made.close()
