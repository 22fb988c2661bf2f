"""States of jobs as Slurm reports them, and the end of an attempt, in words for people."""

from __future__ import annotations

import math
import os
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from translations_assets.records.manifest import Blob
from translations_assets.runners.batch.member import Member

Cause = Literal["ended", "script", "lost", "memory", "deadline", "cancelled", "start", "gone"]

PREFIX = "translations-"  # names of our jobs begin so
WAITS = frozenset(
    ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT")
)
_GOES_ON = WAITS | {"RUNNING", "COMPLETING", "SUSPENDED", "RESIZING", "SIGNALING", "STOPPED", "STAGE_OUT"}
# squeue's columns, with room for the longest value
_COLUMNS = {
    "JobID": 20,
    "Name": 64,
    "State": 16,
    "exit_code": 10,
    "TimeUsed": 18,
    "TimeLimit": 18,
    "NodeList": 120,
    "Comment": 240,
    "Reason": 200,
}
_FORMAT = ",".join(f"{name}:{width}" for name, width in _COLUMNS.items())
QUEUE = ("squeue", "--me", "--noheader", "--states=all", "--array", f"--Format={_FORMAT}")
_FIELDS = "JobIDRaw,State,ExitCode,NodeList"
ACCOUNTS = ("sacct", "--noheader", "--parsable2", "--allocations", f"--format={_FIELDS}")
_KILLED, _TERMINATED = 128 + signal.SIGKILL, 128 + signal.SIGTERM
_EARLY_SECONDS = 65.0  # by which Slurm may be early with the warning before a time limit
_NO_PROGRAM = (126, 127)  # a shell's exit codes
TOLD_TO_END = "SIGTERM"  # stands in the message of a worker that got it
_OUT_OF_MEMORY = "ran out of memory"  # in that of one whose script alone was killed
# A job that will never start, until somebody changes it or the cluster
_NEVER = {
    "BadConstraints": "no node has what the job asks for (constraint, gres, cpus, memory)",
    "InvalidAccount": "the account is not valid",
    "InvalidQOS": "the quality of service is not valid",
    "AccountNotAllowed": "the account may not use the partition",
    "QOSNotAllowed": "the quality of service may not use the partition",
    "PartitionTimeLimit": "max-hours is more than the partition allows",
    "PartitionNodeLimit": "the job is larger than the partition allows",
    "PartitionConfig": "the partition cannot run a job of that size",
    "DependencyNeverSatisfied": "it waits for a job that has failed",
}
_LIMITS = re.compile(r"^(?:QOS|Assoc|MaxJobs|MaxCpu)")
_WAITS_FOR = {
    "Resources": "for free nodes",
    "Priority": "behind jobs of higher priority",
    "None": "for the scheduler",
    "BeginTime": "until its time has come",
    "JobHeldUser": "because somebody holds it: scontrol release",
    "JobHeldAdmin": "because an administrator holds it",
    "Licenses": "for licences",
    "Reservation": "for its reservation",
    "PartitionDown": "because the partition is down",
    "PartitionInactive": "because the partition is inactive",
    "ReqNodeNotAvail": "because nodes are down or reserved",
}


@dataclass(frozen=True)
class SlurmState:
    """A job.

    state      `RUNNING`, `TIMEOUT` and the like
    reason     for which it waits, or has failed
    exit_code  of the batch script; 128 + n after signal n
    used       seconds that it has run
    limit      seconds that it may run
    request    what its worker was asked for, in the store
    members    its steps, as far as they are known
    """

    uid: str
    name: str
    state: str
    reason: str = ""
    exit_code: int = 0
    used: float = 0.0
    limit: float = math.inf
    node: str = ""
    store: str = ""
    worker_class: str = ""
    request: Blob | None = None
    members: tuple[Member, ...] = ()

    @property
    def live(self) -> bool:
        """True if it runs, or will."""
        return self.state in _GOES_ON

    @property
    def waits(self) -> bool:
        """True if it has not begun."""
        return self.state in WAITS


def comment(store: str, worker_class: str, request: Blob) -> str:
    """The comment of a job, which tells other runs what it makes."""
    return f"{store} {worker_class} {request.digest} {request.size}"


def read_queue(text: str) -> Iterator[SlurmState]:
    """The jobs of steps that squeue prints."""
    for line in text.splitlines():
        values, start = {}, 0
        for name, width in _COLUMNS.items():
            values[name] = line[start : start + width].strip()
            start += width
        if values["Name"].startswith(PREFIX):
            store, worker_class, request = _read_comment(values["Comment"])
            yield SlurmState(
                uid=values["JobID"],
                name=values["Name"],
                state=values["State"],
                reason=values["Reason"],
                exit_code=_exit_code(int(values["exit_code"] or 0)),
                used=_seconds(values["TimeUsed"]),
                limit=_seconds(values["TimeLimit"]),
                node=values["NodeList"],
                store=store,
                worker_class=worker_class,
                request=request,
            )


def _read_comment(text: str) -> tuple[str, str, Blob | None]:
    """Store, worker class and request; none where the site has changed the comment."""
    words = text.split()
    if len(words) == 4 and re.fullmatch(r"[0-9a-f]{64}", words[2]) and words[3].isdecimal():
        return words[0], words[1], Blob(words[2], int(words[3]))
    return "", "", None


def _exit_code(status: int) -> int:
    """That of a status as of wait(2)."""
    return 128 + (status & 0x7F) if status & 0x7F else status >> 8


def _seconds(text: str) -> float:
    """The seconds of `1-02:03:04`; infinite for `UNLIMITED`.

    >>> _seconds("1-00:00:05")
    86405.0
    """
    days, _, clock = text.rpartition("-")
    try:
        parts = [int(part) for part in clock.split(":")]
    except ValueError:
        return math.inf
    return float(sum(part * 60**power for power, part in enumerate(reversed(parts))) + int(days or 0) * 86400)


class Account(NamedTuple):
    """The end of a job by sacct.

    state  as squeue says it; `by` who cancelled it, a user's number
    """

    state: str
    by: str
    exit_code: int
    node: str


def read_accounts(text: str) -> dict[str, Account]:
    """Job id → its end, of the lines that sacct prints; jobs that go on by it are left out."""
    found = {}
    for line in text.splitlines():
        uid, said, code, node = line.split("|")
        state, _, rest = said.partition(" ")
        exit_code, _, number = code.partition(":")
        if state not in _GOES_ON:
            status = 128 + int(number) if number not in ("", "0") else int(exit_code or 0)
            found[uid] = Account(state, rest.removeprefix("by "), status, node)
    return found


@dataclass(frozen=True)
class JobVerdict:
    """The reason that an attempt ended, when its worker's own word is not all there is.

    failed  whether another attempt would fail as well
    """

    cause: Cause
    message: str
    failed: bool = False


def waits_for(job: SlurmState) -> str:
    """Explain what a job waits for.

    >>> waits_for(SlurmState("7", "translations-x", "PENDING", "Resources"))
    'job 7 waits for free nodes (Resources)'
    """
    reason = job.reason.split(",")[0]
    if _LIMITS.match(reason):
        return f"job {job.uid} waits until a limit of yours has room ({job.reason})"
    words = _WAITS_FOR.get(reason, "in Slurm's queue")
    return f"job {job.uid} waits {words} ({job.reason})"


def never_starts(job: SlurmState) -> JobVerdict | None:
    """Explain why a waiting job can never start; None when it may."""
    if why := _NEVER.get(job.reason.split(",")[0]):
        message = f"Slurm cannot start job {job.uid}: {why} ({job.reason}); change the deployment file"
        return JobVerdict("start", message, failed=True)
    return None


def judge(
    job: SlurmState,
    account: Account | None,
    word: str = "",
    code: int | None = None,
    warning: float = 60.0,
) -> JobVerdict:
    """Find why an attempt ended, from the controller's last word, accounting's, and the job's own.

    job   as it was last seen; one that goes on by that is not known any more
    word  its worker's own account
    code  the worker's exit code, as its job wrote it down
    warning  seconds before its time limit at which the worker is told to end

    >>> judge(SlurmState("7", "translations-x", "TIMEOUT"), None).cause
    'deadline'
    """
    state = account.state if account else job.state
    node = (account.node if account else job.node) or job.node
    where = f" on {node}" if node and node != "(null)" else ""
    told = TOLD_TO_END in word or code in (_TERMINATED, _KILLED)
    has_begun = bool(word) or code is not None
    if found := _judge_state(state, where, account.by if account else "", job.uid, has_begun):
        return found
    if told and job.limit - job.used <= warning + _EARLY_SECONDS:
        return _deadline(where)
    if _OUT_OF_MEMORY in word:
        return JobVerdict("memory", f"killed{where}, most likely because it was out of memory")
    if state in _GOES_ON and code is None:
        return JobVerdict(
            "gone", f"job {job.uid} is not known to Slurm any more, and has left no word{where}"
        )
    ended = code if code is not None else (account.exit_code if account else job.exit_code)
    if ended == _KILLED:
        return JobVerdict(
            "memory", f"killed{where}, most likely because it was out of memory (exit code {ended})"
        )
    if told or ended == _TERMINATED:
        return JobVerdict("lost", f"job {job.uid} was told to end{where} (SIGTERM)")
    if ended in _NO_PROGRAM:
        said = "slurm.python in the deployment file names no program that runs there"
        return JobVerdict(
            "start", f"the worker could not be started{where} (exit code {ended}): {said}", True
        )
    if ended == 0:
        return JobVerdict("ended", f"job {job.uid} succeeded, but the store has no result of the step")
    if ended == os.EX_TEMPFAIL:
        return JobVerdict("ended", f"the worker asks for another attempt (exit code 75){where}")
    if job.reason and job.reason not in ("None", "NonZeroExitCode", "RaisedSignal"):
        return JobVerdict("start", f"job {job.uid} could not be started{where}: {job.reason}")
    if not has_begun:  # the job's shell writes its worker's exit code down, unless it is killed
        said = f"job {job.uid} ended with exit code {ended}{where} and has left no word"
        return JobVerdict("gone", f"{said}: it was killed, or slurm.setup in the deployment file failed")
    return JobVerdict("script", f"the worker ended with exit code {ended}{where}", failed=True)


def _deadline(where: str) -> JobVerdict:
    return JobVerdict(
        "deadline", f"the attempt exceeded its time limit{where} (max-hours in the deployment file)"
    )


def _judge_state(state: str, where: str, by: str, uid: str, has_begun: bool) -> JobVerdict | None:
    """Interpret a state that says more than an exit code; None for the others."""
    if state in ("TIMEOUT", "DEADLINE"):
        return _deadline(where)
    if state == "OUT_OF_MEMORY":
        return JobVerdict("memory", f"out of memory{where}: job {uid} used more than it may")
    if state == "PREEMPTED":
        return JobVerdict("lost", f"job {uid} was preempted{where}: another job took its place")
    if state in ("NODE_FAIL", "BOOT_FAIL"):
        return JobVerdict("lost", f"the node failed{where} ({state})")
    if state in ("CANCELLED", "REVOKED"):
        who = {str(os.getuid()): " by you or a program of yours", "": "", "0": " by an administrator"}
        named = who.get(by, f" by user {by}")
        message = f"job {uid} was cancelled{named}, not by this run{where}"
        if where and not has_begun:
            message += "; or the node could not prepare it (prolog): sinfo --list-reasons"
        return JobVerdict("cancelled", message)
    return None
