"""Pods that the API server refuses: nothing but an event of the Job tells of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tests.kube.events import Correlator, Told, pauses
from tests.runners.kubernetes.places import Place
from tests.runners.scripts import COPY, eventually
from tests.virtual_clock import VirtualClock
from translations_assets.runners.batch import silence
from translations_assets.runners.kubernetes import admission
from translations_assets.runners.kubernetes.admission import Admission, JobAdmission, Refusal
from translations_assets.runners.kubernetes.cluster import NotAdmitted

pytestmark = pytest.mark.cluster

QUOTA = "exceeded quota: team, requested: pods=1, used: pods=8, limited: pods=8"


SECURITY = 'violates PodSecurity "restricted:latest": runAsNonRoot != true'
POLICY = "ValidatingAdmissionPolicy 'images' with binding 'all' denied request: failed expression: true"
WEBHOOK = 'admission webhook "policy.example" denied the request: no image of this registry'
JOB = "translations-ab12"


class Refusing:
    """A Job controller that tries again and again, by a clock, and the events that come of it."""

    def __init__(self, refusal: str, backoff: tuple[float, float]) -> None:
        self.clock = VirtualClock()
        self._refusal, self._backoff = refusal, backoff
        self._events: dict[tuple[str, ...], tuple[float, Told]] = {}
        self.clock.start("job controller", self._tries(), threading.Event())

    def _tries(self) -> Iterator[float]:
        correlator = Correlator(self.clock.monotonic)
        for number, pause in enumerate(pauses(*self._backoff)):
            words = self._refusal.format(pod=f"{JOB}-{number:05x}", number=number)
            message = f"Error creating: {words}"
            if told := correlator.tell("uid", "FailedCreate", message):
                self._events[told.key] = self.clock.now, told
            yield pause

    def events(self, job: str) -> list[str]:
        assert job == JOB
        return [f"FailedCreate: {told.message}" for _, told in sorted(self._events.values(), key=_first)]

    def watched(self, seconds: int) -> list[tuple[float, Refusal]]:
        """The value found within so many seconds, and the seconds it took."""
        began = self.clock.now
        looking = Admission(JOB, self.clock)
        found = list[tuple[float, Refusal]]()
        for _ in range(seconds):
            self.clock.run(1)
            if looking.is_due() and (refusal := looking.look(self.events(JOB))):
                found.append((self.clock.now - began, refusal))
        return found


def _first(pair: tuple[float, Told]) -> float:
    return pair[0]


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Job's events are looked at more often than each half minute, and silence is told of earlier."""
    monkeypatch.setattr(admission, "FIRST_SECONDS", 0.1)
    monkeypatch.setattr(admission, "LOOK_SECONDS", 0.2)
    monkeypatch.setattr(silence, "SILENT_SECONDS", 0.4)


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("cluster", ["fake", "real"], indirect=True, scope="module")
def test_what_a_namespace_never_lets_in_fails_with_its_words(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "REFUSED_SECONDS", 1.0)
    place.cluster.limit_memory(place.namespace)
    run = place.run({"pod": {"container_config": {"resources": {"limits": {"memory": "1Gi"}}}}})
    outcome = run.make(place.job(COPY))
    assert outcome.kind == "failed"
    assert "the cluster refuses the pod: maximum memory usage per Container is 1Mi" in outcome.message
    assert "Change the worker class in the deployment file, or the limits of the namespace" in outcome.message
    assert eventually(lambda: not place.jobs())
    assert any("the request is repeated: maximum memory usage" in text for text in run.told)


@pytest.mark.parametrize("cluster", ["fake", "real"], indirect=True, scope="module")
@pytest.mark.usefixtures("often")
def test_a_priority_class_that_is_missing_fails_at_once_and_names_the_remedy(place: Place) -> None:
    if place.cluster.kind == "fake":
        place.cluster.refuse_pods(place.namespace, "no PriorityClass with name urgent was found")
    outcome = place.run({"priority-class": "urgent"}).make(place.job(COPY))
    assert outcome.kind == "failed"
    assert "the cluster has no priority class urgent" in outcome.message
    assert "deploy/kubernetes/base/limits.yaml" in outcome.message
    assert eventually(lambda: not place.jobs())


@pytest.mark.usefixtures("often")
def test_a_quota_is_told_and_waited_for(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "REFUSED_SECONDS", 0.0)
    place.cluster.refuse_pods(place.namespace, QUOTA)
    run = place.run()
    ending = run.start(place.job(COPY))
    assert eventually(lambda: any(QUOTA in text for text in run.told))
    assert not ending.done()
    place.cluster.refuse_pods(place.namespace, "")
    assert ending.result(60).kind == "done"


def test_a_quota_on_jobs_is_waited_for_without_end() -> None:
    clock = VirtualClock()
    creation, quota = JobAdmission(clock), NotAdmitted("exceeded quota: steps", by_quota=True)
    for _ in range(1000):
        creation.refused(quota)
        clock.run(10)


def test_a_policy_that_refuses_jobs_fails_after_five_minutes() -> None:
    clock = VirtualClock()
    creation, denied = JobAdmission(clock), NotAdmitted(WEBHOOK, by_quota=False)
    creation.refused(denied)
    clock.run(299)
    creation.refused(denied)
    clock.run(1)
    with pytest.raises(NotAdmitted, match="refuses the job: admission webhook .*no image of this registry"):
        creation.refused(denied)


@pytest.mark.usefixtures("often")
def test_a_job_beyond_the_quota_takes_the_place_of_one_that_is_done(place: Place) -> None:
    place.cluster.gate.quotas[place.namespace] = 2
    run = place.run()
    for number in range(4):
        assert run.make(place.job(COPY, number)).kind == "done"
    assert len(place.jobs()) == 2


@pytest.mark.usefixtures("often")
def test_a_job_beyond_the_quota_waits_for_one_that_runs(place: Place) -> None:
    place.cluster.gate.quotas[place.namespace] = 1
    run = place.run()
    first = run.start(place.talking(key="1" * 64))
    assert eventually(lambda: len(place.live()) == 1)
    second = run.start(place.job(COPY))
    assert eventually(lambda: any("count/jobs.batch=1" in text for text in run.told))
    assert not second.done()
    place.go()
    assert first.result(60).kind == second.result(60).kind == "done"


@pytest.mark.usefixtures("often")
def test_a_run_that_is_cancelled_waits_for_no_quota(place: Place) -> None:
    place.cluster.gate.quotas[place.namespace] = 0
    run = place.run()
    ending = run.start(place.job(COPY))
    assert eventually(lambda: any("exceeded quota" in text for text in run.told))
    run.cancel.set()
    assert ending.result(60).kind == "cancelled"


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("status", [400, 403, 422])
def test_a_job_that_a_policy_refuses_fails_with_its_words(
    place: Place, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr(admission, "REFUSED_SECONDS", 0.5)
    place.cluster.gate.policies[place.namespace] = status, f'jobs.batch "{{job}}" is forbidden: {POLICY}'
    with pytest.raises(NotAdmitted, match="refuses the job: ValidatingAdmissionPolicy 'images' with binding"):
        place.run().make(place.job(COPY))


@pytest.mark.parametrize("backoff", [(1.0, 60.0), (10.0, 360.0)])
@pytest.mark.parametrize(
    "refusal", [f'pods "{{pod}}" is forbidden: {SECURITY}', f"{WEBHOOK} ({{pod}})", POLICY]
)
def test_a_refusal_lasts_however_often_the_cluster_tries_and_whatever_the_pod_is_called(
    refusal: str, backoff: tuple[float, float]
) -> None:
    found = Refusing(refusal, backoff).watched(3600)
    assert [seconds for seconds, _ in found[:3]] == [10, 40, 70]
    assert next(seconds for seconds, item in found if item.for_good) == 310


def test_a_quota_is_never_taken_for_what_lasts() -> None:
    quota = 'pods "{pod}" is forbidden: exceeded quota: team, requested: pods=1, used: pods={number}'
    found = Refusing(quota, (1.0, 60.0)).watched(3600)
    assert len(found) == 120
    assert not any(item.for_good for _, item in found)


def test_of_many_similar_events_the_newest_is_read() -> None:
    events = [
        'FailedCreate: Error creating: pods "a-1" is forbidden: exceeded quota: team',
        "SuccessfulCreate: Created pod: a-2",
        f'FailedCreate: (combined from similar events): Error creating: pods "a-3" is forbidden: {SECURITY}',
    ]
    assert admission.last_refusal(events) == SECURITY


@pytest.mark.parametrize(
    ("said", "for_good"),
    [
        (SECURITY, True),
        (WEBHOOK, True),
        (POLICY, True),
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
