"""The words in which Slurm is asked for jobs, and what is made of its answers, without any Slurm."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.memory_store import MemoryStore
from tests.runners.scripts import COPY, job
from tests.runners.slurm.test_state import row
from translations_assets.config.deployment import Slurm
from translations_assets.records.manifest import Blob
from translations_assets.runners.batch.member import Member, job_name, member, store_label
from translations_assets.runners.slurm import watch as watch_module
from translations_assets.runners.slurm.commands import SlurmAway, SlurmCommands, SlurmError
from translations_assets.runners.slurm.connection import ENDED, SlurmConnection, SlurmGroup
from translations_assets.runners.slurm.state import SlurmState, comment
from translations_assets.runners.slurm.watch import SlurmWatch
from translations_assets.runners.wire import PodRequest

MEMBERS = tuple(Member(f"{number}" * 64, 1, 1, f"step-{number}") for number in range(3))
BLOB = Blob("ab" * 32, 10)


class Scripted(SlurmCommands):
    """Commands that answer as they are told to.

    said   program → answer, or what raises an error
    asked  the command lines, and the texts that they were given
    """

    def __init__(self, **said: str | Exception) -> None:
        super().__init__()
        self.said: dict[str, str | Exception] = {"scontrol": "", "squeue": "", "mkdir": "", **said}
        self.asked: list[tuple[str, ...]] = []
        self.text = ""

    def run(self, *command: str, text: str = "", seconds: float = 0.0) -> str:
        self.asked.append(command)
        self.text = text or self.text
        answer = self.said[command[0]]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def words(self, program: str) -> list[str]:
        """The words of the last command line of a program."""
        return [*next(command for command in reversed(self.asked) if command[0] == program)]


@pytest.fixture
def store() -> MemoryStore:
    """An empty store."""
    return MemoryStore()


@pytest.fixture
def connect(store: MemoryStore) -> Iterator[Callable[..., SlurmConnection]]:
    """Makes connections whose threads end with the test."""
    closed = threading.Event()

    def make(
        commands: SlurmCommands, worker_class: dict[str, Any] | None = None, **slurm: Any
    ) -> SlurmConnection:
        values = {"folder": "/shared/jobs", "worker-classes": {"cpu": worker_class or {}}, **slurm}
        settings = Slurm.model_validate_json(json.dumps(values))
        return SlurmConnection(settings, commands, lambda label, line: None, closed, 60.0, store)

    yield make
    closed.set()


def submit(connection: SlurmConnection, stage: str = "split", steps: int = 1) -> None:
    connection.submit(
        "gs://b/s", SlurmGroup(stage, "cpu"), MEMBERS[:steps], BLOB, ["reader", "it's", "1", "2"]
    )


def test_a_job_is_asked_for_by_all_that_the_deployment_says(connect: Callable[..., SlurmConnection]) -> None:
    commands = Scripted(sbatch="77;cluster\n")
    worker_class = {"cpus": 4, "memory": "12G", "gpus": 2, "qos": "long", "options": ["--nice=3"]}
    general = {
        "account": "lab",
        "qos": "short",
        "options": ["--mail-type=FAIL"],
        "setup": ["module load x"],
    }
    connection = connect(commands, {**worker_class, "max-hours": 2.0}, **general)
    submit(connection, steps=3)
    words, name = commands.words("sbatch"), job_name("gs://b/s", MEMBERS)
    for word in (
        f"--job-name={name}",
        f"--comment={comment(store_label('gs://b/s'), 'cpu', BLOB)}",
        f"--output=/shared/jobs/{name}-%j.out",
        "--no-requeue",
        "--time=361",  # three steps of two hours, and a minute of grace
        "--signal=B:TERM@60",
        "--cpus-per-task=4",
        "--mem=12G",
        "--gres=gpu:2",
        "--account=lab",
        "--qos=long",
    ):
        assert word in words
    assert not any(word.startswith("--partition") for word in words)
    lines = commands.text.splitlines()
    assert lines[:4] == ["#!/bin/bash", "#SBATCH --mail-type=FAIL", "#SBATCH --nice=3", "module load x"]
    assert connection.watch.job("77") is not None


def test_what_a_class_names_is_asked_for_in_place_of_gpus(connect: Callable[..., SlurmConnection]) -> None:
    commands = Scripted(sbatch="77\n")
    submit(connect(commands, {"gpus": 2, "gres": "gpu:a100:2"}))
    assert "--gres=gpu:a100:2" in commands.words("sbatch")


def test_a_stage_has_its_own_hours_and_steps(connect: Callable[..., SlurmConnection]) -> None:
    commands = Scripted(sbatch="77\n")
    stages = {"split": {"max-hours": 1.0, "steps-per-job": 7}}
    connection = connect(commands, {"steps-per-job": 2}, stages=stages)
    submit(connection)
    assert "--time=61" in commands.words("sbatch")
    assert connection.steps_per_job(SlurmGroup("split", "cpu")) == 7
    assert connection.steps_per_job(SlurmGroup("merge", "cpu")) == 2


def test_the_script_says_how_its_worker_has_ended(
    connect: Callable[..., SlurmConnection], tmp_path: Any
) -> None:
    """It hands SIGTERM on, waits for the worker, and keeps its output where that is not done."""
    commands = Scripted(sbatch="77\n")
    folder = tmp_path / "jobs of us"
    folder.mkdir()
    worker = (
        "import os, sys; open(os.environ['TRANSLATIONS_LAST_WORDS'], 'w').write('words\\n'); sys.exit(75)"
    )
    python = ["bash", "-c", f"exec python3 -c {json.dumps(worker)}"]
    submit(connect(commands, folder=str(folder), python=python))
    name = job_name("gs://b/s", MEMBERS[:1])
    output = folder / f"{name}-77.out"
    output.touch()
    environment = {"PATH": "/usr/bin:/bin", "SLURM_JOB_ID": "77", "SLURMD_NODENAME": "n1"}
    environment["SLURM_TMPDIR"] = str(tmp_path)
    done = subprocess.run(
        ["bash"],
        input=commands.text,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 75, done.stderr
    assert done.stdout.splitlines() == ["words", f"{ENDED} 75 on n1"]
    assert output.exists()
    commands.text = commands.text.replace("sys.exit(75)", "sys.exit(0)")
    subprocess.run(
        ["bash"],
        input=commands.text,
        env=environment,
        text=True,
        check=True,
    )
    assert not output.exists()


def test_an_answer_that_is_no_number_is_an_error(connect: Callable[..., SlurmConnection]) -> None:
    with pytest.raises(SlurmError, match="Submitted"):
        submit(connect(Scripted(sbatch="Submitted batch job 77\n")))


def test_a_class_that_is_missing_is_named(
    connect: Callable[..., SlurmConnection], store: MemoryStore
) -> None:
    with pytest.raises(SlurmError, match=r"Add slurm\.worker-classes\.gpu"):
        connect(Scripted()).group(job(store, COPY, worker="gpu"))


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_module, "_ACCOUNTS_PAUSE", 0.0)


def watched(store: MemoryStore, **said: str | Exception) -> tuple[SlurmWatch, Scripted]:
    commands = Scripted(**said)
    return SlurmWatch(commands, store, True, threading.Event()), commands


def test_a_run_finds_the_jobs_of_another_one_by_their_requests(store: MemoryStore) -> None:
    jobs = tuple(job(store, COPY, key=f"{number}" * 64) for number in range(2))
    request = store.add_bytes(PodRequest(jobs, store.url, 0, "standard").to_bytes())
    said = comment(store_label(store.url), "cpu", request)
    mine = row("7", "translations-a", "RUNNING", "0", "0:01", "1:00", "n1", said, "None")
    others = row(
        "8", "translations-b", "RUNNING", "0", "0:01", "1:00", "n1", said.replace(said[:24], "x" * 24), ""
    )
    ended = row("9", "translations-c", "FAILED", "256", "0:01", "1:00", "n1", said, "")
    watch, _ = watched(store, squeue="\n".join((mine, others, ended)))
    watch.look()
    assert [state.uid for state in watch.jobs_of(jobs[1].step)] == ["7"]
    found = watch.job("7")
    assert found
    assert found.members == tuple(map(member, jobs))
    assert [state.uid for state in watch.jobs() if state.live] == ["7", "8"]


def test_a_job_that_was_just_submitted_is_not_taken_for_a_vanished_one(store: MemoryStore) -> None:
    watch, commands = watched(store)
    submitting: list[str] = []

    class Slow(Scripted):
        def run(self, *command: str, text: str = "", seconds: float = 0.0) -> str:
            if submitting:
                watch.add(known)  # while squeue is under way
                submitting.clear()
            return ""

    known = SlurmState("7", "translations-a", "PENDING")
    watch._commands = Slow()
    submitting.append("7")
    watch.look()
    assert watch.job("7") is not None
    watch.look()
    assert watch.job("7") is None
    assert commands.asked == []


def test_who_waits_for_a_job_hears_of_its_changes_alone(store: MemoryStore) -> None:
    def line(state: str, used: str) -> str:
        return row("7", "translations-a", state, "0", used, "1:00", "n1", "(null)", "None")

    watch, commands = watched(store, squeue=line("RUNNING", "0:01"))
    heard: list[str] = []
    watch.look()
    watch.subscribe("7", lambda: heard.append("7"))
    watch.subscribe("8", lambda: heard.append("8"))
    commands.said["squeue"] = line("RUNNING", "0:09")
    watch.look()
    assert heard == []
    commands.said["squeue"] = line("COMPLETED", "0:10")
    watch.look()
    assert heard == ["7"]


def test_accounting_is_asked_once_for_all_jobs(store: MemoryStore) -> None:
    watch, commands = watched(store, sacct="7|FAILED|75:0|n1\n8|NODE_FAIL|0:0|n2\n")
    assert [watch.account(uid) for uid in ("7", "8")] == [(False, None)] * 2
    watch._ask_accounts()
    assert commands.words("sacct")[-1] == "--jobs=7,8"
    known, account = watch.account("8")
    assert known
    assert account
    assert account.state == "NODE_FAIL"


def test_accounting_that_has_not_heard_of_the_end_is_asked_again(store: MemoryStore) -> None:
    watch, commands = watched(store, sacct="7|RUNNING|0:0|n1\n")
    watch.account("7")
    watch._ask_accounts()
    assert watch.account("7") == (False, None)
    commands.said["sacct"] = SlurmAway("slurmdbd is away")
    watch._ask_accounts()
    assert watch.account("7") == (False, None)
    commands.said["sacct"] = SlurmError("accounting storage is disabled")
    watch._ask_accounts()
    assert watch.account("7") == (True, None)
