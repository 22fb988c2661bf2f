"""A tiny pair, trained once a session through every stage for all tests that look at what came out."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.damage import copy_of
from tests.end_to_end.on_cluster import Site
from tests.end_to_end.tiny import PARTITION, Place, learning, make_place
from tests.kube.cluster import Cluster
from tests.session import once
from tests.store.gcs_server import BUCKET, serve


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A copy of the tiny pair with every stage made by `translations train`; its models know the grammar."""
    return copy_of(Place(once("tiny", _train)), tmp_path_factory.mktemp("tiny") / "place")


def _train(folder: Path) -> None:
    place = make_place(folder)
    config = folder / "configs" / f"{PARTITION}.yml"
    config.write_text(learning(config.read_text(encoding="utf-8")), encoding="utf-8")
    done = place.run("translations", "train", PARTITION, "--yes")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def site(cluster: Cluster, namespace: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """An empty namespace of a cluster, and an empty bucket."""
    with serve(BUCKET) as bucket:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", bucket.url)
        made = Site(cluster, namespace, bucket)
        yield made
        for orchestrator in made.orchestrators:
            orchestrator.close()
