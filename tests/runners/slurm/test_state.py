"""Jobs as squeue and sacct tell of them, and the reasons for which attempts end."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from translations_assets.records.manifest import Blob
from translations_assets.runners.slurm.state import (
    QUEUE,
    Account,
    SlurmState,
    comment,
    judge,
    never_starts,
    read_accounts,
    read_queue,
    waits_for,
)

BLOB = Blob("ab" * 32, 1234)
JOB = SlurmState("41", "translations-x", "RUNNING", "None", used=100.0, limit=3600.0, node="n3")
WIDTHS = [int(column.partition(":")[2]) for column in QUEUE[-1].partition("=")[2].split(",")]


def row(*values: str) -> str:
    """A line as squeue prints it."""
    return "".join(value[:width].ljust(width) for value, width in zip(values, WIDTHS, strict=True))


def test_the_queue_is_read() -> None:
    said = comment("a" * 24, "large-gpu", BLOB)
    text = "\n".join(
        [
            row("41", "translations-x", "RUNNING", "0", "1-00:00:05", "7-00:00:00", "n[3-4]", said, "None"),
            row("42", "other", "PENDING", "0", "0:00", "UNLIMITED", "", "(null)", "Priority"),
            row(
                "43",
                "translations-y",
                "FAILED",
                "19200",
                "1:05",
                "UNLIMITED",
                "n1",
                "(null)",
                "NonZeroExitCode",
            ),
            row(
                "44",
                "translations-z",
                "FAILED",
                "9",
                "0:01",
                "1:00",
                "n1",
                "of the site",
                "RaisedSignal",
            ),
        ]
    )
    first, second, third = read_queue(text)
    assert (first.uid, first.live, first.waits, first.node) == ("41", True, False, "n[3-4]")
    assert (first.store, first.worker_class, first.request) == ("a" * 24, "large-gpu", BLOB)
    assert (first.used, first.limit) == (86405.0, 7 * 86400.0)
    assert (second.uid, second.live, second.exit_code, second.request) == ("43", False, 75, None)
    assert (second.used, second.limit) == (65.0, math.inf)
    assert (third.exit_code, third.limit, third.worker_class) == (137, 60.0, "")


def test_accounting_is_read() -> None:
    text = (
        "41|CANCELLED by 0|0:15|n3\n42|RUNNING|0:0|n1\n43|OUT_OF_MEMORY|0:125|n2\n44|FAILED|75:0|n1\n"
        "45|NODE_FAIL|1:0|n4\n46|COMPLETED|0:0|None assigned\n"
    )
    found = read_accounts(text)
    assert found["41"] == Account("CANCELLED", "0", 143, "n3")
    assert found["44"] == Account("FAILED", "", 75, "n1")
    assert found.keys() == {"41", "43", "44", "45", "46"}


@pytest.mark.parametrize(
    ("state", "cause", "words"),
    [
        ("TIMEOUT", "deadline", "exceeded its time limit on n3 (max-hours"),
        ("DEADLINE", "deadline", "time limit"),
        ("OUT_OF_MEMORY", "memory", "out of memory on n3: job 41 used more than it may"),
        ("PREEMPTED", "lost", "job 41 was preempted on n3"),
        ("NODE_FAIL", "lost", "the node failed on n3 (NODE_FAIL)"),
        ("BOOT_FAIL", "lost", "BOOT_FAIL"),
        ("CANCELLED", "cancelled", "job 41 was cancelled, not by this run on n3"),
        ("COMPLETED", "ended", "the store has no result"),
    ],
)
def test_a_state_says_why_an_attempt_ended(state: str, cause: str, words: str) -> None:
    for account in (None, Account(state, "", 0, "n3")):
        verdict = judge(replace(JOB, state=state), account)
        assert verdict.cause == cause
        assert words in verdict.message
        assert not verdict.failed


def test_accounting_says_who_cancelled_a_job() -> None:
    cancelled = replace(JOB, state="CANCELLED")
    assert "by user 4711," in judge(cancelled, Account("CANCELLED", "4711", 0, "n3")).message
    assert "by an administrator" in judge(cancelled, Account("CANCELLED", "0", 0, "n3")).message


def test_a_job_that_ended_before_its_worker_began_may_have_met_a_prolog() -> None:
    cancelled = replace(JOB, state="CANCELLED")
    assert "prolog" in judge(cancelled, None).message
    assert "prolog" not in judge(cancelled, None, code=75).message
    assert "prolog" not in judge(replace(cancelled, node=""), None).message  # it waited


@pytest.mark.parametrize(
    ("code", "word", "cause", "failed"),
    [
        (0, "", "ended", False),
        (75, "", "ended", False),
        (127, "", "start", True),
        (137, "", "memory", False),
        (143, "", "lost", False),
        (75, "stopped before its end: SIGTERM from outside", "lost", False),
        (75, "the script ran out of memory", "memory", False),
    ],
)
def test_without_a_telling_state_the_exit_code_counts(code: int, word: str, cause: str, failed: bool) -> None:
    """By the controller, by accounting, or by the job's own last line where nobody else knows the job."""
    status = SlurmState("41", "translations-x", "FAILED", "NonZeroExitCode", exit_code=code, used=9.0)
    for verdict in (
        judge(status, None, word),
        judge(JOB, Account("FAILED", "", code, "n3"), word),
        judge(JOB, None, word, code),
    ):
        assert (verdict.cause, verdict.failed) == (cause, failed)


def test_a_worker_that_failed_is_told_from_a_job_that_was_killed() -> None:
    """Who kills a job's shell, or slurmstepd, leaves an exit code of Slurm's, and none of the worker."""
    assert judge(JOB, None, "", 1).failed
    for verdict in (
        judge(replace(JOB, state="FAILED", exit_code=1), None),
        judge(JOB, Account("FAILED", "", 1, "n3")),
    ):
        assert (verdict.cause, verdict.failed) == ("gone", False)
        assert "job 41 ended with exit code 1 on n3 and has left no word" in verdict.message


def test_a_job_that_heeds_the_warning_before_its_limit_has_reached_it() -> None:
    told = "stopped before its end: SIGTERM from outside"
    near = replace(JOB, state="FAILED", exit_code=75, used=3480.0)
    assert judge(near, None, told).cause == "deadline"
    assert judge(replace(near, used=3400.0), None, told).cause == "lost"
    assert judge(replace(near, used=3400.0), None, told, warning=300.0).cause == "deadline"
    assert judge(near, None, "the script asks for another attempt (exit code 75)").cause == "ended"


def test_a_job_that_nobody_knows_any_more_is_worth_another_attempt() -> None:
    verdict = judge(JOB, None)
    assert (verdict.cause, verdict.failed) == ("gone", False)
    assert "job 41 is not known to Slurm any more" in verdict.message


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("Resources", "for free nodes"),
        ("QOSMaxJobsPerUserLimit", "until a limit of yours has room (QOSMaxJobsPerUserLimit)"),
        ("AssocGrpCPUMinutesLimit", "until a limit of yours has room"),
        ("ReqNodeNotAvail, UnavailableNodes:n1", "nodes are down or reserved (ReqNodeNotAvail, Unavail"),
        ("JobHeldAdmin", "an administrator holds it"),
        ("SomethingNew", "in Slurm's queue (SomethingNew)"),
    ],
)
def test_a_job_that_waits_says_for_what(reason: str, words: str) -> None:
    waiting = replace(JOB, state="PENDING", reason=reason)
    assert words in waits_for(waiting)
    assert never_starts(waiting) is None


@pytest.mark.parametrize("reason", ["BadConstraints", "PartitionTimeLimit", "InvalidAccount", "InvalidQOS"])
def test_a_job_that_can_never_start_is_known(reason: str) -> None:
    verdict = never_starts(replace(JOB, state="PENDING", reason=reason))
    assert verdict
    assert verdict.failed
    assert reason in verdict.message
