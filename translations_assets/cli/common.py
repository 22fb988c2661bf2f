"""Helpers that commands share: arguments, sessions, and the steps and results that a person names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import wraps
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar
from uuid import uuid4

import typer

from translations_assets.cli import completion
from translations_assets.cli.output import print_note, tell
from translations_assets.common.errors import GraphError, TranslationsError
from translations_assets.config.errors import ConfigError
from translations_assets.config.stage_names import resolve_stage
from translations_assets.config.yaml_reader import read_yaml
from translations_assets.configs.training_configs import ReadConfig
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Step
from translations_assets.project import this_project
from translations_assets.records.manifest import Blob
from translations_assets.records.run import OPTIONS, Option, RunOptions
from translations_assets.running.events import StepEvent, Waiting
from translations_assets.running.plan import Plan
from translations_assets.running.protocols import Store
from translations_assets.running.session import Result, Session
from translations_assets.runs.known import KnownRuns, whole_id
from translations_assets.runs.run import Run
from translations_assets.store.contents import clone

if TYPE_CHECKING:
    from translations_assets.why.plan_forecast import PlanForecast

P = ParamSpec("P")
T = TypeVar("T")
_COMPLETED = {"--start": completion.stages, "--previous-run": completion.runs}


def _option(option: Option) -> Any:
    offered = _COMPLETED.get(option.flag)
    return typer.Option(option.flag, metavar=option.metavar, help=option.help, autocompletion=offered)


PARTITION = typer.Argument(
    metavar="PARTITION",
    help="A training config's name, or the path of a YAML file.",
    autocompletion=completion.partitions,
)
Partition = Annotated[str, PARTITION]
LABEL = typer.Argument(
    metavar="LABEL",
    help="A step's label, as `translations graph` prints it.",
    autocompletion=completion.labels,
)
Label = Annotated[str, LABEL]


PARTITION_OR_RUN = typer.Argument(
    metavar="PARTITION|RUN",
    help="A training config's name, or the path of a YAML file. Or a run's id, or the beginning of one.",
    autocompletion=completion.partitions_or_runs,
)


Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Steps = Annotated[bool, typer.Option("--steps", help="Print every step, not only each stage.")]
Every = Annotated[bool, typer.Option("--all", help="Also list cached steps.")]
Target = Annotated[
    str | None,
    typer.Option(
        metavar="STAGE",
        help="The last stage to make. Defaults to the config's target-stage, else to all stages.",
        autocompletion=completion.stages,
    ),
]
Set = Annotated[list[str] | None, _option(OPTIONS["overrides"])]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before starting.")]
MOST_NOTES = 3
RAN = ("started", "retry", "done", "failed")  # kinds of events of steps that are not cached
READING = "reading"  # the run id of sessions that run no step


def known_runs() -> KnownRuns:
    """The runs of the project's store and of Dagster's instance."""
    return KnownRuns(this_project().store)


def run_named(name: str) -> Run | None:
    """The run that a name is the id of, or begins; None for the name of a partition."""
    known = known_runs()
    return known.find(name) if known.is_run(name) else None


def check_asks_nothing(json: bool, yes: bool) -> None:
    """Raise BadParameter when a question would be printed before JSON."""
    if json and not yes:
        raise typer.BadParameter("--json asks nothing: give --yes with it.")


def asks(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a run in place of its parameter `options`, which receives all of them."""

    @wraps(command)
    def asked(**given: Any) -> None:
        values = {name: given.pop(name) for name in OPTIONS}
        values["overrides"] = overrides_of(values["overrides"])
        if values["budget"] is not None and not 0 < values["budget"] < inf:
            raise typer.BadParameter("--budget must be more than 0, and finite.")
        command(**given, options=RunOptions(**{name: value for name, value in values.items() if value}))

    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        parameters += map(_parameter, OPTIONS) if parameter.name == "options" else [parameter]
    asked.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    asked.__annotations__ = {}  # those of the signature count
    return asked


def reads(command: Callable[P, T]) -> Callable[P, T]:
    """Make a command that reads the store refuse a missing one, instead of making an empty one.

    Raises TranslationsError when a store was named and does not exist.
    """

    @wraps(command)
    def reading(*given: P.args, **named: P.kwargs) -> T:
        if missing := this_project().missing_store():
            raise TranslationsError(
                f"{missing}. Is TRANSLATIONS_STORE spelled right, is its disk mounted? "
                "To make a new one: translations train PARTITION"
            )
        return command(*given, **named)

    return reading


def note_new_store() -> None:
    """Print a note when the store that was named is not there, which a run would make."""
    if missing := this_project().missing_store():
        print_note(
            f"{missing} yet: nothing is cached, and the first run makes it. Is its name spelled right?"
        )


def _parameter(name: str) -> inspect.Parameter:
    option = OPTIONS[name]
    kinds: Any = {str: str | None, bool: bool, float: float | None, dict: list[str] | None}
    kind = kinds[type(option.default)]
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=False if kind is bool else None,
        annotation=Annotated[kind, _option(option)],
    )


def overrides_of(settings: Sequence[str] | None) -> dict[str, Any]:
    """The overrides that `--set KEY=VALUE` give; values are YAML. ConfigError for what has no such form."""
    if not settings:
        return {}
    from translations_assets.config.load import OVERRIDES

    overrides = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not key or not equals:
            raise ConfigError.of(f"{setting!r} is not of the form KEY=VALUE", OVERRIDES)
        overrides[key] = read_yaml(f"value: {text}", f"--set {key}").value["value"]
    return overrides


def reading_session(partition: str, overrides: Sequence[str] | None = None) -> Session:
    """A session that finds the results that are there: by key, else by ref. It runs no step."""
    return this_project().session(READING, partition, RunOptions(overrides=overrides_of(overrides)))


def plannable(read: ReadConfig, target: str | None, options: RunOptions, run: str | None = None) -> Session:
    """The session of a run that may begin, of some id or a new one.

    Notes on its config and its results go to standard error.

    Raises TranslationsError for a start that is not among the target's stages: the run would repeat nothing.
    """
    stages = read.graph.up_to(target)
    if options.start and not set(resolve_stage(options.start)) & set(stages):
        end = target or read.graph.target
        raise TranslationsError(
            f"--start {options.start} is after --target {end}: nothing would be repeated. "
            f"Give a target that needs it, or leave one of them out."
        )
    if options.previous_run and options.start:
        runs = this_project().store.runs()
        run = whole_id(options.previous_run, runs, "The store has no run", "translations status")
        options = replace(options, previous_run=run)
    session = this_project().session(run or str(uuid4()), read, options, stages)
    note_new_store()
    print_notes(read)
    print_warnings(session)
    return session


def plan_of(session: Session, target: str | None) -> Plan:
    """The plan of a target's stages, with the options of the session's run."""
    return session.plan(steps_of(session.graph, session.graph.up_to(target)))


def settled_plan(session: Session, target: str | None) -> Plan:
    """The plan with what is certain of trainings behind steps that will run."""
    plan = plan_of(session, target)
    if not plan.count("maybe"):
        return plan
    from translations_assets.why.explain import settled

    project = this_project()
    return settled(plan, project.keys, project.history(session.partition))


def forecast_of(session: Session, plan: Plan) -> PlanForecast:
    """Forecast the cost of the steps that will or may run; the run's record stores it, too."""
    if not plan.may_run:
        from translations_assets.why.plan_forecast import PlanForecast

        return PlanForecast(plan)
    found = this_project().forecast(session, plan)
    session.expected = found.expected
    return found


def steps_of(graph: Graph, stages: Iterable[str]) -> list[Step]:
    """The steps of some stages, in the order of the stages."""
    return [step for stage in stages for step in graph.stages[stage]]


def tell_event(event: StepEvent) -> None:
    """Print that a step runs, or for what it waits."""
    if isinstance(event.what, Waiting):
        tell(f"{event.step.label}: {event.what.message}")
    elif event.what.kind in RAN:
        tell(f"{event.step.label}: {event.what.kind}")


def find_step(graph: Graph, partition: str, label: str) -> Step:
    """The step with a label; GraphError that says how to list the labels when there is none."""
    try:
        return graph.step(label)
    except GraphError as error:
        raise GraphError(f"{error} To list the labels: translations graph {partition}") from None


def results_of(session: Session, steps: Sequence[Step]) -> list[Result]:
    """The steps' results, in their order; a note on standard error for each that is out of date.

    Raises UpstreamMissing when a step has none.
    """
    session.results.need(steps)
    print_warnings(session)
    return [session.results.result_of(step) for step in steps]


def copy_blob(store: Store, blob: Blob, target: Path) -> None:
    """Copy contents to a writable file; what the store itself places may be a link to its own file."""
    placed = target.with_name(f".{target.name}.placed")
    store.place_blob(blob, placed)
    clone(placed, target, link=False)
    placed.unlink()
    target.chmod(0o644)


def print_notes(read: ReadConfig) -> None:
    """Print what people should know of a config: a few notes, or how to see the many.

    What is said of the whole file, such as which name it gets, is always printed.
    """
    notes = read.notes
    are_many = len(notes) > MOST_NOTES
    for note in notes:
        if note.line is None or not are_many:
            print_note(note)
    if are_many:
        print_note(
            f"{len(notes)} notes on {notes[0].file}: old spellings, keys without effect. "
            f"To see them: translations config check {read.given}"
        )


def print_warnings(session: Session) -> None:
    """Print what people should know of the results that a session has found."""
    for warning in dict.fromkeys(session.results.warnings):
        print_note(warning)
