"""Half a minute without a word of a step is broken by what it waits for, whatever that is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import pytest

from tests.kube.kueue import Kueue
from tests.runners.kubernetes.places import IMAGE, Place, Run
from tests.runners.kubernetes.states import JOB
from tests.runners.scripts import COPY, eventually, job
from tests.virtual_clock import VirtualClock
from translations_assets.runners.batch import silence
from translations_assets.runners.batch.silence import Words, heard_of
from translations_assets.runners.kubernetes import admission, cluster, runner
from translations_assets.runners.kubernetes.kueue import suspended_for
from translations_assets.running.events import JobEvent, Started
from translations_assets.running.events import Waiting as Waits
from translations_assets.running.runner import Submission
from translations_assets.running.tasks import Work
from translations_assets.store.local import LocalStore


@dataclass
class Waiting:
    """Steps that wait, by a clock of their own, for what the test says."""

    store: LocalStore
    clock: VirtualClock = field(default_factory=VirtualClock)
    why: str = ""
    told: list[tuple[float, str, str]] = field(default_factory=list)
    submissions: list[Submission] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.words, self.began = Words(self.clock), self.clock.now

    def start(self, label: str) -> None:
        """A step that waits, looked at once a second."""
        work = job(self.store, COPY, label=label)
        told = Submission(work, self.store, threading.Event(), partial(self._tell, label), lambda: None)
        waiting = heard_of(self._wait, told, lambda: self.why, self.words)
        self.clock.start(label, (min(1.0, pause) for pause in waiting), threading.Event())

    def _wait(self, submission: Submission) -> Work[None]:
        self.submissions.append(submission)
        while True:
            yield 3600.0

    def _tell(self, label: str, event: JobEvent) -> None:
        text = event.message if isinstance(event, Waits) else event.kind
        self.told.append((self.clock.now - self.began, label, text))


@pytest.fixture
def waiting(tmp_path: object) -> Waiting:
    """Nothing waits yet."""
    return Waiting(LocalStore(tmp_path / "store"))  # type: ignore[operator]


def moments(waiting: Waiting) -> list[int]:
    """Times at which something was reported."""
    return [round(moment) for moment, _, _ in waiting.told]


def test_what_lasts_is_told_after_half_a_minute_and_then_less_and_less_often(waiting: Waiting) -> None:
    waiting.why = "no machine takes the pod"
    waiting.start("train")
    waiting.clock.run(3600)
    assert moments(waiting) == [30, 60, 120, 240, 480, 960, 1560, 2160, 2760, 3360]
    assert waiting.told[0] == (30, "train", "waiting: no machine takes the pod")


def test_of_thousands_of_steps_that_wait_for_one_thing_one_tells_it(waiting: Waiting) -> None:
    waiting.why = "9 of 10 Jobs"
    for number in range(50):
        waiting.start(f"score-{number}")
    waiting.clock.run(29)
    assert waiting.told == []
    waiting.clock.run(2)
    assert len(waiting.told) == 1
    waiting.why = "8 of 10 Jobs"  # the same thing
    waiting.clock.run(28)
    assert len(waiting.told) == 1
    waiting.why = "the API server does not answer"
    waiting.clock.run(30)
    assert [text for _, _, text in waiting.told[1:]] == ["waiting: the API server does not answer"]


def test_nothing_is_told_of_a_step_that_runs_until_something_is_the_matter(waiting: Waiting) -> None:
    waiting.start("train")
    waiting.clock.run(1000)
    assert waiting.told == []
    waiting.why = "the API server does not answer"
    waiting.clock.run(6)
    assert moments(waiting) in ([1000 + late] for late in range(7))


def test_an_event_is_a_word_too(waiting: Waiting) -> None:
    waiting.why = "the pod starts"
    waiting.start("train")
    waiting.clock.run(25)
    waiting.submissions[0].on_event(Started())
    waiting.clock.run(29)
    assert moments(waiting) == [25]
    waiting.clock.run(2)
    assert moments(waiting) == [25, 55]


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Silence is half a second, and the Job's events are looked at more often."""
    monkeypatch.setattr(silence, "SILENT_SECONDS", 0.5)
    monkeypatch.setattr(silence, "_LOOK_SECONDS", 0.1)
    monkeypatch.setattr(admission, "FIRST_SECONDS", 0.1)
    monkeypatch.setattr(admission, "LOOK_SECONDS", 0.2)


def _full_quota(place: Place) -> Run:
    place.cluster.gate.quotas[place.namespace] = 0
    return place.run()


def _queue(place: Place) -> Run:
    run = place.run(max_jobs=1)
    run.start(place.talking(number=1))
    assert eventually(lambda: bool(place.live()))
    return run


def _no_machine(place: Place) -> Run:
    return place.run({"gpus": 64})


def _no_image(place: Place) -> Run:
    place.cluster.missing_images.add(IMAGE)
    return place.run()


@pytest.mark.cluster
@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (_full_quota, "refuses the Job, and the request is repeated: exceeded quota: steps"),
        (_queue, "the limit of running jobs is reached (max-jobs in the deployment file)"),
        (_no_machine, "no machine takes the pod: 0/5 nodes"),
        (_no_image, "the image cannot be pulled"),
    ],
    ids=["quota", "queue", "machine", "image"],
)
def test_a_step_that_waits_says_for_what(place: Place, make: Callable[[Place], Run], words: str) -> None:
    run = make(place)
    run.start(place.job(COPY))
    assert eventually(lambda: any(words in text for text in run.told)), run.told


@pytest.mark.cluster
@pytest.mark.usefixtures("soon")
def test_an_api_server_that_is_away_is_told_of_before_anything_is_asked(place: Place) -> None:
    run = place.run()
    with place.cluster.api_away(2.0):
        ending = run.start(place.job(COPY))
        assert eventually(lambda: any("refused" in text for text in run.told)), run.told
    assert "the cluster's API server does not answer" in run.told[-1]
    assert ending.result(60).kind == "done"


@pytest.mark.cluster
@pytest.mark.usefixtures("soon")
def test_an_api_server_that_is_away_is_told_of_while_a_step_runs(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "SILENT_SECONDS", 1.5)
    monkeypatch.setattr(cluster, "_WATCH_SECONDS", 1)
    run = place.run()
    ending = run.start(place.talking())
    assert eventually(lambda: "line 0" in run.lines["step-0"])
    with place.cluster.api_away(3.0):
        assert eventually(lambda: any("Connection refused" in text for text in run.told)), run.told
    place.go()
    assert ending.result(60).kind == "done"


QUOTA = "couldn't assign flavors to pod set main: insufficient unused quota for cpu, 1 more needed"
NOT_RESERVED = {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": QUOTA}
RESERVED = {"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved", "message": "Quota reserved"}
NOT_ADMITTED = {"type": "Admitted", "status": "False", "message": "a provisioning request is pending"}


@pytest.fixture
def held(place: Place) -> Iterator[Place]:
    """A namespace whose Jobs a queue holds back."""
    place.cluster.fake.held.add(place.namespace)
    yield place
    place.cluster.fake.held.clear()


@pytest.mark.cluster
@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_a_job_that_kueue_holds_waits_longer_than_pods_may_and_says_for_what(
    held: Place, version: str
) -> None:
    run = held.run(pending_minutes=1 / 60)
    ending = run.start(held.job(COPY))
    assert eventually(lambda: bool(held.jobs()))
    (made,) = held.jobs()
    held.cluster.fake.kueue = kueue = Kueue(version)
    kueue.hold(made, "team-a", NOT_RESERVED)
    words = f"waiting: Kueue holds its Job in the queue team-a: {QUOTA}"
    assert eventually(lambda: words in run.told), run.told
    assert not eventually(ending.done, 2.0)
    assert held.pods() == []
    held.cluster.let_go(made)
    assert ending.result(60).kind == "done"


@pytest.mark.cluster
@pytest.mark.usefixtures("soon")
def test_a_job_that_is_suspended_without_kueue_waits_and_says_so(held: Place) -> None:
    run = held.run(pending_minutes=1 / 60)
    ending = run.start(held.job(COPY))
    words = (
        "waiting: its Job is suspended, until somebody resumes it; the cluster says: Suspended: Job suspended"
    )
    assert eventually(lambda: words in run.told), run.told
    assert not eventually(ending.done, 2.0)
    run.cancel.set()
    assert ending.result(30).kind == "cancelled"
    assert held.jobs() == []


def test_the_time_of_pending_minutes_begins_when_a_job_is_let_go(held: Place) -> None:
    run = held.run({"gpus": 64}, pending_minutes=2 / 60)
    ending = run.start(held.job(COPY))
    assert eventually(lambda: bool(held.jobs()))
    assert not eventually(ending.done, 4.0)
    held.cluster.let_go(held.jobs()[0])
    assert "no machine can take the pod" in ending.result(30).message


@pytest.mark.parametrize(
    ("conditions", "said"),
    [
        ([NOT_RESERVED], QUOTA),
        ([RESERVED, NOT_ADMITTED], "a provisioning request is pending"),
        ([RESERVED], "it does not say why"),
        ([], "it does not say why"),
    ],
)
def test_what_kueue_waits_for_is_in_its_conditions(conditions: list[dict[str, str]], said: str) -> None:
    workload = {"spec": {"queueName": "team-a"}, "status": {"conditions": conditions}}
    words = suspended_for(JOB, workload, ["CreatedWorkload: x"])
    assert words == f"Kueue holds its Job in the queue team-a: {said}"
