"""A tiny pair, trained once through every stage for all tests that look at what came out."""

from collections.abc import Iterator

import pytest

from tests.end_to_end.on_cluster import Site
from tests.end_to_end.tiny import PARTITION, Place, learning, make_place
from tests.kube.cluster import Cluster
from tests.store.gcs_server import BUCKET, serve


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The tiny pair with every stage made by `translations train`; its models have learned the grammar."""
    place = make_place(tmp_path_factory.mktemp("tiny"))
    config = place.root / "configs" / f"{PARTITION}.yml"
    config.write_text(learning(config.read_text(encoding="utf-8")), encoding="utf-8")
    done = place.run("translations", "train", PARTITION, "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    return place


@pytest.fixture
def site(cluster: Cluster, namespace: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """An empty namespace of a cluster, and an empty bucket."""
    with serve(BUCKET) as bucket:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", bucket.url)
        made = Site(cluster, namespace, bucket)
        yield made
        for orchestrator in made.orchestrators:
            orchestrator.close()
