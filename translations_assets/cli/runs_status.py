"""`translations status` and `logs`: the newest runs; the steps of a run or of a partition, and their logs."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from translations_assets.cli import common
from translations_assets.cli.common import Json, Label, Set, counts, plan_of, print_json, steps_of
from translations_assets.cli.runs import Run, find_run, is_run, newest_runs
from translations_assets.config.errors import ConfigError
from translations_assets.errors import TranslationsError
from translations_assets.graph.stage import stage_order
from translations_assets.project import Project, ReadConfig, this_project
from translations_assets.records.manifest import Usage
from translations_assets.records.run import RunOptions
from translations_assets.running.resolve import LostResults, Resolved, Resolver
from translations_assets.running.session import repeated_stages
from translations_assets.stages import ASSETS, STAGES
from translations_assets.why.history import duration

if TYPE_CHECKING:
    from translations_assets.config.schema import TrainingConfig
    from translations_assets.graph.graph import Graph
    from translations_assets.graph.step import Step
    from translations_assets.records.manifest import Blob, Manifest
    from translations_assets.running.plan import PlannedStep
    from translations_assets.running.protocols import Store

Row = dict[str, Any]

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
    key, generation = _find_step(name, label, overrides)
    generation, attempt = _newest_attempt(store, label, key, generation, follow)
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


def config_of(run: Run) -> ReadConfig | None:
    """The config of the run's partition; None when it was removed, or makes no graph any more."""
    try:
        read = this_project().read(run.partition, run.record.options.overrides)
        return read if read.graph.steps else None  # making the graph is what may fail
    except (ConfigError, TranslationsError):
        return None


def note_changes(run: Run, config: TrainingConfig) -> None:
    """Print a note when the training config is another than that of the run."""
    if run.record.config and run.record.config != config.digest:
        common.print_note(f"the training config {run.partition} has changed since run {run.short}")


def rows_of_run(project: Project, graph: Graph, run: Run) -> list[Row]:
    """The steps of a run's stages. `graph` is that of the run's partition with the run's overrides."""
    steps = _Steps(project, graph, run)
    rows = {step: steps.row(step) for step in graph.steps}
    return [rows[step] for step in steps_of_run(graph, run)]


def steps_of_run(graph: Graph, run: Run) -> list[Step]:
    """The steps of a run's stages."""
    return steps_of(graph, [stage for stage in graph.stages if stage in (run.record.stages or graph.stages)])


class _Steps:
    """Finds each step's result in a run: as its record says, or by its key while the run goes on."""

    def __init__(self, project: Project, graph: Graph, run: Run) -> None:
        self._store, self._run = project.store, run
        self._repeat = repeated_stages(graph, run.record.options.start)
        lost = LostResults(project.store, run.record.options.ref_partitions(run.partition))
        self._resolver = Resolver(
            project.store, project.keys, lost, {}, self._repeats, run.record.options.repair
        )
        self._outputs: dict[Step, Mapping[str, Blob]] = {}

    def row(self, step: Step) -> Row:
        """The row of a step; those of the steps before it are made before."""
        found = self._found(step)
        if found.status == "run":
            return self._unfinished(step, found)
        if found.manifest:
            self._outputs[step] = found.manifest.outputs
        if found.status != "cached" or found.manifest is None:
            return _row(step, "lost" if found.status == "lost" else "waiting")
        return _row(step, "finished" if self._has_made(found.manifest) else "cached", found.manifest)

    def _found(self, step: Step) -> Resolved:
        used = self._run.record.uses.get(step.label)
        if used is None:
            return self._resolver.resolve(step, self._outputs.get)
        manifest = self._store.generation(*used)
        return Resolved("cached" if manifest else "lost", manifest=manifest)

    def _has_made(self, manifest: Manifest) -> bool:
        return manifest.provenance.run == self._run.id

    def _repeats(self, step: Step, manifest: Manifest | None) -> bool:
        """Whether a result that the run's record does not have is not the run's: all when it is over."""
        has_made = manifest is not None and self._has_made(manifest)
        return not has_made and (self._run.is_over or step.stage in self._repeat)

    def _unfinished(self, step: Step, found: Resolved) -> Row:
        assert found.key is not None
        states = {"cancelled": "cancelled", "lost its process": "interrupted"}
        end = states.get(self._run.state, "failed") if self._run.is_over else ""
        return _unfinished(self._store, step, found.key, found.generation, end)


def _planned(store: Store, planned: PlannedStep) -> Row:
    """A step of a partition as it is now, whichever run made it."""
    step, key, manifest = planned.step, planned.key, planned.manifest
    if planned.status == "cached":
        return _row(step, "finished", manifest)
    if planned.status in ("maybe", "lost") or key is None:
        return _row(step, "lost" if planned.status == "lost" else "waiting", manifest, 0)
    return _unfinished(store, step, key, manifest.generation + 1 if manifest else 1)


def _unfinished(store: Store, step: Step, key: str, generation: int, end: str = "") -> Row:
    """A step without a result; `end` is how its last attempt ended, if nothing can work on it any more."""
    attempts = len(store.attempts(key, generation))
    if not end and store.owners.is_owned(key, generation):
        return _row(step, "running", None, attempts)
    return _row(step, (end or "failed") if attempts else "waiting", None, attempts)


def _row(step: Step, state: str, manifest: Manifest | None = None, attempts: int | None = None) -> Row:
    usage = manifest.usage if manifest else Usage()
    return {
        "label": step.label,
        "stage": step.stage,
        "state": state,
        "attempts": attempts if attempts is not None else manifest.attempt if manifest else 0,
        "worker": step.worker,
        "host": manifest.host if manifest else None,
        "started": manifest.started if manifest else None,
        "seconds": usage.seconds,
        "cpu_seconds": usage.cpu_seconds,
        "memory_mb": usage.peak_memory / 1e6,
        "gpus": usage.gpus,
        "gpu_utilisation": usage.gpu_utilisation,
        "gpu_memory_mb": usage.gpu_memory / 1e6,
    }


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
    """By what a run is told from others of its partition: whose it is, how far it goes, its options."""
    made = [stage for stage in stage_order(STAGES) if stage in ASSETS and stage in run.record.stages]
    if run.record.space:
        yield run.record.space
    if made and len(made) < len(ASSETS):
        yield f"up to {made[-1]}"
    yield from run.record.options.words()


def _progress(run: Run) -> tuple[int, int]:
    """How many of a run's steps are done, and how many it has; 0 of 0 when its config cannot be read."""
    read = config_of(run)
    labels = {step.label for step in steps_of_run(read.graph, run)} if read else set()
    return len(labels.intersection(run.record.uses)), len(labels)


def _print_run(run: Run, steps: bool, json: bool) -> None:
    read = config_of(run)
    rows = rows_of_run(this_project(), read.graph, run) if read else []
    if json:
        print_json({**_as_json(run), "steps": rows})
        return
    if read:
        note_changes(run, read.config)
    _print_rows(rows, steps)
    options = " ".join(f"--{name.replace('_', '-')}" for name in run.record.options.to_dict())
    state = f"{run.state} ({options})" if options else run.state
    typer.echo(f"run {run.id} of {run.partition}: {state}, {_count(rows)}")
    if run.state in ("failed", "cancelled", "lost its process"):
        typer.echo(f"To repeat what is missing: translations rerun {run.short}")


def _as_json(run: Run) -> dict[str, Any]:
    return {
        "run": run.id,
        "partition": run.partition,
        "state": run.state,
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


def _count(rows: list[Row]) -> str:
    return counts([row["state"] for row in rows]) or "no steps"


def _find_step(name: str, label: str, overrides: list[str] | None) -> tuple[str, int]:
    """The step's key, and the generation of its result that counts; 0 when it has none."""
    project, partition, options = this_project(), name, RunOptions(overrides=common.overrides_of(overrides))
    if is_run(name):
        run = find_run(name)
        if used := run.record.uses.get(label):
            return used
        partition = run.partition
        options = RunOptions(overrides={**run.record.options.overrides, **options.overrides})
    session = project.session(common.READING, partition, options)
    step = common.find_step(session.graph, partition, label)
    planned = next(found for found in plan_of(session, step.stage).steps if found.step is step)
    if planned.key is None:
        raise TranslationsError(f"{label} has not begun: {planned.reasons[0]}.")
    return planned.key, planned.manifest.generation if planned.manifest else 0


def _newest_attempt(store: Store, label: str, key: str, generation: int, follow: bool) -> tuple[int, int]:
    """Generation and number of the newest attempt: that of a repetition, when one has begun."""
    while True:
        for number in (generation + 1, generation):
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
