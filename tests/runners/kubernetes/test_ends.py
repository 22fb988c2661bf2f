"""Tests of attempts that end on a cluster for other reasons than their script, and of their messages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runners.kubernetes.places import IMAGE, SPOT, Place, Run
from tests.runners.scripts import COPY, eventually, written
from translations_assets.common.settings import repository_root
from translations_assets.runners.batch import silence
from translations_assets.runners.kubernetes import following, starting
from translations_assets.running.job import Job, Outcome

pytestmark = pytest.mark.cluster

SAVES = """
    import pathlib, signal, sys, time
    def end(*_):
        print("saved", flush=True)
        sys.exit(0)
    signal.signal(signal.SIGTERM, end)
    print("begun", flush=True)
    time.sleep(600)
"""


def end_by(place: Place, run: Run, work: Job, what: Any) -> Outcome:
    """Make an attempt, and do something to its pod once its script writes."""
    ending = run.start(work)
    assert eventually(lambda: any(line in ("begun", "line 0") for line in run.lines[work.label]))
    (pod,) = place.live()
    what(pod)
    return ending.result(60)


def test_an_evicted_pod_is_worth_another_attempt(place: Place) -> None:
    outcome = end_by(place, place.run(), place.talking(), place.cluster.evict)
    assert outcome.kind == "temporary"
    assert "the pod was evicted" in outcome.message
    assert "low on resource: memory" in outcome.message


def test_a_preempted_pod_is_worth_another_attempt(place: Place) -> None:
    outcome = end_by(place, place.run(), place.job(SAVES), place.cluster.preempt)
    assert outcome.kind == "temporary"
    assert "taken away" in outcome.message
    assert "saved" in outcome.log_tail


def test_a_node_that_vanishes_takes_its_machine_with_it(place: Place) -> None:
    run = place.run(SPOT, pending_minutes=0.5)
    work = place.talking(machine="spot")

    def remove(pod: str) -> None:
        (found,) = (item for item in place.pods() if item["metadata"]["name"] == pod.partition("/")[2])
        place.cluster.remove_node(found["spec"]["nodeName"])

    outcome = end_by(place, run, work, remove)
    assert outcome.kind == "temporary"
    assert "machine" in outcome.message or "gone" in outcome.message
    assert eventually(lambda: not place.live())


@pytest.mark.parametrize("end", ["preempt", "evict"])
def test_after_so_many_lost_machines_a_step_takes_a_standard_one(place: Place, end: str) -> None:
    """A pod that was evicted has lost its machine as one has that was preempted."""
    run = place.run(SPOT, max_preemptions=1)
    first = end_by(place, run, place.job(SAVES, machine="spot"), getattr(place.cluster, end))
    assert first.kind == "temporary"
    assert run.make(place.job(COPY, machine="spot", attempt=2)).kind == "done"
    machines = [job["metadata"]["labels"]["translations/machine"] for job in place.jobs()]
    assert "standard" in machines
    manifest = place.store.latest(place.job(COPY).key)
    assert manifest is not None
    assert manifest.provenance.worker is not None
    assert manifest.provenance.worker.others["machine"] == "standard"


def test_lost_machines_count_also_when_their_jobs_are_gone(place: Place) -> None:
    run = place.run(SPOT, max_preemptions=2)
    for attempt in (1, 2):
        work = place.job(SAVES, machine="spot", attempt=attempt)
        run.lines[work.label].clear()
        assert end_by(place, run, work, place.cluster.preempt).kind == "temporary"
    for job in place.jobs():
        path = f"/apis/batch/v1/namespaces/{place.namespace}/jobs/{job['metadata']['name']}"
        place.cluster.rest.insist("DELETE", f"{path}?propagationPolicy=Background")
    assert eventually(lambda: not place.jobs())
    assert run.make(place.job(COPY, machine="spot", attempt=3)).kind == "done"
    manifest = place.store.latest(place.job(COPY).key)
    assert manifest is not None
    assert manifest.provenance.worker is not None
    assert manifest.provenance.worker.others["machine"] == "standard"


def test_out_of_memory_names_the_limit_and_a_bigger_class(place: Place) -> None:
    def memory(size: str) -> dict[str, Any]:
        return {"pod": {"container_config": {"resources": {"limits": {"memory": size}}}}}

    run = place.run(worker_classes={"cpu": memory("2Gi"), "large-cpu": memory("16Gi"), "gpu": memory("1Gi")})
    outcome = end_by(place, run, place.talking(), place.cluster.kill_out_of_memory)
    assert outcome.kind == "temporary"
    assert "out of memory" in outcome.message
    assert "cpu have 2Gi" in outcome.message
    assert "choose large-cpu (16Gi) (kubernetes.stages.train_teacher.worker-class)" in outcome.message


def test_a_job_that_people_delete_is_told_so(place: Place) -> None:
    def delete(_: str) -> None:
        name = place.jobs()[0]["metadata"]["name"]
        path = f"/apis/batch/v1/namespaces/{place.namespace}/jobs/{name}?propagationPolicy=Background"
        place.cluster.rest.insist("DELETE", path)

    outcome = end_by(place, place.run(), place.talking(), delete)
    assert outcome.kind == "temporary"
    assert "its job was deleted" in outcome.message


def test_an_image_that_is_missing_fails_early_and_names_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "PULL_SECONDS", 1.0)
    place.cluster.missing_images.add(IMAGE)
    outcome = place.run().make(place.job(COPY))
    assert outcome.kind == "failed"
    assert "the image cannot be pulled" in outcome.message
    assert f"{IMAGE}:1" in outcome.message
    assert "make images REGISTRY=registry.example" in outcome.message
    assert eventually(lambda: not place.jobs())


def test_the_image_of_an_environment_that_is_missing_says_how_to_build_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "PULL_SECONDS", 1.0)
    place.cluster.missing_images.add(f"{IMAGE}-opuscleaner:")
    lock = place.store.add_blob(repository_root() / "requirements" / "opuscleaner.lock")
    run = place.run(tag=None)
    assert run.make(place.job(COPY, 1)).kind == "done"
    outcome = run.make(place.job(COPY, 2, inputs={"in.txt": lock}))
    assert outcome.kind == "failed"
    assert "from requirements/opuscleaner.lock by deploy/environment.Dockerfile" in outcome.message


NO_DRIVER = "nvidia-container-cli: initialization error: driver not loaded"


def test_a_node_whose_runtime_is_not_ready_is_worth_another_attempt(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "NODE_SECONDS", 0.1)
    place.cluster.broken.update(dict.fromkeys(place.cluster.nodes, NO_DRIVER))
    outcome = place.run().make(place.job(COPY))
    assert outcome.kind == "temporary"
    assert f"the container could not be started on cpu-1: {NO_DRIVER}" in outcome.message


def test_a_node_that_fails_is_left_some_time_unless_nobody_waits(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "NODE_SECONDS", 3600.0)
    place.cluster.broken.update(dict.fromkeys(place.cluster.nodes, NO_DRIVER))
    run = place.run()
    ending = run.start(place.job(COPY))
    assert eventually(
        lambda: any(f"{NO_DRIVER}. The attempt ends in" in line for line in run.lines["step-0"])
    )
    assert not ending.done()
    run.cancel.set()
    assert ending.result(60).kind == "cancelled"


def test_a_registry_that_fails_is_told_and_worth_another_attempt(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "PULL_SECONDS", 0.0)
    monkeypatch.setattr(starting, "PASSING_SECONDS", 1.0)
    monkeypatch.setattr(silence, "SILENT_SECONDS", 0.3)
    place.cluster.missing_images.add(IMAGE)
    place.cluster.pull_error = "dial tcp 192.0.2.1:443: i/o timeout"
    run = place.run()
    outcome = run.make(place.job(COPY))
    assert outcome.kind == "temporary"
    assert "i/o timeout" in outcome.message
    assert "make images" not in outcome.message
    assert any("the image cannot be pulled" in text and "tried again" in text for text in run.told)


def test_a_pod_that_no_machine_takes_says_what_is_missing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silence, "SILENT_SECONDS", 0.3)
    run = place.run({"gpus": 64}, pending_minutes=2 / 60)
    outcome = run.make(place.job(COPY))
    assert outcome.kind == "temporary"
    assert "no machine can take the pod" in outcome.message
    assert "nvidia.com/gpu" in outcome.message
    assert any("nvidia.com/gpu" in text for text in run.told)
    assert eventually(lambda: not place.jobs())


def test_a_secret_that_is_missing_fails_early(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "PULL_SECONDS", 1.0)
    run = place.run(secrets={"TOKEN": "nowhere/key"})
    outcome = run.make(place.job(COPY, secrets=("TOKEN",)))
    assert outcome.kind == "failed"
    assert 'secret "nowhere" not found' in outcome.message


@pytest.mark.slow
@pytest.mark.parametrize(("resumable", "kind"), [(True, "temporary"), (False, "failed")])
def test_an_attempt_that_takes_too_long_is_ended(place: Place, resumable: bool, kind: str) -> None:
    run = place.run({"max-hours": 2 / 3600}, pending_minutes=15 / 60)
    outcome = run.make(place.talking(resumable=resumable))
    assert outcome.kind == kind
    assert "max-hours" in outcome.message
    assert eventually(lambda: not place.live())


@pytest.mark.slow
def test_the_api_server_may_be_away_while_a_step_runs(place: Place) -> None:
    run = place.run()
    ending = run.start(place.talking())
    assert eventually(lambda: "line 3" in run.lines["step-0"])
    with place.cluster.api_away(6.0):
        pass
    place.go()
    assert ending.result(60).kind == "done"
    lines = [line for line in run.lines["step-0"] if line.startswith("line")]
    assert lines == [f"line {number}" for number in range(len(lines))]


@pytest.mark.slow
def test_the_api_server_may_be_away_when_a_step_begins_and_ends(place: Place) -> None:
    run = place.run()
    assert run.make(place.job(COPY, 1)).kind == "done"
    with place.cluster.api_away(4.0):
        ending = run.start(place.job(written("time.sleep(1)")))
    assert ending.result(60).kind == "done"
    assert len(place.jobs()) == 2
