"""The threaded executor: order, failures, checks, retries, pools, and every way of stopping a run."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from dagster import (
    AssetKey,
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    JobExecutionResult,
    execute_job,
    materialize,
    reconstructable,
)

from tests.defs import executor_assets
from tests.patience import PATIENCE
from translations_assets.common.settings import repository_root
from translations_assets.defs import executor
from translations_assets.instance.home import prepare

MODULE = "tests.defs.executor_assets"


@pytest.fixture
def marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the assets leave marks; DAGSTER_HOME is a prepared folder beside it."""
    folder = tmp_path / "marks"
    folder.mkdir()
    prepare(tmp_path / "home")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("EXECUTOR_TEST_MARKS", str(folder))
    return folder


@pytest.fixture
def instance(marks: Path) -> Iterator[DagsterInstance]:
    with DagsterInstance.get() as opened:
        yield opened


def run(
    instance: DagsterInstance, assets: str, tags: dict[str, str] | None = None, **config: object
) -> JobExecutionResult:
    """Run the assets (split by blanks) in this process, as `dagster asset materialize` does in its own."""
    return execute_job(
        reconstructable(executor_assets.everything),
        instance,
        asset_selection=[AssetKey(name) for name in assets.split()],
        run_config={"execution": {"config": config}} if config else None,
        tags=tags,
    )


def left(marks: Path) -> set[str]:
    return {path.name for path in marks.iterdir()}


def wait_for(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited {PATIENCE} s for {what}"
        time.sleep(0.05)


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "dagster", "asset", "materialize", "-m", MODULE, *args]


@contextmanager
def materializing(*args: str) -> Iterator[subprocess.Popen[bytes]]:
    """`dagster asset materialize` in a process and a session of its own; killed if it is left running."""
    process = subprocess.Popen(command(*args), cwd=repository_root(), start_new_session=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def only_run(instance: DagsterInstance) -> DagsterRun:
    (found,) = instance.get_runs()
    return found


# What runs when


def test_independent_assets_run_at_the_same_time(instance: DagsterInstance, marks: Path) -> None:
    assert run(instance, "left right").success
    assert left(marks) == {"left", "right"}


def test_a_limit_of_one_runs_assets_one_after_the_other_by_priority(
    instance: DagsterInstance, marks: Path
) -> None:
    result = run(instance, "queued second first", max_concurrent=1)
    order = [event.step_key for event in result.all_events if event.is_step_start or event.is_step_success]
    assert order == ["first", "first", "second", "second", "queued", "queued"]


def test_a_limit_below_one_is_refused_before_anything_runs(instance: DagsterInstance, marks: Path) -> None:
    result = run(instance, "queued", max_concurrent=0)
    assert not result.success
    assert left(marks) == set()
    (failure,) = [event for event in result.all_events if event.is_failure]
    assert "max_concurrent is 0; it must be at least 1" in str(failure.event_specific_data)


def test_a_chain_runs_in_order(instance: DagsterInstance) -> None:
    result = run(instance, "link_2 link_0 link_1")
    done = [event.step_key for event in result.all_events if event.is_step_success]
    assert done == ["link_0", "link_1", "link_2"]


def test_a_partition_reaches_its_asset(instance: DagsterInstance, marks: Path) -> None:
    assert run(instance, "partitioned", tags={"dagster/partition": "en-ru"}).success
    assert left(marks) == {"en-ru"}
    assert instance.get_materialized_partitions(AssetKey("partitioned")) == {"en-ru"}


def test_resources_are_made_once_per_run_and_given_back(instance: DagsterInstance, marks: Path) -> None:
    assert run(instance, "first second").success
    assert left(marks) == {"connected", "first-open", "second-open", "disconnected"}


def test_a_full_pool_holds_an_asset_back_and_is_free_afterwards(
    instance: DagsterInstance, marks: Path
) -> None:
    instance.event_log_storage.set_concurrency_slots("gpu", 1)
    assert run(instance, "pool_a pool_b").success
    assert left(marks) == {"pool_a-alone", "pool_b-alone"}
    assert instance.event_log_storage.get_concurrency_info("gpu").active_slot_count == 0


def test_hooks_run(instance: DagsterInstance, marks: Path) -> None:
    assert execute_job(reconstructable(executor_assets.with_hook), instance).success
    assert left(marks) == {"queued", "hook-queued"}


def test_an_event_logged_from_any_thread_is_stored_while_the_asset_runs(
    instance: DagsterInstance, marks: Path
) -> None:
    assert run(instance, "noisy").success
    assert left(marks) == {"observations-1"}


# What happens when something fails


def test_a_failure_skips_what_needs_it_and_nothing_else(instance: DagsterInstance, marks: Path) -> None:
    result = run(instance, "broken after_broken sibling after_sibling")
    assert not result.success
    assert left(marks) == {"after_sibling"}
    assert instance.get_latest_materialization_event(AssetKey("after_sibling")) is not None


def test_a_blocking_check_that_fails_stops_what_is_downstream(instance: DagsterInstance, marks: Path) -> None:
    result = run(instance, "checked after_checked")
    assert not result.success
    assert left(marks) == set()
    assert instance.get_latest_materialization_event(AssetKey("checked")) is not None


def test_retries_follow_the_policy_of_the_asset(instance: DagsterInstance, marks: Path) -> None:
    assert run(instance, "flaky").success
    assert left(marks) == {"flaky", "flaky.again", "flaky.again.again"}


def test_retries_can_be_switched_off(instance: DagsterInstance, marks: Path) -> None:
    assert not run(instance, "flaky", retries={"disabled": {}}).success
    assert left(marks) == {"flaky"}


@pytest.mark.slow
def test_the_command_line_tells_failure_by_its_exit_status(instance: DagsterInstance, marks: Path) -> None:
    select = "broken,after_broken,sibling,after_sibling"
    done = subprocess.run(command("--select", select), cwd=repository_root(), timeout=PATIENCE)
    assert done.returncode == 1
    assert left(marks) == {"after_sibling"}
    assert only_run(instance).status is DagsterRunStatus.FAILURE


# Stopping


@pytest.mark.slow
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cancels_the_run_and_starts_nothing_more(
    instance: DagsterInstance, marks: Path, signum: signal.Signals
) -> None:
    one_at_a_time = json.dumps({"execution": {"config": {"max_concurrent": 1}}})
    with materializing("--select", "waiting,after_waiting,queued", "--config-json", one_at_a_time) as process:
        wait_for(lambda: "waiting" in left(marks), "the asset to start")
        os.kill(process.pid, signum)
        assert process.wait(PATIENCE) == 1
    assert left(marks) == {"waiting", "canceled"}
    assert only_run(instance).status is DagsterRunStatus.CANCELED


@pytest.mark.slow
def test_ctrl_c_twice_still_cancels_the_run(instance: DagsterInstance, marks: Path) -> None:
    with materializing("--select", "deaf,queued") as process:
        wait_for(lambda: {"deaf", "queued"} <= left(marks), "the assets to start")
        for _ in range(2):
            os.killpg(process.pid, signal.SIGINT)  # a terminal signals all processes of the session
            time.sleep(0.5)
        (marks / "release").touch()
        assert process.wait(PATIENCE) == 1
    assert only_run(instance).status is DagsterRunStatus.CANCELED


@pytest.mark.slow
def test_terminate_reaches_a_run_that_no_launcher_started(instance: DagsterInstance, marks: Path) -> None:
    with materializing("--select", "waiting,after_waiting") as process:
        wait_for(lambda: "waiting" in left(marks), "the asset to start")
        assert (
            instance.run_launcher.terminate(only_run(instance).run_id) is False
        )  # it knows no way to signal
        assert process.wait(PATIENCE) == 1
    assert left(marks) == {"waiting", "canceled"}
    assert only_run(instance).status is DagsterRunStatus.CANCELED


@pytest.mark.slow
def test_an_asset_that_does_not_stop_is_left_behind_after_ten_seconds(
    instance: DagsterInstance, marks: Path
) -> None:
    with materializing("--select", "deaf") as process:
        wait_for(lambda: "deaf" in left(marks), "the asset to start")
        asked = time.monotonic()
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE) == 1
    assert time.monotonic() - asked > 10
    found = only_run(instance)
    assert found.status is DagsterRunStatus.CANCELED
    assert any(
        "deaf did not end within 10 s" in entry.user_message for entry in instance.all_logs(found.run_id)
    )


@pytest.mark.slow
def test_terminate_in_the_ui_cancels_a_run_that_the_ui_launched(
    instance: DagsterInstance, marks: Path
) -> None:
    with web_server() as ask:
        run_id = ask(LAUNCH)["launchRun"]["run"]["runId"]
        wait_for(lambda: "waiting" in left(marks), "the asset to start")
        answer = ask(f'mutation {{ terminateRun(runId: "{run_id}") {{ __typename }} }}')
        assert answer["terminateRun"]["__typename"] == "TerminateRunSuccess"
        wait_for(lambda: only_run(instance).is_finished, "the run to end")
    assert only_run(instance).status is DagsterRunStatus.CANCELED
    assert left(marks) == {"waiting", "canceled"}


def test_the_cancel_event_is_known_only_while_the_run_lasts(instance: DagsterInstance, marks: Path) -> None:
    result = run(instance, "queued")
    assert executor.cancel_event(result.run_id) is not executor.cancel_event(result.run_id)
    assert not executor.cancel_event(result.run_id).is_set()


def test_assets_with_a_cancel_event_also_run_in_dagsters_own_executor(marks: Path) -> None:
    assert materialize([executor_assets.queued], resources={}).success
    assert left(marks) == {"queued"}


@pytest.mark.slow
def test_many_small_assets_take_seconds(instance: DagsterInstance, marks: Path) -> None:
    began = time.monotonic()
    subprocess.run(command("--select", 'key:"link_*"'), cwd=repository_root(), timeout=PATIENCE, check=True)
    print(f"{len(executor_assets.CHAIN)} chained assets: {time.monotonic() - began:.1f} s")
    assert len(left(marks)) == len(executor_assets.CHAIN)


# Dagster's web server

LAUNCH = """
mutation {
  launchRun(executionParams: {
    selector: {
      repositoryLocationName: "tests.defs.executor_assets", repositoryName: "__repository__",
      jobName: "__ASSET_JOB", assetSelection: [{path: ["waiting"]}, {path: ["after_waiting"]}]
    }
  }) { __typename ... on LaunchRunSuccess { run { runId } } }
}
"""


@contextmanager
def web_server() -> Iterator[Callable[[str], dict[str, Any]]]:
    """A web server without a daemon, as a function from GraphQL to its data."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = ["dagster_webserver", "-h", "127.0.0.1", "-p", str(port), "-m", MODULE]
    process = subprocess.Popen([sys.executable, "-m", *server], cwd=repository_root())
    try:
        wait_for(lambda: _listens(port), "the web server")
        yield lambda query: _ask(port, query)
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def _ask(port: int, query: str) -> dict[str, Any]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/graphql",
        data=json.dumps({"query": query}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as response:
        answer = json.load(response)
    assert "errors" not in answer, answer
    data: dict[str, Any] = answer["data"]
    return data
