"""Keys and bytes do not depend on the runner."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.on_cluster import Site
from tests.kube.cluster import Cluster
from tests.slurm import runs
from tests.slurm.daemons import Slurm
from tests.store.gcs_server import BUCKET, serve

pytestmark = pytest.mark.slow
TEXTS, PACE = 6, 0.1


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A namespace of a cluster, and a bucket."""
    cluster = Cluster("fake")
    with serve(BUCKET) as bucket:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", bucket.url)
        yield Site(cluster, cluster.make_namespace(), bucket)
    cluster.close()


def test_steps_have_the_same_keys_and_bytes_by_every_runner(slurm: Slurm, site: Site, tmp_path: Path) -> None:
    here = runs.here(tmp_path / "here", TEXTS, PACE)
    assert len(here.made) == 10
    assert runs.on_slurm(tmp_path / "slurm", slurm, TEXTS, PACE).made == here.made
    assert runs.on_cluster(tmp_path / "cluster", site, TEXTS, PACE).made == here.made
