"""Ends of attempts that a real Slurm brings about, with accounting and without."""

from __future__ import annotations

import time
from typing import Any

import psutil
import pytest

from tests.runners.scripts import COPY, eventually, output
from tests.runners.slurm.places import HOLD, SAVES, Place
from tests.slurm.daemons import Slurm
from translations_assets.common.errors import TranslationsError
from translations_assets.runners.batch import silence
from translations_assets.runners.slurm import watch
from translations_assets.running.job import Outcome

pytestmark = pytest.mark.slow
BOTH = pytest.mark.parametrize("daemons", [False, True], indirect=True, ids=["plain", "accounting"])
ACCOUNTED = pytest.mark.parametrize("daemons", [True], indirect=True, ids=["accounting"])


@pytest.fixture(autouse=True)
def _sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_SHORTEST", 1.0)
    monkeypatch.setattr(silence, "SILENT_SECONDS", 1.0)
    monkeypatch.setattr(silence, "_LOOK_SECONDS", 0.5)


@pytest.fixture
def slurm_options(slurm: Slurm) -> dict[str, Any]:
    """Options that every job needs: an account, where there are accounts."""
    return {"account": "lab"} if slurm.has_accounts else {}


def stepd(uid: str) -> list[psutil.Process]:
    """The processes that look after a job on its node."""
    found = []
    for process in psutil.process_iter(["name", "cmdline"]):
        if process.info["name"] == "slurmstepd" and f"[{uid}." in " ".join(process.info["cmdline"] or ()):
            found.append(process)
    return found


@BOTH
def test_a_preempted_job_is_worth_another_attempt(place: Place, slurm_options: dict[str, Any]) -> None:
    run = place.run({"cpus": 2, "partition": "spare"}, **slurm_options)
    waiting = run.start(place.job(SAVES))
    run.begun()
    for _ in place.slurm.nodes:
        place.slurm.ask(
            "sbatch", "-p", "main", "-c2", "--output=/dev/null", "--wrap=sleep 20", *_account(place)
        )
    outcome = waiting.result(120)
    assert outcome.kind == "temporary"
    assert "was preempted" in outcome.message


@BOTH
def test_a_job_beyond_its_time_limit_is_told(place: Place, slurm_options: dict[str, Any]) -> None:
    """The warning comes before the limit; a step that cannot go on from there fails."""
    run = place.run({"max-hours": 0.001, "grace-seconds": 50}, **slurm_options)
    outcome = run.make(place.job(SAVES))
    assert outcome.kind == "failed"
    assert "max-hours" in outcome.message
    assert "told to end" in outcome.log_tail


@BOTH
def test_a_node_that_vanishes_is_worth_another_attempt(place: Place, slurm_options: dict[str, Any]) -> None:
    run = place.run(**slurm_options)
    waiting = run.start(place.job(HOLD))
    run.begun()
    node = place.slurm.ask("squeue", "-h", "-o", "%N").strip()
    place.slurm.stop(node)
    try:
        place.slurm.ask("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test")
        outcome = waiting.result(120)
    finally:
        place.slurm.start(node)
    assert outcome.kind == "temporary"
    assert f"the node failed on {node}" in outcome.message


@BOTH
def test_a_killed_stepd_is_worth_another_attempt(place: Place, slurm_options: dict[str, Any]) -> None:
    run = place.run(**slurm_options)
    waiting = run.start(place.job(HOLD))
    run.begun()
    (process,) = stepd(place.live())
    process.kill()
    assert waiting.result(120).kind == "temporary"
    assert eventually(lambda: not place.slurm.live())


@BOTH
def test_a_step_goes_on_while_the_controller_is_away(place: Place, slurm_options: dict[str, Any]) -> None:
    run, work = place.run(**slurm_options), place.talking()
    waiting = run.start(work)
    run.begun()
    place.slurm.stop("slurmctld")
    try:
        assert eventually(lambda: any("Slurm does not answer" in text for text in run.told), 60), run.told
    finally:
        place.slurm.start("slurmctld")
    place.go()
    outcome = waiting.result(60)
    assert output(place.store, outcome) == "done"
    assert outcome.manifest is not None
    assert outcome.manifest.attempt == 1
    assert run.runner.commands.counts["sbatch"] == 1


@BOTH
@pytest.mark.parametrize("daemon", ["slurmctld", "munged"])
def test_a_job_is_submitted_once_slurm_is_back(
    place: Place, slurm_options: dict[str, Any], daemon: str
) -> None:
    run = place.run(**slurm_options)
    assert run.make(place.job(COPY)).kind == "done"
    place.slurm.stop(daemon)
    try:
        waiting = run.start(place.job(COPY, 1))
        assert eventually(lambda: len(run.told) > 0, 60)
    finally:
        place.slurm.start(daemon)
    assert waiting.result(120).kind == "done"


def _account(place: Place) -> list[str]:
    return ["--account=lab"] if place.slurm.has_accounts else []


def _cancelled(place: Place, slurm_options: dict[str, Any]) -> Outcome:
    run = place.run(**slurm_options)
    waiting = run.start(place.job(HOLD))
    run.begun()
    place.slurm.ask("scancel", place.live())
    return waiting.result(120)


@BOTH
def test_who_has_cancelled_a_job_is_told_by_accounting(place: Place, slurm_options: dict[str, Any]) -> None:
    message = _cancelled(place, slurm_options).message
    assert ("was cancelled by " in message) == place.slurm.has_accounts
    assert "not by this run" in message


@ACCOUNTED
def test_an_account_that_is_not_there_fails_at_once(place: Place) -> None:
    with pytest.raises(TranslationsError, match="Invalid account"):
        place.run(account="nobody").make(place.job(COPY))


@ACCOUNTED
def test_a_limit_of_submitted_jobs_is_waited_for(place: Place, slurm_options: dict[str, Any]) -> None:
    place.slurm.ask("sacctmgr", "-i", "modify", "account", "lab", "set", "MaxSubmitJobs=1")
    try:
        run = place.run(**slurm_options)
        first = run.start(place.talking())
        run.begun()
        second = run.start(place.job(COPY, 1))
        assert eventually(lambda: any("takes no further job now" in text for text in run.told), 60), run.told
        place.go()
        assert (first.result(60).kind, second.result(60).kind) == ("done", "done")
    finally:
        place.slurm.ask("sacctmgr", "-i", "modify", "account", "lab", "set", "MaxSubmitJobs=-1")


@ACCOUNTED
def test_a_run_does_without_accounting_while_that_is_away(
    place: Place, slurm_options: dict[str, Any]
) -> None:
    place.slurm.stop("slurmdbd")
    try:
        began = time.monotonic()
        assert _cancelled(place, slurm_options).kind == "temporary"
        assert time.monotonic() - began < 60
    finally:
        place.slurm.start("slurmdbd")
