"""Small assets that show what the threaded executor does, loaded by its tests in this process and in others.

They leave marks (empty files) in the folder named by `EXECUTOR_TEST_MARKS`. Without postponed annotations:
Dagster compares the type of `context` with its classes and does not resolve strings.
"""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from dagster import (
    AssetCheckResult,
    AssetCheckSpec,
    AssetExecutionContext,
    AssetKey,
    AssetObservation,
    AssetsDefinition,
    DagsterEventType,
    DagsterExecutionInterruptedError,
    Definitions,
    HookContext,
    InitResourceContext,
    JobDefinition,
    MaterializeResult,
    RetryPolicy,
    StaticPartitionsDefinition,
    asset,
    define_asset_job,
    resource,
    success_hook,
)

from tests.patience import PATIENCE
from translations_assets.defs.executor import cancel_event, threaded_executor

_meeting = threading.Barrier(2)
_failed = threading.Event()
_pooled = threading.Lock()


def mark(name: str) -> None:
    """Leave a mark; a second of the same name gets the suffix `.again`."""
    path = Path(os.environ["EXECUTOR_TEST_MARKS"]) / name
    while path.exists():
        path = path.with_name(f"{path.name}.again")
    path.touch()


@asset
def left() -> None:
    """Ends only when `right` is running too."""
    _meeting.wait(PATIENCE)
    mark("left")


@asset
def right() -> None:
    """Ends only when `left` is running too."""
    _meeting.wait(PATIENCE)
    mark("right")


@asset
def broken() -> None:
    """Fails."""
    _failed.set()
    raise ValueError("broken on purpose")


@asset(deps=[broken])
def after_broken() -> None:
    """Must not run."""
    mark("after_broken")


@asset
def sibling() -> None:
    """Ends after `broken` has failed."""
    assert _failed.wait(PATIENCE)


@asset(deps=[sibling])
def after_sibling() -> None:
    """Starts after `broken` has failed."""
    mark("after_sibling")


@asset(check_specs=[AssetCheckSpec("good", asset="checked", blocking=True)])
def checked() -> MaterializeResult:  # type: ignore[type-arg]  # Dagster knows only the bare class
    """Is made, but its blocking check fails."""
    return MaterializeResult(check_results=[AssetCheckResult(check_name="good", passed=False)])


@asset(deps=[checked])
def after_checked() -> None:
    """Must not run."""
    mark("after_checked")


@asset(partitions_def=StaticPartitionsDefinition(["en-eo", "en-ru"]))
def partitioned(context: AssetExecutionContext) -> None:
    """Marks its partition."""
    mark(context.partition_key)


@asset(retry_policy=RetryPolicy(max_retries=2))
def flaky(context: AssetExecutionContext) -> None:
    """Succeeds at the third attempt."""
    mark("flaky")
    if context.retry_number < 2:
        raise OSError("try again")


@asset(op_tags={"dagster/priority": "1"})
def waiting(context: AssetExecutionContext) -> None:
    """Waits until the run is stopped, as an asset does whose scripts run elsewhere."""
    cancel = cancel_event(context.run.run_id)
    mark("waiting")
    if cancel.wait(PATIENCE):
        mark("canceled")
        raise DagsterExecutionInterruptedError("stopped")


@asset(deps=[waiting])
def after_waiting() -> None:
    """Must not run when the run is stopped."""
    mark("after_waiting")


@asset
def queued() -> None:
    """Depends on nothing; waits for a free thread when only one asset may run."""
    mark("queued")


@asset
def deaf() -> None:
    """Does not look at the cancel event; ends when somebody makes the mark `release`."""
    mark("deaf")
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and not (Path(os.environ["EXECUTOR_TEST_MARKS"]) / "release").exists():
        time.sleep(0.05)


@resource
def connection(_: InitResourceContext) -> Iterator[str]:
    """Made once, given back once."""
    mark("connected")
    yield "open"
    mark("disconnected")


def _connected(name: str, priority: int) -> AssetsDefinition:
    @asset(name=name, required_resource_keys={"connection"}, op_tags={"dagster/priority": str(priority)})
    def connected(context: AssetExecutionContext) -> None:
        mark(f"{name}-{context.resources.connection}")

    return connected


def _in_pool(name: str) -> AssetsDefinition:
    @asset(name=name, pool="gpu")
    def pooled() -> None:
        alone = _pooled.acquire(blocking=False)
        time.sleep(0.3)  # long enough for the other one to start if nothing held it back
        if alone:
            _pooled.release()
        mark(f"{name}-{'alone' if alone else 'together'}")

    return pooled


@asset
def noisy(context: AssetExecutionContext) -> None:
    """Observes itself from a thread of its own; marks whether the event is stored while it still runs."""

    def observe() -> None:
        context.log_event(AssetObservation("noisy", metadata={"step": 1}))

    thread = threading.Thread(target=observe)
    thread.start()
    thread.join()
    stored = context.instance.all_logs(context.run.run_id, of_type=DagsterEventType.ASSET_OBSERVATION)
    mark(f"observations-{len(stored)}")


@success_hook
def hooked(context: HookContext) -> None:
    """Runs after each step that succeeds."""
    mark(f"hook-{context.op.name}")


def _link(number: int) -> AssetsDefinition:
    deps = [AssetKey(f"link_{number - 1}")] if number else []

    @asset(name=f"link_{number}", deps=deps)
    def link() -> None:
        mark(f"link_{number}")

    return link


CHAIN = [_link(number) for number in range(32)]

ASSETS = [
    *(left, right, broken, after_broken, sibling, after_sibling, checked, after_checked, partitioned, flaky),
    *(waiting, after_waiting, queued, deaf, noisy, _connected("first", 2), _connected("second", 1)),
    *(_in_pool("pool_a"), _in_pool("pool_b"), *CHAIN),
]

defs = Definitions(
    assets=ASSETS,
    resources={"connection": connection},
    executor=threaded_executor,
    jobs=[
        define_asset_job("everything"),
        define_asset_job("hooked_job", selection=["queued"], hooks={hooked}),
    ],
)


def everything() -> JobDefinition:
    """All assets as one job, to select from."""
    return defs.resolve_job_def("everything")


def with_hook() -> JobDefinition:
    """`queued` with a hook."""
    return defs.resolve_job_def("hooked_job")
