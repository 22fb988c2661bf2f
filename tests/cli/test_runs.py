"""Runs from the command line: which there are, what became of their steps, whose process has ended."""

import io
import json
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from dagster import DagsterInstance, DagsterRunStatus, job, op

from tests.cli.conftest import Command, make
from tests.defs.runner import MadeUpRunner
from tests.end_to_end.tiny import PARTITION, Place
from translations_assets.cli import logs, runs_status, runs_train
from translations_assets.instance.home import prepare
from translations_assets.instance.process_id import PROCESS_TAG, this_process
from translations_assets.project import Project
from translations_assets.records.manifest import Usage
from translations_assets.records.run import RunRecord
from translations_assets.running.protocols import Store
from translations_assets.running.reading import is_read
from translations_assets.running.resolve import StepState
from translations_assets.runs.steps import StepProgress, interrupted, step_of_plan

VOCAB = "train-vocab-en-eo"
FIRST, SECOND = "11111111-0000-4000-8000-000000000000", "11112222-0000-4000-8000-000000000000"
PARTITION_TAG = "dagster/partition"


def listed_runs(command: Command, *words: str) -> list[str]:
    """The runs that `status` lists, behind the pairs."""
    return command("status", *words).out.rpartition("\n\n")[2].splitlines()


@op
def nothing() -> None:
    """Does nothing."""


@job
def empty() -> None:
    """Stands for any job."""
    nothing()


def dagster_run(place: Place, run: str, status: DagsterRunStatus, tags: Mapping[str, str]) -> None:
    """A run that Dagster knows."""
    prepare(place.root / "dagster")
    with DagsterInstance.from_config(str(place.root / "dagster")) as instance:
        known = {PARTITION_TAG: PARTITION, **tags}
        instance.create_run_for_job(empty, run_id=run, status=status, tags=known)


def dagster_status(place: Place, run: str) -> str:
    with DagsterInstance.from_config(str(place.root / "dagster")) as instance:
        found = instance.get_run_by_id(run)
        assert found is not None
        return found.status.value


def dagster_messages(place: Place, run: str) -> str:
    with DagsterInstance.from_config(str(place.root / "dagster")) as instance:
        return "\n".join(entry.user_message or str(entry.dagster_event) for entry in instance.all_logs(run))


def ended_process(run: str) -> str:
    """The name of a process that has ended."""
    code = f"from translations_assets.instance.process_id import this_process; print(this_process('{run}'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def status_of(command: Command, name: str) -> dict[str, Any]:
    said = command("status", name, "--json")
    assert said.code == 0, said.err
    value: dict[str, Any] = json.loads(said.out)
    return value


def test_no_run_yet(command: Command) -> None:
    assert command("status").out == "No run yet. To start one: translations train PARTITION\n"


def test_the_newest_runs_come_first(command: Command) -> None:
    make("merge_corpus", FIRST)
    make("train_vocab", SECOND)
    *_, first, second = command("status").out.splitlines()  # after the pairs
    assert first.split()[:3] == [SECOND[:8], PARTITION, "ended"]
    assert second.split()[:3] == [FIRST[:8], PARTITION, "ended"]
    newest = json.loads(command("status", "--json").out)["runs"][0]
    assert (newest["run"], newest["steps_done"]) == (SECOND, 6)


def test_the_steps_of_a_run(command: Command) -> None:
    make("merge_corpus", FIRST)
    make("train_vocab", SECOND)
    states = {row["label"]: row["state"] for row in status_of(command, SECOND)["steps"]}
    assert states["merge-corpus-en-eo"] == "cached"
    assert states[VOCAB] == "finished"
    assert states["train-student-en-eo"] == "not begun"
    (row,) = (row for row in status_of(command, SECOND)["steps"] if row["label"] == VOCAB)
    assert (row["host"], row["worker"], row["attempts"]) == ("here", "large-cpu", 1)
    store = Project().store
    store.write_run(FIRST, replace(store.read_run(FIRST) or RunRecord(), steps={}))  # as of before
    assert {row["stage"] for row in status_of(command, FIRST)["steps"]} >= {"merge_corpus", "clean_corpus"}
    said = command("status", SECOND[:8], "--steps")
    assert f"run {SECOND} of {PARTITION}: ended" in said.out
    assert ["finished", VOCAB] in [line.split()[:2] for line in said.out.splitlines()]


def test_a_run_is_named_by_how_its_id_begins(command: Command) -> None:
    make("merge_devset", FIRST)
    make("merge_devset", SECOND)
    assert status_of(command, "11112")["run"] == SECOND
    ambiguous = command("status", "1111")
    assert ambiguous.code == 1
    assert f"Several runs begin with 1111: {FIRST}, {SECOND}. Give more of the id." in ambiguous.err
    unknown = command("status", "abcd1234")
    assert unknown.code == 1
    assert "There is no run abcd1234. To list the runs: translations status" in unknown.err


def test_what_was_asked_of_a_run_is_shown(command: Command) -> None:
    make("merge_devset", FIRST, {"experiment.spm-vocab-size": 400})
    assert command("status").out.rstrip().endswith(" steps  test  --set=experiment.spm-vocab-size=400")
    found = status_of(command, FIRST)
    assert found["options"] == {"overrides": {"experiment.spm-vocab-size": 400}}
    assert {row["state"] for row in found["steps"] if row["stage"] == "merge_devset"} == {"finished"}


def test_what_failed_is_shown_as_it_was_then(command: Command, place: Place) -> None:
    """Although the step has another key by now, and when there is no config any more."""
    make("train_backwards", FIRST, runner=MadeUpRunner(fails=VOCAB))
    path = place.root / "configs" / f"{PARTITION}.yml"
    path.write_text(path.read_text().replace("spm-vocab-size: 400", "spm-vocab-size: 304"))
    before = command("status", FIRST)
    assert re.search(r"train_vocab +1 failed", before.out)
    why = f"{VOCAB}: pipeline.train.vocab ended with exit code 1; error: too little text"
    assert f"    {why}\n" in before.out
    path.rename(place.root / "away.yml")
    assert command("status", FIRST).out == before.out
    (row,) = (row for row in status_of(command, FIRST)["steps"] if row["label"] == VOCAB)
    assert (row["state"], row["attempts"], f"{VOCAB}: {row['why']}") == ("failed", 1, why)
    assert command("logs", FIRST, VOCAB).out == f"the log of {VOCAB}\n"
    missing = command("logs", FIRST, "train-backwards-en-eo")
    assert f"train-backwards-en-eo has not begun in run {FIRST[:8]}." in missing.err
    assert "  6/85 steps" in command("status").out


def test_a_run_whose_process_was_killed_is_marked_as_failed(command: Command, place: Place) -> None:
    tags = {PROCESS_TAG: ended_process(FIRST)}
    dagster_run(place, FIRST, DagsterRunStatus.STARTED, tags)
    for _ in range(2):  # it stays so after it was marked
        assert "lost its process" in command("status").out
    assert dagster_status(place, FIRST) == "FAILURE"
    assert "process has ended" in dagster_messages(place, FIRST)
    said = command("cancel", FIRST[:8])
    assert said.code == 1
    assert "lost its process" in said.err


def test_a_run_that_is_being_cancelled_when_its_process_dies_is_cancelled(
    command: Command, place: Place
) -> None:
    dagster_run(place, FIRST, DagsterRunStatus.CANCELING, {PROCESS_TAG: ended_process(FIRST)})
    command("status")
    assert dagster_status(place, FIRST) == "CANCELED"


def test_cancel_waits_for_the_last_words_of_a_run(
    command: Command, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its record, which says what is kept, is written after Dagster is told of the end."""
    record = RunRecord(FIRST, PARTITION, started=1.0, heartbeat=time.time())
    Project().store.write_run(FIRST, record)
    dagster_run(place, FIRST, DagsterRunStatus.STARTED, {PROCESS_TAG: this_process(FIRST)})

    def last_words(seconds: float) -> None:
        if dagster_status(place, FIRST) == "CANCELED":
            uses = {"dataset": ("ab" * 32, 1)}
            Project().store.write_run(FIRST, replace(record, ended=time.time(), uses=uses))
        with DagsterInstance.from_config(str(place.root / "dagster")) as instance:
            run = instance.get_run_by_id(FIRST)
            assert run is not None
            instance.report_run_canceled(run)

    monkeypatch.setattr("translations_assets.runs.known.time.sleep", last_words)
    assert "cancelled. 1 finished step is kept." in command("cancel", FIRST).out


def test_a_step_that_another_run_wants_goes_on_though_it_has_no_log_yet(place: Place) -> None:
    store, made = Project().store, ("ab" * 32, 1)
    record = RunRecord(FIRST, PARTITION, begun={"clean": made})
    assert [*interrupted(store, record)] == []
    with store.owners.lock(*made), store.owners.waiting(*made):
        assert [*interrupted(store, record)] == ["clean goes on for another run."]


def test_a_run_whose_process_is_there_is_running(command: Command, place: Place) -> None:
    dagster_run(place, FIRST, DagsterRunStatus.STARTED, {PROCESS_TAG: this_process(FIRST)})
    assert status_of(command, FIRST)["state"] == "running"
    assert dagster_status(place, FIRST) == "STARTED"


@pytest.mark.parametrize(("silent", "state"), [(60, "running"), (240, "lost its process")])
def test_a_run_on_another_machine_is_judged_by_its_heartbeat(
    command: Command, place: Place, silent: int, state: str
) -> None:
    dagster_run(place, FIRST, DagsterRunStatus.STARTED, {PROCESS_TAG: f"elsewhere:1 1 {FIRST[:8]}"})
    record = RunRecord(FIRST, PARTITION, started=1.0, heartbeat=time.time() - silent)
    Project().store.write_run(FIRST, record)
    assert status_of(command, FIRST)["state"] == state


def test_cancel_says_that_nothing_runs(command: Command, place: Place) -> None:
    make("merge_devset", FIRST)
    dagster_run(place, SECOND, DagsterRunStatus.SUCCESS, {})
    for name, message in [
        (PARTITION, f"No run of {PARTITION} is running"),
        (SECOND, f"{SECOND[:8]} does not run: done."),
        (FIRST, f"{FIRST[:8]} does not run: ended."),
    ]:
        said = command("cancel", name)
        assert said.code == 1
        assert message in said.err


def test_cancel_asks_which_of_two(command: Command, place: Place) -> None:
    for run in (FIRST, SECOND):
        dagster_run(place, run, DagsterRunStatus.STARTED, {PROCESS_TAG: this_process(run)})
    said = command("cancel", PARTITION)
    assert said.code == 1
    assert f"Several runs of {PARTITION} are running" in said.err


def test_rerun_needs_a_run_that_is_over(command: Command, place: Place) -> None:
    dagster_run(place, FIRST, DagsterRunStatus.STARTED, {PROCESS_TAG: this_process(FIRST)})
    said = command("rerun", FIRST[:8])
    assert said.code == 1
    assert f"To end it: translations cancel {FIRST[:8]}" in said.err


def test_rerun_asks_before_it_starts(command: Command, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    make("train_vocab", FIRST)
    dagster_run(place, FIRST, DagsterRunStatus.FAILURE, {})
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    said = command("rerun", FIRST[:8])
    assert (said.code, "Start?" in said.out, said.err) == (1, True, "")


def test_a_rerun_says_which_run_it_repeats(
    command: Command, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    make("train_vocab", FIRST)
    dagster_run(place, FIRST, DagsterRunStatus.FAILURE, {})
    asked: list[object] = []

    def run_here(session: object, plan: object, parent: str | None = None, json: bool = False) -> None:
        asked.append(parent)

    monkeypatch.setattr(runs_train, "_run_here", run_here)
    assert command("rerun", FIRST[:8], "--yes").code == 0
    assert asked == [FIRST]


@pytest.mark.slow  # it imports the definitions
def test_a_job_that_the_ui_started_has_its_stages_and_options(
    command: Command, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from translations_assets.definitions import defs

    prepare(place.root / "dagster")
    with DagsterInstance.from_config(str(place.root / "dagster")) as instance:
        instance.create_run_for_job(
            defs.resolve_job_def("up_to_merge_corpus"),
            run_id=FIRST,
            status=DagsterRunStatus.FAILURE,
            run_config={"resources": {"run": {"config": {"start": "merge_corpus"}}}},
            tags={PARTITION_TAG: PARTITION},
        )
    assert command("status").out.rstrip().endswith("  up to merge_corpus  --start=merge_corpus")
    found = status_of(command, FIRST)
    graph = Project().configs.read(PARTITION).graph
    stages = graph.up_to("merge_corpus")
    assert set(found["stages"]) == set(stages)
    assert found["options"] == {"start": "merge_corpus"}
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    said = command("rerun", FIRST)
    made = sum(step.stage in stages for step in graph.steps)
    assert f"(failed): 0 of {made} steps made." in said.out


def test_the_log_of_a_step_of_a_run(command: Command) -> None:
    make("train_vocab", FIRST)
    said = command("logs", FIRST[:8], VOCAB)
    assert (said.code, said.out) == (0, f"the log of {VOCAB}\n")


def test_the_log_of_a_repetition_counts_while_it_runs(command: Command) -> None:
    make("train_vocab", FIRST)
    store = Project().store
    plan = json.loads(command("plan", PARTITION, "--target", "train_vocab", "--json").out)["steps"]
    (key,) = (step["key"] for step in plan if step["label"] == VOCAB)
    store.append_log(key, 2, 1, 0, b"once more\n")
    assert command("logs", PARTITION, VOCAB).out == "once more\n"


def test_following_goes_on_with_the_next_attempt(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    make("merge_corpus", FIRST)
    plan = json.loads(command("plan", PARTITION, "--json").out)["steps"]
    (key,) = (step["key"] for step in plan if step["label"] == VOCAB)
    store = Project().store
    store.append_log(key, 1, 1, 0, b"first\n")

    def retry(seconds: float) -> None:
        """While the command waits, the engine tries again."""
        assert is_read(store, key, 1)
        if store.attempts(key, 1) == [1]:
            store.append_log(key, 1, 2, 0, b"second\n")

    monkeypatch.setattr(logs, "time", SimpleNamespace(sleep=retry, monotonic=time.monotonic))
    monkeypatch.setattr(logs, "RETRY_SECONDS", 0.5)
    said = command("logs", "-f", PARTITION, VOCAB)
    assert said.out == "first\nsecond\n"
    assert "attempt 2" in said.err
    assert not is_read(store, key, 1)


def test_the_seconds_of_a_step_are_those_of_all_its_attempts(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    make("train_vocab", FIRST)

    def resumed(store: Store, planned: StepState) -> StepProgress:
        """As after an attempt whose machine was lost."""
        step = step_of_plan(store, planned)
        usage = Usage(seconds=10, earlier_seconds=90)
        return replace(step, manifest=step.manifest and replace(step.manifest, usage=usage))

    monkeypatch.setattr(runs_status, "step_of_plan", resumed)
    seconds = {step["label"]: step["seconds"] for step in status_of(command, PARTITION)["steps"]}
    assert seconds[VOCAB] == 100


def test_a_step_that_runs_has_its_time_and_no_memory(command: Command) -> None:
    began = time.time() - 100
    record = RunRecord(
        FIRST, PARTITION, started=began, heartbeat=time.time(), steps={"train": {VOCAB: "gpu", "b": "gpu"}},
        begun={VOCAB: ("ab" * 32, 1), "b": ("cd" * 32, 1)}, since={VOCAB: began},
    )  # fmt: skip
    store = Project().store
    store.write_run(FIRST, record)
    with store.owners.lock("ab" * 32, 1), store.owners.lock("cd" * 32, 1):
        runs, waits = status_of(command, FIRST)["steps"]
        lines = command("status", FIRST, "--steps").out.splitlines()
    assert 100 <= runs["seconds"] < 160
    assert (runs["started"], runs["memory_mb"], runs["cpu_seconds"]) == (began, None, None)
    assert (waits["seconds"], waits["memory_mb"]) == (None, None)  # it is not known since when
    assert re.match(rf"running +{VOCAB} +1\d\d\.\d s +- +- ", lines[0])
    assert re.match(r"running +b +- +- +- ", lines[1])


@pytest.mark.parametrize(
    ("failed", "uses", "state", "told"),
    [
        ({"a": "why"}, {}, "failed", "failed: a"),
        ({"a": "why", "b": "why"}, {}, "failed", "failed: a and 1 more"),
        ({}, {"a": ("ab" * 32, 1), "b": ("cd" * 32, 1)}, "done", ""),
        ({}, {"a": ("ab" * 32, 1)}, "ended", ""),
    ],
)
def test_a_run_that_the_store_alone_knows_says_how_it_ended(
    failed: dict[str, str], uses: dict[str, tuple[str, int]], state: str, told: str, command: Command
) -> None:
    steps = {"train": {"a": "gpu", "b": "gpu"}}
    record = RunRecord(FIRST, PARTITION, started=1.0, ended=2.0, steps=steps, failed=failed, uses=uses)
    Project().store.write_run(FIRST, record)
    (line,) = listed_runs(command)
    assert line.split()[2] == state
    assert line.endswith(f"{len(uses)}/2 steps" + (f"  {told}" if told else ""))
    assert status_of(command, FIRST)["state"] == state
    again = f"To make what is missing: translations train {PARTITION}\n"
    assert (again in command("status", FIRST).out) is (state == "failed")


def test_all_runs_can_be_listed(command: Command) -> None:
    for number in range(20):
        run = f"{number:08}-0000-4000-8000-000000000000"
        Project().store.write_run(run, RunRecord(run, PARTITION, started=float(number), ended=100.0))
    *listed, more = listed_runs(command)
    assert [line[:8] for line in listed] == [f"{number:08}" for number in range(19, 4, -1)]
    assert more == "These are the newest 15 runs; to list all: translations status --all"
    assert len(listed_runs(command, "--all")) == 20
    assert len(json.loads(command("status", "--all", "--json").out)["runs"]) == 20
