"""Pods that the API server refuses: nothing but an event of the Job tells of it."""

from __future__ import annotations

import pytest

from tests.runners.kubernetes.places import Place
from tests.runners.scripts import COPY, eventually
from translations_assets.runners.kubernetes import admission

pytestmark = pytest.mark.cluster

QUOTA = "exceeded quota: team, requested: pods=1, used: pods=8, limited: pods=8"


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Job's events are looked at more often than each half minute."""
    monkeypatch.setattr(admission, "LOOK_SECONDS", 0.2)


@pytest.mark.parametrize("cluster", ["fake", "real"], indirect=True, scope="module")
def test_what_a_namespace_never_lets_in_fails_with_its_words(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "REFUSED_SECONDS", 0.5)
    place.cluster.limit_memory(place.namespace)
    run = place.run({"pod": {"container_config": {"resources": {"limits": {"memory": "1Gi"}}}}})
    outcome = run.make(place.job(COPY))
    assert outcome.kind == "failed"
    assert "the cluster refuses the pod: maximum memory usage per Container is 1Mi" in outcome.message
    assert "Change the worker class in the deployment file, or the limits of the namespace" in outcome.message
    assert eventually(lambda: not place.jobs())
    (told,) = [line for line in run.lines["step-0"] if "refuses" in line]  # once, not each time
    assert "is asked again: maximum memory usage" in told


def test_a_quota_is_told_and_waited_for(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "REFUSED_SECONDS", 0.0)
    place.cluster.refuse_pods(place.namespace, QUOTA)
    run = place.run()
    ending = run.start(place.job(COPY))
    assert eventually(lambda: any(QUOTA in line for line in run.lines["step-0"]))
    assert not ending.done()
    place.cluster.refuse_pods(place.namespace, "")
    assert ending.result(60).kind == "done"


@pytest.mark.parametrize(
    ("said", "for_good"),
    [
        ('violates PodSecurity "restricted:latest": runAsNonRoot != true', True),
        ('admission webhook "policy.example" denied the request: no image of this registry', True),
        ("minimum cpu usage per Pod is 1, but request is 500m", True),
        ("memory max limit to request ratio per Container is 1, but provided ratio is 2.0", True),
        ("failed quota: team: must specify limits.memory", True),
        (QUOTA, False),
        ('Internal error occurred: failed calling webhook "inject": context deadline exceeded', False),
        ('error looking up service account team/worker: serviceaccount "worker" not found', False),
    ],
)
def test_what_passes_by_itself_is_waited_for(said: str, for_good: bool) -> None:
    assert bool(admission._FOR_GOOD.search(said)) == for_good
