"""Steps on a cluster: one Job for each attempt, found again, shared, cancelled, limited."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.runners.kubernetes.places import Place
from tests.runners.scripts import COPY, Cancel, eventually, output, written
from translations_assets.common.errors import StoreUnreachable
from translations_assets.records.manifest import Blob, Provenance
from translations_assets.runners.batch.runner import print_line
from translations_assets.runners.kubernetes.cluster import ClusterError
from translations_assets.runners.kubernetes.jobs import Descriptions

pytestmark = pytest.mark.cluster


def test_a_step_is_made_and_its_log_comes_while_it_runs(place: Place) -> None:
    run = place.run()
    ending = run.start(place.talking())
    assert eventually(lambda: "line 3" in run.lines["step-0"])
    assert not ending.done()
    place.go()
    outcome = ending.result(30)
    assert output(place.store, outcome) == "done"
    assert [event.kind for event in run.events] == ["started"]
    lines = [line for line in run.lines["step-0"] if line.startswith("line")]
    assert lines == [f"line {number}" for number in range(len(lines))]
    (job,) = place.jobs()
    assert (job["spec"]["backoffLimit"], job["metadata"]["labels"]["translations/stage"]) == (
        0,
        "train_teacher",
    )


def test_a_failing_script_fails_with_its_last_lines(place: Place) -> None:
    outcome = place.run().make(place.job("print('error: no words'); raise SystemExit(3)"))
    assert (outcome.kind, outcome.message) == ("failed", "pipeline.script ended with exit code 3")
    assert "error: no words" in outcome.log_tail


def test_a_step_that_is_finished_makes_no_job(place: Place) -> None:
    step = place.job(COPY)
    first = place.run().make(step)
    again = place.run().make(step)
    assert again.manifest == first.manifest
    assert len(place.jobs()) == 1


def test_ready_steps_of_a_stage_share_a_pod_and_each_has_its_own_ending(place: Place) -> None:
    run = place.run({"steps-per-pod": 4})
    scripts = [written("print('one')"), "raise SystemExit(1)", written(""), "raise SystemExit(75)"]
    endings = [run.start(place.job(script, number)) for number, script in enumerate(scripts)]
    kinds = [ending.result(60).kind for ending in endings]
    assert kinds == ["done", "failed", "done", "temporary"]
    assert len(place.jobs()) == 1
    assert "one" in run.lines["step-0"]
    assert "one" not in run.lines["step-2"]


def test_steps_of_different_stages_and_secrets_do_not_share_a_pod(place: Place) -> None:
    _add_secret(place)
    run = place.run({"steps-per-pod": 4}, secrets={"WANDB_API_KEY": "wandb/key"})
    steps = [
        place.job(COPY, 0),
        place.job(COPY, 1, stage="score"),
        place.job(COPY, 2, secrets=("WANDB_API_KEY",)),
    ]
    endings = [run.start(step) for step in steps]
    assert [ending.result(60).kind for ending in endings] == ["done"] * 3
    assert len(place.jobs()) == 3


def test_steps_share_a_pod_that_name_secrets_which_the_deployment_does_not_have(place: Place) -> None:
    run = place.run({"steps-per-pod": 4})
    steps = [place.job(COPY, 0), place.job(COPY, 1, secrets=("TRANSLATIONS_LOGIN_X",))]
    groups = [Descriptions(run.kubernetes, Path()).group(step, 0) for step in steps]
    assert groups[0] == groups[1]


def _add_secret(place: Place) -> None:
    place.cluster.rest.insist(
        "POST",
        f"/api/v1/namespaces/{place.namespace}/secrets",
        {"metadata": {"name": "wandb"}, "data": {"key": base64.b64encode(b"planted").decode()}},
    )


def test_there_are_never_more_jobs_than_the_limit(place: Place) -> None:
    run = place.run({"max-jobs": 2}, max_jobs=3)
    endings = [run.start(place.job(written("time.sleep(0.3)"), number)) for number in range(6)]
    most = 0
    while not all(ending.done() for ending in endings):
        most = max(most, sum(map(_is_live, place.jobs())))
        time.sleep(0.05)
    assert [ending.result().kind for ending in endings] == ["done"] * 6
    assert most == 2


def test_jobs_of_another_run_count(place: Place) -> None:
    other, run = place.run(max_jobs=1), place.run(max_jobs=1)
    first = other.start(place.talking(number=1))
    assert eventually(lambda: bool(place.live()))
    second = run.start(place.job(COPY, 2))
    assert not eventually(second.done, 2.0)
    place.go()
    assert (first.result(60).kind, second.result(60).kind) == ("done", "done")


def test_a_cancelled_run_ends_its_job_and_pod_at_once(place: Place) -> None:
    run = place.run()
    ending = run.start(place.talking())
    assert eventually(lambda: bool(run.lines["step-0"]))
    run.cancel.set()
    assert ending.result(30).kind == "cancelled"
    assert place.jobs() == []
    assert eventually(lambda: not place.live())
    assert place.store.owners.waiters(place.talking().key, 1) == 0


def test_a_cancelled_run_leaves_a_step_to_those_who_wait_for_it(place: Place) -> None:
    first, second = place.run(), place.run()
    endings = [run.start(place.talking()) for run in (first, second)]
    assert eventually(lambda: bool(first.lines["step-0"] and second.lines["step-0"]))
    first.cancel.set()
    assert endings[0].result(30).kind == "cancelled"
    assert place.live()
    place.go()
    assert endings[1].result(30).kind == "done"
    assert len(place.jobs()) == 1


@pytest.mark.parametrize("moment", ["begins", "runs"])
def test_another_step_looks_after_a_job_when_the_first_one_is_cancelled(place: Place, moment: str) -> None:
    run, cancel = place.run({"steps-per-pod": 2}), Cancel()
    first = run.start(place.talking(number=0), cancel)
    second = run.start(place.talking(number=1))
    if moment == "runs":
        assert eventually(lambda: bool(run.lines["step-0"]))
    cancel.set()
    assert first.result(30).kind == "cancelled"
    place.go()
    assert second.result(60).kind == "done"
    assert [line for line in run.lines["step-1"] if line.startswith("[worker]")]


def test_a_closed_runner_leaves_no_thread_that_goes_on_trying(place: Place) -> None:
    def busy() -> set[str]:
        names = {thread.name for thread in set(threading.enumerate()) - before}
        return names & {"connect", "sweep"}

    before = set(threading.enumerate())
    often = 5 / 60  # the sweep's thread ends at its next round: one a second
    run, late = place.run(orphan_minutes=often), place.run(orphan_minutes=often)
    ending = run.start(place.talking())
    assert eventually(lambda: bool(run.lines["step-0"]))
    with place.cluster.api_away(1.0):
        run.cancel.set()
        asked = late.start(place.job(COPY, 1))
        late.cancel.set()
        assert {ending.result(30).kind, asked.result(30).kind} == {"cancelled"}
        run.runner.close()
        late.runner.close()
        assert eventually(lambda: not busy())


def test_a_step_that_waits_for_a_slot_can_be_cancelled(place: Place) -> None:
    other, run = place.run(max_jobs=1), place.run(max_jobs=1)
    other.start(place.talking(number=1))
    assert eventually(lambda: bool(place.live()))
    ending = run.start(place.job(COPY, 2))
    time.sleep(0.5)
    run.cancel.set()
    assert ending.result(10).kind == "cancelled"
    assert len(place.jobs()) == 1


def test_a_run_that_takes_the_place_of_another_follows_its_job(place: Place) -> None:
    dead = place.run()
    dead.start(place.talking())
    assert eventually(lambda: "line 0" in dead.lines["step-0"])
    run = place.run()  # and the store has a log of attempt 1 already
    ending = run.start(place.talking(attempt=2, provenance=Provenance(run="another")))
    assert eventually(lambda: "line 2" in run.lines["step-0"])
    place.go()
    assert ending.result(30).kind == "done"
    lines = [line for line in run.lines["step-0"] if line.startswith("line")]
    assert lines == [f"line {number}" for number in range(len(lines))]
    assert len(place.jobs()) == 1


def test_a_member_of_a_shared_pod_is_followed_by_another_run(place: Place) -> None:
    dead = place.run({"steps-per-pod": 2})
    for number in range(2):
        dead.start(place.talking(number=number))
    assert eventually(lambda: bool(place.live()))
    run = place.run()
    ending = run.start(place.talking(number=1))
    time.sleep(0.5)
    place.go()
    assert ending.result(60).kind == "done"
    assert len(place.jobs()) == 1


def test_the_same_attempt_described_otherwise_is_an_error_for_people(place: Place) -> None:
    first = place.run()
    first.start(place.talking())
    assert eventually(lambda: bool(place.live()))
    (job,) = place.jobs()
    name = job["metadata"]["name"]
    place.cluster.rest.insist(
        "PATCH",
        f"/apis/batch/v1/namespaces/{place.namespace}/jobs/{name}",
        {"metadata": {"annotations": {"translations/spec": "other", "translations/members": "[]"}}},
    )
    with pytest.raises(ClusterError, match=f"kubectl delete job --namespace {place.namespace} {name}"):
        place.run().make(place.talking())


def test_a_job_of_the_same_name_that_has_failed_makes_way(place: Place) -> None:
    failed = place.run().make(place.job("raise SystemExit(75)"))
    assert failed.kind == "temporary"
    assert eventually(lambda: not any(map(_is_live, place.jobs())))
    assert place.run().make(place.job(COPY)).kind == "done"
    assert len(place.jobs()) == 1


def test_a_complete_job_without_a_result_counts_as_an_attempt(place: Place) -> None:
    run, step = place.run(), place.job(COPY)
    descriptions = Descriptions(run.kubernetes, Path())
    group = descriptions.group(step, 0)
    body = descriptions.job(group, [step], place.store.url, [], 0)
    body["spec"]["template"]["spec"]["containers"][0]["command"] = [
        "python",
        "-c",
        "__import__('time').sleep(2)",
    ]
    place.cluster.rest.insist("POST", f"/apis/batch/v1/namespaces/{place.namespace}/jobs", body)
    outcome = run.make(step)
    assert outcome.kind == "temporary"
    assert "succeeded, but the store has no result" in outcome.message


def test_secrets_reach_only_the_steps_that_name_them_and_no_description(place: Place) -> None:
    _add_secret(place)
    see = written("print('seen', os.environ.get('WANDB_API_KEY', '').upper())")
    run = place.run(secrets={"WANDB_API_KEY": "wandb/key"})
    assert run.make(place.job(see, 0, secrets=("WANDB_API_KEY",))).kind == "done"
    assert run.make(place.job(see, 1)).kind == "done"
    assert "seen PLANTED" in run.lines["step-0"]
    assert "seen " in run.lines["step-1"]
    assert "planted" not in json.dumps([place.jobs(), place.pods()])


def test_a_store_that_is_away_is_told_as_such(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(data: bytes) -> Blob:
        raise StoreUnreachable("The bucket does not answer.")

    step = place.job(COPY)
    monkeypatch.setattr(place.store, "add_bytes", away)
    with pytest.raises(StoreUnreachable, match="does not answer"):
        place.run().make(step)
    assert place.jobs() == []


def test_a_log_goes_to_standard_output_with_the_step_s_label(capfd: pytest.CaptureFixture[str]) -> None:
    print_line("train-en", b"\xff epoch 1")
    assert capfd.readouterr().out == "[train-en] \ufffd epoch 1\n"


def test_jobs_that_nobody_waits_for_are_swept(place: Place) -> None:
    dead = place.run()
    ending = dead.start(place.talking(number=1))
    assert eventually(lambda: bool(place.live()))
    _forget_waiters(place)
    run = place.run(orphan_minutes=2 / 60)
    assert run.make(place.job(written("time.sleep(4)"), 2)).kind == "done"
    assert eventually(lambda: not place.live())
    assert "deleted" in ending.result(30).message


def _forget_waiters(place: Place) -> None:
    """Remove all waiters, as when their orchestrator is killed."""
    for path in (place.root / "store" / "tmp").glob("*waits-for*"):
        path.unlink(missing_ok=True)


def _is_live(job: Mapping[str, object]) -> bool:
    return not json.loads(json.dumps(job)).get("status", {}).get("conditions")
