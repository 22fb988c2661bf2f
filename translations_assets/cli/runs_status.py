"""`translations status` and `logs`: the newest runs; the steps of a run or of a partition, and their logs."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from translations_assets.cli import common
from translations_assets.cli.common import Json, Label, Set, counts, plan_of, print_json
from translations_assets.cli.run_steps import Row, make_row, newest_save, rows_of_run
from translations_assets.cli.runs import Run, find_run, is_run, newest_runs
from translations_assets.errors import TranslationsError
from translations_assets.graph.stage import stage_order
from translations_assets.project import this_project
from translations_assets.stages import ASSETS, STAGES
from translations_assets.why.history import duration

if TYPE_CHECKING:
    from translations_assets.graph.step import Step
    from translations_assets.records.manifest import Manifest
    from translations_assets.running.plan import PlannedStep
    from translations_assets.running.protocols import Store

NEWEST = 15
POLL_SECONDS = 0.5
RETRY_SECONDS = 10.0  # the engine pauses some seconds before it tries again


@common.reads
def status(
    name: Annotated[
        str | None, typer.Argument(metavar="[PARTITION|RUN]", help=common.PARTITION_OR_RUN)
    ] = None,
    steps: common.Steps = False,
    overrides: Set = None,
    json: Json = False,
) -> None:
    """Print the newest runs; of a run or a partition, each step's state, attempts, time, CPU and memory."""
    if name is None:
        _print_newest(json)
    elif is_run(name):
        _print_run(find_run(name), steps, json)
    else:
        _print_partition(name, steps, overrides, json)


@common.reads
def logs(
    name: Annotated[str, typer.Argument(metavar="PARTITION|RUN", help=common.PARTITION_OR_RUN)],
    label: Label,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on until the step ends, through all its attempts.")
    ] = False,
    overrides: Set = None,
) -> None:
    """Print the log of a step's newest attempt."""
    store = this_project().store
    key, generations = _find_step(name, label, overrides)
    generation, attempt = _newest_attempt(store, label, key, generations, follow)
    part = 0
    while True:
        running = follow and store.owners.is_owned(key, generation)
        for data in store.read_log(key, generation, attempt, part):
            sys.stdout.buffer.write(data)
            part += 1
        sys.stdout.flush()
        if not running:
            later = _next_attempt(store, key, generation, attempt) if follow else None
            if later is None:
                return
            attempt, part = later, 0
            typer.echo(f"attempt {attempt}:", err=True)
        time.sleep(POLL_SECONDS)


def _planned(store: Store, planned: PlannedStep) -> Row:
    """A step of a partition as it is now, whichever run made it."""
    step, key, manifest = planned.step, planned.key, planned.manifest
    if planned.status == "cached":
        return _row(step, "finished", manifest)
    if planned.status in ("maybe", "lost") or key is None:
        return _row(step, "lost" if planned.status == "lost" else "waiting", manifest, attempts=0)
    return _unfinished(store, step, key, manifest.generation + 1 if manifest else 1)


def _unfinished(store: Store, step: Step, key: str, generation: int) -> Row:
    """A step without a result."""
    attempts = len(store.attempts(key, generation))
    if store.owners.is_owned(key, generation):
        return _row(step, "running", attempts=attempts)
    saved = newest_save(store, key, generation)
    return _row(step, "failed" if attempts else "waiting", attempts=attempts, saved=saved)


def _row(step: Step, state: str, manifest: Manifest | None = None, **others: Any) -> Row:
    return make_row(step.label, step.stage, step.worker, state, manifest, **others)


def _print_newest(json: bool) -> None:
    runs = [(run, *_progress(run)) for run in newest_runs(NEWEST)]
    if json:
        values = [{**_as_json(run), "steps_done": done, "steps": total} for run, done, total in runs]
        print_json({"runs": values})
        return
    if not runs:
        typer.echo("No run yet. To start one: translations train PARTITION")
        return
    width = max(len(run.partition) for run, _, _ in runs)
    for run, done, total in runs:
        steps = f"{done}/{total}" if total else "-"
        took = duration(run.seconds) if run.seconds is not None else "-"
        started = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.started)) if run.started else "-"
        typer.echo(
            f"{run.short}  {run.partition:{width}}  {run.state:16}  {started:16}  {took:>9}  {steps:>9} steps"
            + "".join(f"  {part}" for part in _asked(run))
        )


def _asked(run: Run) -> Iterator[str]:
    """By what a run is told from others of its partition: whose it is, how far it goes, why, its options."""
    made = [stage for stage in stage_order(STAGES) if stage in ASSETS and stage in run.record.stages]
    if run.record.space:
        yield run.record.space
    if made and len(made) < len(ASSETS):
        yield f"up to {made[-1]}"
    if run.record.repeats:
        yield f"rerun of {run.record.repeats[:8]}"
    yield from run.record.options.words()


def _progress(run: Run) -> tuple[int, int]:
    """How many of a run's steps are done, and how many it has; 0 of 0 when it had not begun."""
    labels = run.record.labels.keys()
    return len(labels & run.record.uses.keys()), len(labels)


def _print_run(run: Run, steps: bool, json: bool) -> None:
    rows = rows_of_run(this_project().store, run)
    if json:
        print_json({**_as_json(run), "steps": rows})
        return
    _print_rows(rows, steps)
    asked = ", ".join(_asked(run))
    state = f"{run.state} ({asked})" if asked else run.state
    typer.echo(f"run {run.id} of {run.partition}: {state}, {_count(rows)}")
    if run.state in ("failed", "cancelled", "lost its process"):
        typer.echo(f"To repeat what is missing: translations rerun {run.short}")


def _as_json(run: Run) -> dict[str, Any]:
    return {
        "run": run.id,
        "partition": run.partition,
        "state": run.state,
        "space": run.record.space,
        "repeats": run.record.repeats or None,
        "started": run.started,
        "ended": run.ended,
        "seconds": run.seconds,
        "stages": list(run.record.stages),
        "options": run.record.options.to_dict(),
    }


def _print_partition(partition: str, steps: bool, overrides: list[str] | None, json: bool) -> None:
    session = common.reading_session(partition, overrides)
    plan = plan_of(session, "all")
    rows = [_planned(session.store, planned) for planned in plan.steps]
    if json:
        print_json({"steps": rows})
        return
    _print_rows(rows, steps)
    typer.echo(plan.summary())


def _print_rows(rows: list[Row], steps: bool) -> None:
    if not steps:
        _print_stages(rows)
        return
    for row in rows:
        attempts = f"  {row['attempts']} attempts" if row["attempts"] > 1 else ""
        typer.echo(
            f"{row['state']:11} {row['seconds']:>9.1f} s {row['cpu_seconds']:>9.1f} s CPU "
            f"{row['memory_mb']:>8.0f} MB  {_gpu(row):22}{row['worker']:9} {row['host'] or '-':12} "
            f"{row['label']}{attempts}"
        )
        _print_note(row)


def _gpu(row: Row) -> str:
    if not row["gpus"]:
        return ""
    return f"{row['gpus']} GPU {row['gpu_utilisation']:.0%} {row['gpu_memory_mb']:.0f} MB"


def _print_stages(rows: list[Row]) -> None:
    for stage in dict.fromkeys(row["stage"] for row in rows):
        mine = [row for row in rows if row["stage"] == stage]
        seconds = sum(row["seconds"] for row in mine)
        memory = max(row["memory_mb"] for row in mine)
        typer.echo(f"{stage:34}{_count(mine):28}{seconds:>9.1f} s {memory:>8.0f} MB")
        for row in mine:
            _print_note(row)


def _print_note(row: Row) -> None:
    """Print why a step failed, and from where it will go on."""
    if row["why"]:
        typer.echo(f"    {row['label']}: {row['why']}")
    if row["goes_on_from"]:
        typer.echo(f"    {row['label']} goes on from {row['goes_on_from']}")


def _count(rows: list[Row]) -> str:
    return counts([row["state"] for row in rows]) or "no steps"


def _find_step(name: str, label: str, overrides: list[str] | None) -> tuple[str, list[int]]:
    """The step's key, and the generations whose log is meant, the newest first.

    Of a run, that which it used, or had begun; of a partition, what is under way now, else what counts.
    """
    if is_run(name):
        run = find_run(name)
        key, generation = _of_run(run, label)
        return key, [generation]
    session = common.reading_session(name, overrides)
    step = common.find_step(session.graph, name, label)
    planned = next(found for found in plan_of(session, step.stage).steps if found.step is step)
    if planned.key is None:
        raise TranslationsError(f"{label} has not begun: {planned.reasons[0]}.")
    generation = planned.manifest.generation if planned.manifest else 0
    return planned.key, [generation + 1, generation]


def _of_run(run: Run, label: str) -> tuple[str, int]:
    """Key and generation of a step in a run."""
    made = {**run.record.begun, **run.record.uses}
    if label in made:
        return made[label]
    if label in run.record.labels:
        raise TranslationsError(f"{label} has not begun in run {run.short}.")
    raise TranslationsError(
        f"No step of run {run.short} is called {label!r}. To list them: "
        f"translations status {run.short} --steps"
    )


def _newest_attempt(
    store: Store, label: str, key: str, generations: list[int], follow: bool
) -> tuple[int, int]:
    """Generation and number of the newest attempt, of the first generation that has one."""
    while True:
        for number in generations:
            if attempts := store.attempts(key, number):
                return number, attempts[-1]
        if not follow:
            raise TranslationsError(
                f"{label} has no log yet. To wait for it, add -f; to run it: translations train."
            )
        time.sleep(POLL_SECONDS)


def _next_attempt(store: Store, key: str, generation: int, attempt: int) -> int | None:
    """The attempt after one that has ended, once it begins; None when the step is done, or nothing comes."""
    deadline = time.monotonic() + RETRY_SECONDS
    while store.generation(key, generation) is None and time.monotonic() < deadline:
        later = [number for number in store.attempts(key, generation) if number > attempt]
        if later:
            return later[0]
        time.sleep(POLL_SECONDS)
    return None
