"""`translations train`, `rerun` and `cancel`: start a run, here or on a server, repeat one, end one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple
from uuid import uuid4

import typer

from translations_assets.cli import common, completion, exits
from translations_assets.cli.common import Json, Target, Yes
from translations_assets.cli.output import (
    be_quiet,
    is_quiet,
    number_of,
    print_answer,
    print_json,
    print_note,
    tell,
)
from translations_assets.cli.plan import print_forecast, print_remark, print_stages, print_target, remarks
from translations_assets.cli.runs_end import (
    CANCEL_SECONDS,
    STORING_SECONDS,
    end_run,
    ended_as_json,
    gates_missed,
    next_steps,
)
from translations_assets.cli.runs_many import as_sweep, named, run_detached, train_several
from translations_assets.common.errors import TranslationsError
from translations_assets.common.settings import server_url, start_ui, user
from translations_assets.config.partitions import SUFFIXES
from translations_assets.configs.sweeps import is_sweep
from translations_assets.instance.home import open_instance
from translations_assets.project import this_project
from translations_assets.records.commands import TrainRequest
from translations_assets.records.run import RunOptions
from translations_assets.running.events import Listener
from translations_assets.running.plan import Plan
from translations_assets.running.session import Session
from translations_assets.runs.run import Run
from translations_assets.runs.steps import interrupted

if TYPE_CHECKING:
    from dagster import DagsterRun

    from translations_assets.running.budget import Budget
    from translations_assets.why.plan_forecast import PlanForecast


@common.asks
def train(
    partitions: Annotated[
        list[str],
        typer.Argument(
            metavar="PARTITION...",
            help="A training config's name, or the path of a YAML file. Or several, patterns, as 'en-*', or "
            "a sweep's name.",
            autocompletion=completion.partitions_or_sweeps,
        ),
    ],
    target: Target = None,
    *,
    options: RunOptions,
    yes: Yes = False,
    server: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Run on the Dagster server at this address instead of here."),
    ] = None,
    at_once: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", min=1, help="The number of runs at a time, with several training configs."
        ),
    ] = 1,
    detach: Annotated[
        bool,
        typer.Option(
            "--detach", help="Return once the run has started; it continues when the terminal is closed."
        ),
    ] = False,
    run: Annotated[str | None, typer.Option("--run-id", hidden=True)] = None,
    json: Json = False,
) -> None:
    """Train a model: run every step up to the target that has no result yet.

    Each of several training configs gets a run of its own, whose output goes to a file. If one fails, the
    others continue. The variants of a sweep are such configs: they share steps and --budget, and if one is
    cancelled, all are.
    """
    common.check_asks_nothing(json, yes)
    be_quiet(json or is_quiet())
    request = as_sweep(partitions, TrainRequest(target, options, server))
    names = named(partitions)
    if len(names) > 1:
        train_several(names, request, at_once, yes=yes, detach=detach, json=json)
    else:
        _train_one(names[0], request, run, yes=yes, detach=detach, json=json)


def _train_one(
    partition: str, request: TrainRequest, run: str | None, *, yes: bool, detach: bool, json: bool
) -> None:
    project, (target, options, url), server = this_project(), request, None
    if url is None:
        project.check_cluster()
    else:
        from translations_assets.instance.server import Server

        server = Server(url)
        server.check()  # before a person is asked anything
    read = project.configs.read(partition, options.overrides)
    session = common.plannable(read, target, options, run)
    plan = common.settled_plan(session, target)
    forecast = common.forecast_of(session, plan) if plan.may_run else None
    if not (yes and is_quiet()):
        print_target(session.graph, target)
        print_stages(plan, remarks(session, plan))
        if forecast:
            print_forecast(forecast)
        else:
            typer.echo(plan.summary())
    if session.budget and forecast:
        _compare_with_budget(session.budget, forecast)
    if _is_published(session, plan):
        tell("Everything is made already: nothing to run.", err=False)
        if json:
            print_json(ended_as_json(session.partition, "", "nothing to run"))
        return
    if not yes and not typer.confirm(_question(partition, session.partition), default=True):
        raise typer.Exit(exits.FAILED)
    project.configs.adopt(read)
    if server:
        from translations_assets.cli.runs_server import run_on_server

        run_on_server(server, session, plan, detach=detach, json=json)
    elif detach:
        run_detached(session, request, json=json)
    else:
        _run_here(session, plan, json=json)


def _compare_with_budget(budget: Budget, forecast: PlanForecast) -> None:
    """Print what the budget will not pay, or may not."""
    if forecast.at_most.money > budget.limit:
        print_note("the forecast is above the budget: the run will end before everything is made")
    if unknown := forecast.unknown:
        print_note(
            f"{number_of(unknown, 'step')} without a past duration: the budget cannot "
            "predict its cost. Such a step starts while any budget is left, with a message once it "
            "exceeds it; --hard-budget stops it then"
        )


@common.reads
def rerun(
    name: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="A run's id, or the beginning of one.", autocompletion=completion.runs
        ),
    ],
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Repeat what failed in a run: same partition, stages and options; finished steps are kept."""
    common.check_asks_nothing(json, yes)
    be_quiet(json or is_quiet())
    project = this_project()
    project.check_cluster()
    run = common.known_runs().find(name)
    _check_repeatable(run)
    read = project.configs.read(run.partition, run.record.options.overrides)
    graph = read.graph
    own = run.record.stages or graph.stages
    session = project.session(str(uuid4()), read, run.record.options, graph.with_checks(own))
    if run.record.config and run.record.config != read.config.digest:
        print_note(f"the training config {run.partition} has changed since run {run.short}")
    labels = {step.label for step in graph.steps if step.stage in own}
    made = len(labels & run.record.uses.keys())
    plan = session.plan(graph.step_closure(common.steps_of(graph, session.stages)))
    if not (yes and is_quiet()):
        told = f"{made} of {number_of(len(labels), 'step')} made"
        typer.echo(f"Run {run.short} of {run.partition} ({run.state}): {told}.")
        for remark in remarks(session, plan).values():
            print_remark(remark)
    if not yes and not typer.confirm("Start?", default=True):
        raise typer.Exit(exits.FAILED)
    _run_here(session, plan, parent=run.id, json=json)


@common.reads
def cancel(
    name: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="A run's id, the beginning of one, a partition with one running run, or a sweep's name.",
            autocompletion=completion.partitions_or_runs,
        ),
    ],
    server: Annotated[
        str | None, typer.Option(metavar="URL", help="Cancel a run of the Dagster server at this address.")
    ] = None,
    json: Json = False,
) -> None:
    """Cancel a run: its running steps end within ten seconds, finished ones are kept."""
    if server is not None:
        from translations_assets.cli.runs_server import cancel_on_server

        cancel_on_server(name, server, json)
        return
    if is_sweep(name):
        told = [_cancel(run) for run in _running_of_sweep(name)]
        print_answer(json, [one.as_json for one in told], *(line for one in told for line in one.lines))
        return
    cancelled = _cancel(_running(name))
    again = f"To go on: translations rerun {cancelled.run[:8]}"
    print_answer(json, cancelled.as_json, *cancelled.lines, again)


class _Cancelled(NamedTuple):
    """A run that was cancelled; `saved` tells of the steps that can go on where they were."""

    run: str
    partition: str
    state: str
    kept: int
    saved: Sequence[str]

    @property
    def as_json(self) -> dict[str, Any]:
        return {
            "run": self.run,
            "partition": self.partition,
            "state": self.state,
            "kept": self.kept,
            "interrupted": [*self.saved],
        }

    @property
    def lines(self) -> list[str]:
        are = "step is" if self.kept == 1 else "steps are"
        ended = f"Run {self.run[:8]} of {self.partition}: {self.state}. {self.kept} finished {are} kept."
        return [ended, *self.saved]


def _cancel(run: Run) -> _Cancelled:
    """Ask a run to end, and wait for that. Raises TranslationsError if it takes too long."""
    status = common.known_runs().end(run.id, CANCEL_SECONDS)
    ended = common.known_runs().get(run.id)
    if not ended.is_over:
        raise TranslationsError(
            f"{run.short} did not end within {CANCEL_SECONDS:.0f} s (it is {status}), although asked to. "
            f"To check again: translations status {run.short}"
        )
    saved = [*interrupted(this_project().store, ended.record, STORING_SECONDS)]
    return _Cancelled(run.id, run.partition, ended.state, len(ended.record.uses), saved)


def launch(session: Session, listener: Listener, parent: str | None = None) -> DagsterRun:
    """Materialize the assets of a session's stages, with their checks; return the ended run.

    The Dagster run gets the session's id, by which the assets find the session in this process's project.
    `parent` is the id of a run that this one repeats. Raises TranslationsError when the partition was added
    after the definitions were loaded.
    """
    from dagster import AssetKey

    from translations_assets.defs.runs import run_here
    from translations_assets.defs.shared import TRAINING_CONFIGS
    from translations_assets.instance.server import assets_of, job_name, run_tags

    partition = session.partition
    if partition not in TRAINING_CONFIGS.get_partition_keys():
        raise TranslationsError(f"{partition} is no partition; is its file in a folder of training configs?")
    config = {
        "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
        "resources": {"run": {"config": session.options.to_dict()}},
    }
    assets = assets_of(session.stages, session.config)
    tags = run_tags(partition, user())
    session.listeners.append(listener)
    with open_instance() as instance:
        return run_here(
            instance,
            job_name(assets),
            [AssetKey(asset) for asset in assets],
            run_id=session.run,
            config=config,
            tags=tags,
            parent=parent,
        )


def _run_here(session: Session, plan: Plan, parent: str | None = None, json: bool = False) -> None:
    """Run a session's stages in this process, and show the progress; `parent` is the run that it repeats.

    Raises RunCancelled, or TranslationsError for a failure.
    """
    from translations_assets.cli.console import console_of
    from translations_assets.instance.server import Server

    short, console = session.run[:8], console_of(session, plan)
    page = Server(server_url()).run_url(session.run)
    tell(f"Run {short}: {page} (to start the UI: {start_ui()})", err=False)
    with console.display():
        status = launch(session, console, parent).status.value
    failed = f"The run failed. To see its steps: translations status {short}"
    end_run(
        session,
        session.run,
        status,
        page,
        gates=gates_missed(session.run),
        then=f"To go on: translations rerun {short}",
        why=lambda: "\n".join([failed, *next_steps(common.known_runs().get(session.run))]),
        json=json,
    )


def _question(partition: str, key: str) -> str:
    """The question before the start; it offers a name where that of the file cannot be a partition."""
    renamed = partition.endswith(SUFFIXES) and Path(partition).stem != key
    return f"Start, as the partition {key}?" if renamed else "Start?"


def _is_published(session: Session, plan: Plan) -> bool:
    """True if everything is cached, and each stage's newest ref names these very results.

    Refs are what a run leaves for runs that do not make the stage. A config that was changed and changed back
    finds its results in the store, but the refs are those of the change.
    """
    if plan.count("cached") < len(plan.steps):
        return False
    steps = plan.by_stage()
    for stage in session.stages:
        results = {planned.step.label: planned.manifest for planned in steps.get(stage, [])}
        used = {label: (found.key, found.generation) for label, found in results.items() if found}
        newest = session.store.refs(session.space, session.ref_partition, stage)[:1]
        if not newest or newest[0].steps != used:
            return False
    return True


def _check_repeatable(run: Run) -> None:
    if not run.is_over:
        raise TranslationsError(f"{run.short} is {run.state}. To end it: translations cancel {run.short}")
    if not run.partition:
        raise TranslationsError(f"{run.short} is not the run of a training config.")
    if not run.dagster:
        raise TranslationsError(
            f"Dagster's instance here does not know the run {run.short}. To make what is missing: "
            f"translations train {run.partition}"
        )


def _running_of_sweep(name: str) -> Sequence[Run]:
    partitions = this_project().configs.sweep(name).partitions
    running = [run for partition in partitions for run in common.known_runs().running_of(partition)]
    if not running:
        raise TranslationsError(f"No run of the sweep {name} is running.")
    return running


def _running(name: str) -> Run:
    if run := common.run_named(name):
        if run.is_over or not run.dagster:
            raise TranslationsError(f"{run.short} does not run: {run.state}.")
        return run
    running = common.known_runs().running_of(this_project().configs.read(name).partition)
    if not running:
        raise TranslationsError(f"No run of {name} is running. To list the runs: translations status")
    if len(running) > 1:
        found = ", ".join(run.short for run in running)
        raise TranslationsError(f"Several runs of {name} are running: {found}. Name one of them.")
    return running[0]
