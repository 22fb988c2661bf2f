"""Jobs of a worker class with a queue: Kueue lets them begin, and takes their room back for others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.kube.kueue import Kueue
from tests.kube.objects import Object
from tests.runners.kubernetes.places import SPOT, Place, Run
from tests.runners.kubernetes.states import JOB
from tests.runners.kubernetes.test_ends import SAVES
from tests.runners.scripts import COPY, eventually
from translations_assets.runners.batch import silence
from translations_assets.runners.kubernetes import admission
from translations_assets.runners.kubernetes.kueue import QUEUE, suspended_for, taken_back
from translations_assets.running.job import Job, Outcome

IN_QUEUE = {"queue": "team-a"}
ROOM = "Preempted to accommodate a workload (UID: 1) due to prioritization in the ClusterQueue"
PREEMPTED = {"type": "Preempted", "status": "True", "reason": "InClusterQueue", "message": ROOM}
EVICTED = {"type": "Evicted", "status": "True", "reason": "PodsReadyTimeout", "message": "not ready in time"}
WAITS = {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": "no room"}
SAVES_LONG = """
    import pathlib, signal, sys, time
    def end(*_):
        print("saving", flush=True)
        while not pathlib.Path({root!r}, "go").exists():
            time.sleep(0.05)
        sys.exit(0)
    signal.signal(signal.SIGTERM, end)
    print("begun", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def kueue(place: Place) -> Iterator[Kueue]:
    """Kueue's API, in the cluster of the place."""
    place.cluster.fake.kueue = made = Kueue()
    yield made
    place.cluster.fake.kueue = None


def begin(place: Place) -> Object:
    """Wait for the newest Job, and let it begin, as Kueue does."""
    assert eventually(lambda: any(job["spec"].get("suspend") for job in place.jobs()))
    (made,) = (job for job in place.jobs() if job["spec"].get("suspend"))
    place.cluster.let_go(made)
    return made


def take_back(place: Place, kueue: Kueue, run: Run, work: Job) -> Outcome:
    """Make an attempt, and take its room back once its script writes."""
    ending = run.start(work)
    made = begin(place)
    assert eventually(lambda: "begun" in run.lines[work.label])
    kueue.hold(made, "team-a", PREEMPTED, WAITS)
    place.cluster.hold(made)
    return ending.result(60)


@pytest.mark.cluster
def test_a_job_in_a_queue_begins_when_kueue_lets_it(place: Place, kueue: Kueue) -> None:
    ending = place.run(IN_QUEUE).start(place.job(COPY))
    made = begin(place)
    assert made["metadata"]["labels"][QUEUE] == "team-a"
    assert QUEUE not in made["spec"]["template"]["metadata"]["labels"]  # a pod's own would queue the pod
    assert ending.result(60).kind == "done"


@pytest.mark.cluster
def test_room_that_kueue_takes_back_costs_no_attempt_and_no_machine(place: Place, kueue: Kueue) -> None:
    run = place.run({**SPOT, **IN_QUEUE}, max_preemptions=1)
    outcome = take_back(place, kueue, run, place.job(SAVES, machine="spot"))
    assert (outcome.kind, outcome.uncounted) == ("temporary", True)
    assert f"Kueue took the room of its Job back: {ROOM}" in outcome.message
    assert "saved" in outcome.log_tail
    assert eventually(lambda: not place.jobs())
    ending = run.start(place.job(COPY, machine="spot", attempt=2))
    assert begin(place)["metadata"]["labels"]["translations/machine"] == "spot"
    assert ending.result(60).kind == "done"


@pytest.mark.cluster
def test_room_that_is_given_again_at_once_was_taken_back_all_the_same(place: Place, kueue: Kueue) -> None:
    run = place.run(IN_QUEUE)
    ending = run.start(place.job(SAVES_LONG.format(root=str(place.root))))
    made = begin(place)
    assert eventually(lambda: "begun" in run.lines["step-0"])
    place.cluster.hold(made)
    assert eventually(lambda: "saving" in run.lines["step-0"])
    place.cluster.let_go(made)
    assert eventually(lambda: "Failed" in str(place.jobs()[0]["status"]))  # its pod is counted as failed
    place.go()
    outcome = ending.result(60)
    assert (outcome.kind, outcome.uncounted) == ("temporary", True)
    assert eventually(lambda: not place.live())


@pytest.mark.cluster
def test_a_queue_that_nobody_looks_after_is_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(silence, "SILENT_SECONDS", 0.5)
    monkeypatch.setattr(admission, "FIRST_SECONDS", 0.1)
    run = place.run(IN_QUEUE)
    run.start(place.job(COPY))
    words = "its Job is suspended for the queue team-a, and Kueue shows no Workload for it"
    assert eventually(lambda: any(words in text for text in run.told)), run.told


@pytest.mark.parametrize(
    ("conditions", "said"),
    [
        ([EVICTED, PREEMPTED], f"Kueue took the room of its Job back: {ROOM}"),
        ([EVICTED], "Kueue took the room of its Job back: not ready in time"),
        ([{**EVICTED, "message": ""}], "Kueue took the room of its Job back: PodsReadyTimeout"),
        (
            [{**EVICTED, "status": "False"}, WAITS],
            "its Job was suspended while it ran, by a queue or by a person",
        ),
    ],
)
def test_the_reason_for_which_room_is_taken_back(conditions: list[dict[str, Any]], said: str) -> None:
    verdict = taken_back({"status": {"conditions": conditions}})
    assert (verdict.message, verdict.failed, verdict.lost_machine) == (said, False, False)


def test_a_suspended_job_without_a_queue_is_nobody_elses() -> None:
    assert "until somebody resumes it" in suspended_for(JOB, None, [])
    assert "the queue a" in suspended_for(replace(JOB, labels={QUEUE: "a"}), None, ["Suspended: x"])
