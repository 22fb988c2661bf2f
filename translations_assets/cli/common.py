"""What the verbs share: arguments, and finding the steps and results that a person names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from itertools import starmap
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from translations_assets.config.errors import ConfigError
from translations_assets.errors import GraphError
from translations_assets.project import Project, ReadConfig
from translations_assets.records.run import OPTIONS, Option, RunOptions

if TYPE_CHECKING:
    from pathlib import Path

    from rich.table import Table

    from translations_assets.graph.graph import Graph
    from translations_assets.graph.step import Step
    from translations_assets.records.manifest import Blob
    from translations_assets.running.plan import Plan
    from translations_assets.running.protocols import Store
    from translations_assets.running.session import Result, Session

Partition = Annotated[str, typer.Argument(help="A training config's name, or the path of a YAML file.")]
PARTITION_OR_RUN = (
    "A training config's name, or the path of a YAML file. Or the id of a run, or how it begins."
)
Label = Annotated[str, typer.Argument(help="A step's label, as `translations graph` prints it.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Target = Annotated[
    str | None,
    typer.Option(help="The last stage to make; the config's target-stage, else everything, by default."),
]


def _asked_by(option: Option) -> Any:
    return typer.Option(option.flag, metavar=option.metavar, help=option.help)


Set = Annotated[list[str] | None, _asked_by(OPTIONS["overrides"])]
WIDE = 10_000
MOST_NOTES = 3
READING = "reading"  # the run id of sessions that run no step


def plannable(project: Project, read: ReadConfig, target: str | None, options: RunOptions) -> Session:
    """The session of a run that may begin; notes on its config and its results go to standard error."""
    session = project.session(str(uuid4()), read, options, read.graph.up_to(target))
    print_notes(read)
    for warning in session.warnings:
        typer.echo(f"note: {warning}", err=True)
    return session


def plan_of(project: Project, session: Session, target: str | None) -> Plan:
    """The plan of a target's stages, with what the session's run was asked."""
    stages = session.graph.up_to(target)
    return project.plan(session, [step for stage in stages for step in session.graph.stages[stage]])


def asks(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a run, in place of its parameter `options`, which gets them together."""

    @wraps(command)
    def asked(**given: Any) -> None:
        values = {name: given.pop(name) for name in OPTIONS}
        values = {name: _value(value) for name, value in values.items() if value}
        command(**given, options=RunOptions(**values))

    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        parameters += starmap(_parameter, OPTIONS.items()) if parameter.name == "options" else [parameter]
    asked.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    asked.__annotations__ = {}  # those of the signature count
    return asked


def _parameter(name: str, option: Option) -> inspect.Parameter:
    kind: Any = {str: str | None, bool: bool, dict: list[str] | None}[type(option.default)]
    default = option.default if kind is bool else None
    annotation = Annotated[kind, _asked_by(option)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _value(given: Any) -> Any:
    return overrides_of(given) if isinstance(given, list) else given


def overrides_of(settings: Sequence[str]) -> dict[str, Any]:
    """The overrides that `--set KEY=VALUE` give; values are YAML. ConfigError for what has no such form."""
    from translations_assets.config.load import OVERRIDES
    from translations_assets.config.yaml_reader import read_yaml

    overrides = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not key or not equals:
            raise ConfigError.of(f"{setting!r} is not of the form KEY=VALUE", OVERRIDES)
        document = read_yaml(f"value: {text}", f"--set {key}")
        overrides[key] = document.value["value"]
    return overrides


def print_notes(read: ReadConfig) -> None:
    """Tell on standard error what people should know of a config: a few notes, or how to see the many.

    What is said of the whole file, such as which name it gets, is always told.
    """
    notes = read.notes
    if len(notes) > MOST_NOTES:
        for note in notes:
            if note.line is None:
                typer.echo(f"note: {note}", err=True)
        typer.echo(
            f"note: {len(notes)} notes on {notes[0].file}: old spellings, keys without effect. "
            f"To see them: translations config check {read.given}",
            err=True,
        )
        return
    for note in notes:
        typer.echo(f"note: {note}", err=True)


def find_step(graph: Graph, partition: str, label: str) -> Step:
    """The step with a label; GraphError that says how to list the labels when there is none."""
    try:
        return graph.step(label)
    except GraphError as error:
        raise GraphError(f"{error} To list the labels: translations graph {partition}") from None


def reading_session(project: Project, partition: str, overrides: Sequence[str] | None = None) -> Session:
    """A session that finds the results that are there: by key, else by ref. It runs no step."""
    return project.session(READING, partition, RunOptions(overrides=overrides_of(overrides or ())))


def results_of(session: Session, steps: Sequence[Step]) -> list[Result]:
    """The steps' results, in their order; a note on standard error for each that is out of date.

    Raises UpstreamMissing when a step has none.
    """
    session.need(steps)
    for warning in session.warnings:
        typer.echo(f"note: {warning}", err=True)
    session.warnings.clear()
    return [session.result_of(step) for step in steps]


def copy_blob(store: Store, blob: Blob, target: Path) -> None:
    """Copy contents to a writable file; what the store itself places may be a link to its own file."""
    from translations_assets.store.contents import clone

    placed = target.with_name(f".{target.name}.placed")
    store.place_blob(blob, placed)
    clone(placed, target, link=False)
    placed.unlink()
    target.chmod(0o644)


def print_json(value: Any) -> None:
    """Print a value as indented JSON."""
    import json

    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_table(table: Table) -> None:
    """Print a table: as wide as the terminal, or, in a pipe or a file, as wide as its longest lines."""
    import sys

    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else WIDE).print(table)
