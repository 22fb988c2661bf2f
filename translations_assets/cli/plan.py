"""`translations graph` and `plan`: the steps of a training config, and which of them run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from translations_assets.cli import common, exits, output
from translations_assets.cli.common import Json, Partition, Set, Steps, Target
from translations_assets.common.errors import StoreUnreachable, TranslationsError
from translations_assets.config.errors import ConfigError, Problem
from translations_assets.config.stage_names import resolve_stage
from translations_assets.configs.sweeps import is_sweep
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Step
from translations_assets.project import this_project
from translations_assets.records.run import RunOptions
from translations_assets.running.job import command
from translations_assets.running.plan import Plan
from translations_assets.running.resolve import StepState
from translations_assets.running.runner import begun_by_runs
from translations_assets.running.saves import newest_save
from translations_assets.running.session import Session

if TYPE_CHECKING:
    from translations_assets.why.plan_forecast import PlanForecast
    from translations_assets.why.training_work import Epochs

STUDENT = "train_student"


Show = Literal["tasks", "full", "target", "target-graph", "optimized"]  # in taskgraph's words


def graph(
    partition: Partition,
    target: Target = None,
    show: Annotated[
        Show,
        typer.Option(
            help="tasks: all steps; full: all, with their edges; target: the target stage's; target-graph: "
            "those and everything they need; optimized: those of them that are not cached."
        ),
    ] = "tasks",
    overrides: Set = None,
    json: Json = False,
) -> None:
    """Print the graph of steps, as taskgraph shows it."""
    keys = _shown(common.reading_session(partition, overrides), show, target)
    if json:
        output.print_json({step.label: _step_as_json(step, key) for step, key in keys.items()})
        return
    for step in keys:
        edges = "" if show == "tasks" else "".join(f"\n    <- {up.label}" for up in step.upstream())
        typer.echo(step.label + edges)


def _shown(session: Session, show: Show, target: str | None) -> dict[Step, str | None]:
    """The steps to show, each with its key where the plan is asked for it."""
    graph = session.graph
    name = target or graph.target
    named = [stage for stage in graph.up_to(target) if not name or stage in resolve_stage(name)]
    targets = common.steps_of(graph, named)
    if show in ("tasks", "full"):
        return dict.fromkeys(graph.steps)
    if show == "target":
        return dict.fromkeys(targets)
    closure = graph.step_closure(targets)
    if show == "target-graph":
        return dict.fromkeys(closure)
    common.note_new_store()
    planned = {step.step: step for step in common.plan_of(session, target).steps}
    return {step: planned[step].key for step in closure if planned[step].status != "cached"}


def _step_as_json(step: Step, key: str | None) -> dict[str, Any]:
    return {
        "label": step.label,
        "key": key,
        "attributes": {
            "stage": step.stage,
            "worker": step.worker,
            "resumable": step.resumable,
            "repeatable": step.repeatable,
        },
        "dependencies": {f"{name}/{path}": output.step.label for name, path, output in step.input_outputs()},
        "task": {
            "script": step.script,
            "args": dict(step.args),
            "worker": step.worker,
            "command": ["python", "-m", step.script, *command(step)],
            "outputs": list(step.outputs),
        },
    }


@common.asks
def plan(
    partition: Annotated[str | None, common.PARTITION] = None,
    target: Target = None,
    *,
    options: RunOptions,
    steps: Steps = False,
    every: common.Every = False,
    json: Json = False,
) -> None:
    """Print which steps will run and why, or run only if their input changes (maybe).

    Cached steps are counted, and listed with --all. The last lines give the cost of the rest by past
    durations: hours of GPU (times the number of GPUs), and of processor time for steps without a GPU; then by
    worker class, with money and energy when the deployment file has prices. Without a name, each training
    config gets one line for all classes, and a last line gives the total.
    """
    project = this_project()
    if partition is None or is_sweep(partition):
        if steps:
            raise typer.BadParameter("--steps is for one training config: name it.")
        names, problems = _all_configs() if partition is None else (_variants(partition), [])
        if partition and target is None:
            target = project.configs.sweep(partition).sweep.file.target
        _plan_several(names, problems, target, options, every, json)
        return
    session = common.plannable(project.configs.read(partition, options.overrides), target, options)
    planned = common.settled_plan(session, target)
    forecast = common.forecast_of(session, planned)
    told = remarks(session, planned)
    if json or steps:
        planned = project.explainer(session.config, project.history(session.partition)).explain_plan(planned)
    if json:
        found = [{**planned_as_json(step), **remark_as_json(told.get(step.step))} for step in planned.steps]
        said = {
            "summary": forecast.summary(),
            "warnings": [*forecast.warnings()],
            "costs": forecast.as_json(),
        }
        output.print_json({"steps": found, **said})
        return
    print_target(session.graph, target)
    if steps:
        _print_steps(planned, told, every)
    else:
        print_stages(planned, told, every)
    print_forecast(forecast)


def _print_steps(plan: Plan, told: Mapping[Step, Remark], every: bool) -> None:
    for step in plan.steps:
        if every or step.status != "cached":
            reasons = f"  ({'; '.join(step.reasons)})" if step.reasons else ""
            output.print_line(f"{output.shown(step.status, 7)}{step.step.label}{reasons}")
        print_remark(told.get(step.step))


class Plans(NamedTuple):
    """The plans of several training configs by name, and what is wrong with others."""

    forecasts: dict[str, PlanForecast]
    errors: list[str]

    @property
    def to_run(self) -> list[str]:
        """Names of the configs with a step that may run."""
        return [
            name for name, one in self.forecasts.items() if one.plan.count("cached") < len(one.plan.steps)
        ]

    @property
    def total(self) -> str:
        """The cost of all of them, in a line; a step that several of them share counts once."""
        from translations_assets.why.plan_forecast import shared_steps, together

        plans = [*self.forecasts.values()]
        shared = shared_steps(plans)
        told = [
            together(plans).summary(),
            *([f"{output.number_of(shared, 'step')} shared"] if shared else []),
        ]
        return "; ".join(told)


def plan_many(names: Sequence[str], target: str | None, options: RunOptions) -> Plans:
    """Plan several training configs; slow plans show their progress on standard error."""
    project, found = this_project(), Plans({}, [])
    progress = output.ProgressPrinter("planned", "training configs")
    for number, name in enumerate(names):
        progress(number, len(names))
        try:
            read = project.configs.read(name, options.overrides)
            session = project.new_session(common.READING, read, options, read.graph.up_to(target))
            found.forecasts[name] = common.forecast_of(session, common.settled_plan(session, target))
        except StoreUnreachable:
            raise
        except (ConfigError, TranslationsError) as problem:
            found.errors.append(str(problem))
    return found


def print_plans(plans: Plans, every: bool = False) -> None:
    """Print a line for each plan that is not cached as a whole, and one for all of them together."""
    shown = [*plans.forecasts] if every else plans.to_run
    width = max(map(len, shown), default=0)
    for name in shown:
        typer.echo(f"{name:{width}}  {plans.forecasts[name].summary()}")
    if len(plans.to_run) > 1:
        typer.echo(f"{len(plans.to_run)} training configs together: {plans.total}")
    if cached := len(plans.forecasts) - len(shown):
        typer.echo(f"{cached} with everything cached; to list them: --all")


def _all_configs() -> tuple[list[str], list[Problem]]:
    """All training configs, and what is wrong with others."""
    found = this_project().configs.partitions()
    if found.away:
        raise StoreUnreachable(found.away)
    return [*found.states], found.problems


def _variants(sweep: str) -> list[str]:
    return [*this_project().configs.sweep(sweep).partitions]


def _plan_several(
    names: Sequence[str],
    problems: Sequence[Problem],
    target: str | None,
    options: RunOptions,
    every: bool,
    json: bool,
) -> None:
    """Plan several training configs. Exit code 1 when there are some that cannot be planned."""
    common.note_new_store()
    plans = plan_many(names, target, options)
    errors = [*map(str, problems), *plans.errors]
    if json:
        summaries = {name: forecast.summary() for name, forecast in plans.forecasts.items()}
        output.print_json({"partitions": summaries, "total": plans.total, "errors": errors})
    else:
        print_plans(plans, every)
    for error in errors:
        typer.echo(f"error: {error}", err=True)
    if errors:
        raise typer.Exit(exits.FAILED)


def print_target(graph: Graph, target: str | None) -> None:
    """Print where a run stops, and, where that is before the student, what would make one."""
    name = target or graph.target or "all"
    if STUDENT in graph.up_to(target):
        typer.echo(f"up to {name}")
        return
    make = "--target all makes one, or target-stage: all in the training config"
    typer.echo(f"up to {name}, without a student; {make}")


def print_forecast(forecast: PlanForecast) -> None:
    """Print what will not fit its time, by what trainings are estimated, and what a plan costs."""
    for line in forecast.warnings():
        output.print_note(line)
    for line in forecast.estimates():
        typer.echo(line)
    for line in forecast.lines():
        typer.echo(line)
    typer.echo(forecast.summary())


def print_stages(plan: Plan, told: Mapping[Step, Remark], every: bool = False) -> None:
    """Print a line for each stage that is not cached as a whole, how many of its steps have which status, and
    the remarks on them.
    """
    stages = plan.by_stage()
    width = max(map(len, stages), default=0)
    for stage, planned in stages.items():
        states = [step.status for step in planned]
        if every or set(states) != {"cached"}:
            output.print_line(f"{stage:{width}} {output.counts(states)}")
        for step in planned:
            print_remark(told.get(step.step))


def planned_as_json(planned: StepState) -> dict[str, Any]:
    """A step as `plan --json` and `explain --json` print it."""
    return {
        "label": planned.step.label,
        "stage": planned.step.stage,
        "status": planned.status,
        "key": planned.key,
        "reasons": list(planned.reasons),
    }


class Remark(NamedTuple):
    """Facts about a step that is to run; see `begun_by_runs`, `newest_save` and `Epochs`."""

    label: str
    made_by: str
    goes_on_from: str
    epochs: Epochs | None


def remarks(session: Session, plan: Plan) -> dict[Step, Remark]:
    """Collect the remarks on the steps that will or may run."""
    if not plan.may_run:
        return {}
    from translations_assets.why.estimates import TRAINING
    from translations_assets.why.training_work import epochs

    store, results, told = session.store, plan.results(), {}
    begun = begun_by_runs(store) if plan.count("run") else {}
    for planned in plan.steps:
        step, saved, run = planned.step, "", ""
        if not planned.may_run:
            continue
        if planned.key:
            made = planned.key, planned.manifest.generation + 1 if planned.manifest else 1
            run = begun[made] if made in begun and store.owners.is_owned(*made) else ""
            saved = newest_save(store, *made) if step.resumable and not run else ""
        found = epochs(step, session.keys, session.store, results) if step.script == TRAINING else None
        if run or saved or found:
            told[step] = Remark(step.label, run, saved, found)
    return told


def print_remark(remark: Remark | None) -> None:
    """Print what is to be said of a step, if there is anything."""
    if remark and remark.made_by:
        typer.echo(f"    {remark.label}: {remark.made_by} is already making it; this run will wait for it")
    if remark and remark.goes_on_from:
        typer.echo(f"    {remark.label} continues from {remark.goes_on_from}")
    if remark and remark.epochs:
        typer.echo(f"    {remark.label}: {remark.epochs}")


def remark_as_json(remark: Remark | None) -> dict[str, Any]:
    """The fields of a planned step that say the same."""
    return {
        "made_by": remark.made_by or None if remark else None,
        "goes_on_from": remark.goes_on_from or None if remark else None,
        "epochs": dict(remark.epochs.by_text) if remark and remark.epochs else None,
    }
