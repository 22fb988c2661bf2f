"""The tiny pair on a cluster: trained though its machine goes away again and again, and never made twice."""

from __future__ import annotations

import random
import re
import subprocess
from itertools import cycle
from pathlib import Path

import pytest

from tests.end_to_end.chaos import EVENTS, Chaos
from tests.end_to_end.evidence import results
from tests.end_to_end.on_cluster import ClusterPlace, Site
from tests.end_to_end.tiny import BIN, PARTITION
from tests.kube.made import wait_for
from translations_assets.records.manifest import Manifest

pytestmark = [pytest.mark.cluster, pytest.mark.slow, pytest.mark.marian]

UPDATES, STEP = 700, "train-backwards-en-eo"
PREEMPTIONS = 3


def trains_longer(place: ClusterPlace) -> None:
    """Have the first model trained for more updates; small ones, as its curriculum ends after some epochs."""
    path = place.root / "configs" / f"{PARTITION}.yml"
    text = path.read_text().replace("after: 20u\n", f"after: {UPDATES}u\n", 1)
    for option in ("save-freq", "valid-freq"):
        text = text.replace(f"{option}: 20\n", f"{option}: 50\n", 1)
    path.write_text(text.replace("mini-batch: 32\n", "mini-batch: 4\n    early-stopping: 100\n", 1))


def training_pod(site: Site) -> str | None:
    """The pod that trains, if one does."""
    jobs = {
        job["metadata"]["name"]
        for job in site.cluster.jobs(site.namespace)
        if STEP in job["metadata"]["annotations"]["translations/members"]
    }
    live = site.cluster.live_pods(site.namespace)
    return next((pod for pod in live if pod.rpartition("/")[2].rpartition("-")[0] in jobs), None)


def saves(site: Site) -> set[str]:
    """The checkpoint sets in the bucket, by the updates that they were made after."""
    names = "\n".join(site.bucket.names())
    return set(re.findall(rf"^{site.namespace}/checkpoints/(?:[^/]+/){{3}}([^/]+)/", names, re.MULTILINE))


def has_saved(site: Site, before: set[str]) -> bool:
    """True if a pod trains that has saved something new."""
    return bool(saves(site) - before) and training_pod(site) is not None


def log_of(place: ClusterPlace, manifest: Manifest) -> dict[int, str]:
    """Attempt → its log."""
    store, key, number = place.store, manifest.key, manifest.generation
    return {
        attempt: b"".join(store.read_log(key, number, attempt)).decode()
        for attempt in store.attempts(key, number)
    }


def test_disturbances_of_every_kind_change_nothing_and_a_preempted_training_resumes(
    site: Site, tmp_path: Path
) -> None:
    """More: `benchmarks/cluster.py`."""
    place = site.make_place(tmp_path / "place")
    one = Chaos(place, "evaluate_backwards", random.Random(2), cycle(EVENTS), longest_wait=2.0)
    happened = one.run(len(EVENTS))
    assert one.problems == []
    assert happened == len(EVENTS), "the run lasts long enough to be disturbed"

    # What the training reads is made: a longer one is all that is left
    trains_longer(place)
    command = [str(BIN / "translations"), "train", PARTITION, "--yes", "--target", "train_backwards"]
    with (tmp_path / "output.txt").open("wb") as output:
        run = subprocess.Popen(command, env=place.environment, cwd=place.root, stdout=output, stderr=output)
    try:
        seen: set[str] = set()
        for _ in range(PREEMPTIONS):
            wait_for(lambda: run.poll() is not None or has_saved(site, seen), 240)  # noqa: B023
            assert run.poll() is None, (tmp_path / "output.txt").read_text()[-3000:]
            seen = saves(site)
            pod = training_pod(site)
            assert pod
            assert site.cluster.node_of(pod).startswith("spot-")
            site.cluster.preempt(pod)
            wait_for(lambda: pod not in site.cluster.live_pods(), 90)  # noqa: B023
            seen |= saves(site)
        assert run.wait(300) == 0, (tmp_path / "output.txt").read_text()[-3000:]
    finally:
        run.kill()
        run.wait()

    manifest = results(place)[STEP]
    logs = log_of(place, manifest)
    assert manifest.attempt == PREEMPTIONS + 1
    assert manifest.host.startswith("cpu-"), "after three preemptions a machine that stays is taken"
    assert ["continues from checkpoint sets" in logs[attempt] for attempt in sorted(logs)] == [
        False,
        *[True] * PREEMPTIONS,
    ]
    assert f"Up. {UPDATES} " in logs[manifest.attempt]
    assert not any(re.search(rf"Up\. {UPDATES + 1}\b", log) for log in logs.values())
    assert saves(site) == set()
