"""Jobs and the steps that wait for them, at a desk that answers as Slurm does."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmarks.simulated_cluster import Made, keep
from tests.runners.scripts import COPY, Cancel, attempt, eventually, job
from tests.runners.slurm.test_state import row
from translations_assets.common.errors import TranslationsError
from translations_assets.config.deployment import Slurm
from translations_assets.runners.batch import silence
from translations_assets.runners.batch.member import member
from translations_assets.runners.slurm import job as job_module
from translations_assets.runners.slurm import watch as watch_module
from translations_assets.runners.slurm.commands import SlurmAway, SlurmCommands, SlurmError, SlurmFull
from translations_assets.runners.slurm.connection import ENDED
from translations_assets.runners.slurm.runner import SlurmRunner
from translations_assets.running.events import JobEvent, Waiting
from translations_assets.running.job import Job, Outcome
from translations_assets.store.local import LocalStore


@dataclass
class Known:
    """A job as the desk knows it."""

    name: str
    comment: str
    state: str = "RUNNING"
    reason: str = "None"
    status: int = 0


class Desk(SlurmCommands):
    """Takes jobs and tells of them.

    refusals  what the next submissions raise; a SlurmAway after the job was taken
    begins    state and reason of new jobs
    outputs   what a job has written, by its id
    """

    def __init__(self) -> None:
        super().__init__()
        self.jobs: dict[str, Known] = {}
        self.refusals: list[SlurmError] = []
        self.begins = ("RUNNING", "None")
        self.outputs: dict[str, str] = {}
        self.accounts = ""
        self.config = ""

    def run(self, *command: str, text: str = "", seconds: float = 0.0) -> str:
        self.counts[command[0]] += 1
        if command[0] == "sbatch":
            return self._take(dict(word.removeprefix("--").split("=", 1) for word in command if "=" in word))
        if command[0] == "scancel":
            del self.jobs[command[1]]
        if command[0] == "squeue":
            return "\n".join(
                row(
                    uid,
                    each.name,
                    each.state,
                    str(each.status),
                    "0:10",
                    "1:00:00",
                    "n1",
                    each.comment,
                    each.reason,
                )
                for uid, each in self.jobs.items()
            )
        if command[0] == "tail":
            return self.outputs.get(command[-1].rpartition("-")[2].removesuffix(".out"), "")
        return {"scontrol": self.config, "sacct": self.accounts}.get(command[0], "")

    def _take(self, options: dict[str, str]) -> str:
        refusal = self.refusals.pop(0) if self.refusals else None
        if refusal is None or isinstance(refusal, SlurmAway):
            uid = str(len(self.jobs) + 1)
            self.jobs[uid] = Known(options["job-name"], options["comment"], *self.begins)
        if refusal:
            raise refusal
        return f"{uid}\n"


class Office:
    """A store, a desk, and a runner."""

    def __init__(self, folder: Path) -> None:
        settings = {"folder": "/jobs", "worker-classes": {"cpu": {"memory": "3G", "grace-seconds": 600}}}
        self.store, self.desk, self.cancel = LocalStore(folder), Desk(), Cancel()
        self.events: list[JobEvent] = []
        self.runner = SlurmRunner(
            Slurm.model_validate_json(json.dumps(settings)),
            lambda label, line: self.lines.append(line.decode()),
        )
        self.runner.commands = self.desk
        self.lines: list[str] = []
        self._pool = ThreadPoolExecutor(4)

    def start(self, **changes: Any) -> tuple[Job, Future[Outcome]]:
        """Begin an attempt of a step."""
        work = job(self.store, COPY, **changes)
        made = self._pool.submit(attempt, self.runner, work, self.store, self.cancel, self.events.append)
        return work, made

    def submitted(self, **changes: Any) -> tuple[Job, Future[Outcome], Known]:
        """The same, once there is a job."""
        work, made = self.start(**changes)
        assert eventually(lambda: bool(self.desk.jobs) or made.done())
        if made.done():
            made.result()
        return work, made, self.desk.jobs["1"]

    def ended(self, state: str, status: int = 0, output: str = "", **changes: Any) -> Outcome:
        """The outcome of an attempt whose job has ended so."""
        _, made, known = self.submitted(**changes)
        self.desk.outputs["1"] = output
        known.state, known.status = state, status
        return made.result(30)

    def close(self) -> None:
        """End."""
        self.cancel.set()
        self._pool.shutdown()
        self.runner.close()


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    """One with an empty store."""
    for module, name, value in (
        (watch_module, "_TICK_SECONDS", 0.05),
        (watch_module, "_SHORTEST", 0.05),
        (watch_module, "_ACCOUNTS_PAUSE", 0.05),
        (job_module, "_FIRST_PAUSE", 0.05),
        (job_module, "_CHECK_SECONDS", 0.05),
        (job_module, "_LAST_SECONDS", 0.1),
        (silence, "SILENT_SECONDS", 0.2),
        (silence, "_LOOK_SECONDS", 0.1),
    ):
        monkeypatch.setattr(module, name, value)
    made = Office(tmp_path)
    yield made
    made.close()


def test_the_stores_word_counts_more_than_slurms(office: Office) -> None:
    work, made, known = office.submitted()
    keep(office.store, Made("slurm-1", member(work), True))
    known.state, known.status = "FAILED", 1 << 8
    outcome = made.result(30)
    assert outcome.kind == "done"
    assert outcome.manifest


def test_a_submission_without_an_answer_is_looked_for_before_the_next(office: Office) -> None:
    office.desk.refusals = [SlurmAway("sbatch: Socket timed out")]
    _, made, known = office.submitted()
    looks = office.desk.counts["squeue"]
    assert eventually(lambda: office.desk.counts["squeue"] > looks + 3)
    known.state = "NODE_FAIL"
    assert made.result(30).kind == "temporary"
    assert office.desk.counts["sbatch"] == 1


def test_a_limit_of_jobs_is_waited_for_and_told(office: Office) -> None:
    office.desk.refusals = [SlurmFull("sbatch: Job violates accounting/QOS policy")] * 6
    _, made, known = office.submitted()
    assert office.desk.counts["sbatch"] == 7
    known.state = "NODE_FAIL"
    made.result(30)
    told = [event.message for event in office.events if isinstance(event, Waiting)]
    assert any("Slurm takes no further job now" in text for text in told)


def test_a_limit_that_no_job_of_ones_own_reaches_is_an_error_in_the_end(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_module, "_FULL_SECONDS", 0.1)
    office.desk.refusals = [SlurmFull("sbatch: Job violates accounting/QOS policy")] * 20
    with pytest.raises(TranslationsError, match="change the worker class in the deployment file"):
        office.start()[1].result(30)


def test_a_limit_that_ones_own_jobs_reach_is_waited_for_without_an_end(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_module, "_FULL_SECONDS", 0.1)
    office.submitted()
    office.desk.refusals = [SlurmFull("sbatch: Job violates accounting/QOS policy")] * 6
    office.start(key="cd" * 32)
    assert eventually(lambda: len(office.desk.jobs) == 2)


def test_a_job_that_can_never_start_is_cancelled_and_its_step_fails(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_module, "_NEVER_SECONDS", 0.3)
    office.desk.begins = ("PENDING", "BadConstraints")
    _, made, _ = office.submitted()
    outcome = made.result(30)
    assert (outcome.kind, "BadConstraints" in outcome.message) == ("failed", True)
    assert office.desk.jobs == {}


def test_a_reason_that_passes_cancels_nothing(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """When it comes again, it has the same time to pass."""
    never = 1.0
    monkeypatch.setattr(job_module, "_NEVER_SECONDS", never)
    office.desk.begins = ("PENDING", "BadConstraints")
    _, made, known = office.submitted()
    looks = office.desk.counts["squeue"]
    assert eventually(lambda: office.desk.counts["squeue"] > looks + 2)
    known.reason = "Priority"
    assert not eventually(made.done, 1.5 * never)
    assert office.desk.jobs
    again = time.monotonic()
    known.reason = "BadConstraints"
    assert made.result(30).kind == "failed"
    assert time.monotonic() - again >= never


def test_memory_that_was_too_little_is_told_with_the_class(office: Office) -> None:
    outcome = office.ended("OUT_OF_MEMORY")
    assert outcome.kind == "temporary"
    assert "Jobs of the worker class cpu have 3G" in outcome.message
    assert "slurm.worker-classes.cpu.memory" in outcome.message


@pytest.mark.parametrize(("resumable", "kind"), [(False, "failed"), (True, "temporary")])
def test_a_step_beyond_its_time_goes_on_where_it_can(office: Office, resumable: bool, kind: str) -> None:
    assert office.ended("TIMEOUT", resumable=resumable).kind == kind


def test_a_job_that_slurm_has_forgotten_is_judged_by_its_own_last_line(office: Office) -> None:
    _, made, _ = office.submitted()
    office.desk.outputs["1"] = f"bash: nothing/python: No such file\n{ENDED} 127 on n1\n"
    del office.desk.jobs["1"]
    outcome = made.result(30)
    assert outcome.kind == "failed"
    assert "slurm.python in the deployment file names no program" in outcome.message
    assert "bash: nothing/python: No such file" in office.lines


def test_a_job_that_is_gone_without_a_word_is_worth_another_attempt(office: Office) -> None:
    _, made, _ = office.submitted()
    office.desk.jobs.clear()
    outcome = made.result(30)
    assert (outcome.kind, "not known to Slurm any more" in outcome.message) == ("temporary", True)


def test_accounting_counts_more_than_the_controller(office: Office) -> None:
    office.desk.config = "AccountingStorageType = accounting_storage/slurmdbd"
    office.desk.accounts = "1|CANCELLED by 0|0:0|n1\n"
    assert "by an administrator" in office.ended("CANCELLED").message


def test_slurm_that_is_away_for_long_is_given_up(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_module, "AWAY_SECONDS", 0.5)
    _, made, _ = office.submitted()

    def away(*command: str, **_: Any) -> str:
        raise SlurmAway("squeue: Unable to contact slurm controller")

    monkeypatch.setattr(office.desk, "run", away)
    with pytest.raises(SlurmAway, match="Unable to contact slurm controller"):
        made.result(30)


def test_a_cancelled_step_cancels_its_job(office: Office) -> None:
    _, made, _ = office.submitted()
    office.cancel.set()
    assert made.result(30).kind == "cancelled"
    assert eventually(lambda: not office.desk.jobs)


def test_a_job_of_the_same_name_is_followed_whatever_its_comment(office: Office) -> None:
    """A site may replace comments; steps are those that were asked for."""
    office.desk.refusals = [SlurmAway("sbatch: Socket timed out")]
    work, made, known = office.submitted()
    known.comment = "of the site"
    keep(office.store, Made("slurm-1", member(work), True))
    assert made.result(30).kind == "done"
    assert office.desk.counts["sbatch"] == 1


def test_a_controller_with_an_old_state_does_not_hide_a_result(office: Office) -> None:
    """It takes a job that has run for one that waits."""
    work, made, known = office.submitted()
    looks = office.desk.counts["squeue"]
    assert eventually(lambda: office.desk.counts["squeue"] > looks + 2)
    known.state = "PENDING"
    looks = office.desk.counts["squeue"]
    assert eventually(lambda: office.desk.counts["squeue"] > looks + 1)  # the run has seen that
    keep(office.store, Made("slurm-1", member(work), True))
    assert made.result(30).kind == "done"
    assert eventually(lambda: not office.desk.jobs)  # else Slurm starts it again


def test_accounting_that_never_hears_of_an_end_is_not_waited_for(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "_ACCOUNTS_LATE", 0.3)
    office.desk.config = "AccountingStorageType = accounting_storage/slurmdbd"
    assert office.ended("NODE_FAIL").kind == "temporary"
