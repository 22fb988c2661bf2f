"""A run as Dagster's instance has it: the mark of one that was lost, the stages of a repetition."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from unittest.mock import Mock

import pytest
from dagster import DagsterInstance, DagsterRun, DagsterRunStatus, job

from translations_assets.instance.process_id import PROCESS_TAG
from translations_assets.runs.instance import LOST_TAG, run_of_dagster, stages_of
from translations_assets.runs.run import Run
from translations_assets.store.local import LocalStore

FIRST, AGAIN = "11111111-0000-4000-8000-000000000000", "22222222-0000-4000-8000-000000000000"


@job
def empty() -> None:
    """Stands for any job."""


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    """An instance of Dagster without runs."""
    with DagsterInstance.ephemeral() as instance:
        yield instance


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    """A store without runs."""
    return LocalStore(tmp_path / "store")


def begin(
    instance: DagsterInstance, run: str, tags: Mapping[str, str], status: str = "STARTED"
) -> dict[str, str]:
    """A run that Dagster knows; its tags."""
    made = instance.create_run_for_job(empty, run_id=run, status=DagsterRunStatus(status), tags=dict(tags))
    return dict(made.tags)


def seen(instance: DagsterInstance, store: LocalStore, run: str) -> Run:
    """A run as commands and pages show it."""
    found = instance.get_run_record_by_id(run)
    assert found is not None
    return run_of_dagster(instance, store, found)


def test_a_run_that_repeats_a_lost_one_is_not_lost_itself(
    instance: DagsterInstance, store: LocalStore
) -> None:
    """Dagster copies all tags of the first run."""
    # no process began when the machine did
    begin(instance, FIRST, {PROCESS_TAG: f"{socket.gethostname()}:1 0 {FIRST[:8]}"})
    assert seen(instance, store, FIRST).state == "lost its process"
    lost = instance.get_run_by_id(FIRST)
    assert lost is not None
    assert seen(instance, store, FIRST).state == "lost its process"  # by its mark
    begin(instance, AGAIN, lost.tags)
    assert seen(instance, store, AGAIN).state == "running"
    again = instance.get_run_by_id(AGAIN)
    assert again is not None
    instance.report_run_failed(again)
    assert seen(instance, store, AGAIN).state == "failed"


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("STARTED", "running"),
        ("SUCCESS", "done"),
        ("FAILURE", "lost its process"),
        ("CANCELED", "lost its process"),
    ],
)
def test_a_mark_of_before_counts_for_a_run_that_did_not_succeed(
    instance: DagsterInstance, store: LocalStore, status: str, state: str
) -> None:
    begin(instance, FIRST, {LOST_TAG: "true"}, status)
    assert seen(instance, store, FIRST).state == state


@pytest.mark.parametrize(
    ("steps", "stages"),
    [
        (["checks_of_merge_corpus"], ["merge_corpus", "check_merge_corpus"]),
        (["merge_corpus", "checks_of_merge_corpus"], ["merge_corpus", "check_merge_corpus"]),
        (["checks_of_train_vocab", "export"], ["train_vocab", "check_train_vocab", "export", "check_export"]),
        (["report"], []),
    ],
)
def test_a_run_that_only_judges_a_stage_is_one_of_the_stage(steps: list[str], stages: list[str]) -> None:
    """Repeated from a failure, or asked for in the UI."""
    repeated = DagsterRun("all", step_keys_to_execute=steps)
    assert {*stages_of(Mock(), repeated)} == {*stages}
    planned = Mock()
    planned.get_execution_plan_snapshot.return_value.step_keys_to_execute = steps
    asked = DagsterRun("all", asset_selection=frozenset(), execution_plan_snapshot_id="1")
    assert stages_of(planned, asked) == stages_of(Mock(), repeated)
