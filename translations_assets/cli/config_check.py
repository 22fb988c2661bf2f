"""`translations config check`: what is wrong with training configs, before any work."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from translations_assets.cli.common import Json, print_json
from translations_assets.config.datasets import CATEGORIES, listed
from translations_assets.config.errors import ConfigError, Problem
from translations_assets.config.load import read_values
from translations_assets.project import Project
from translations_assets.settings import mirror

if TYPE_CHECKING:
    from translations_assets.config.online import Looked


def command(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Paths of YAML files, or names of training configs."),
    ],
    online: Annotated[
        bool, typer.Option("--online", help="Look up whether datasets and models exist, and their sizes.")
    ] = False,
    names: Annotated[
        bool, typer.Option("--names", help="Print the names of datasets, for thresholds and weights.")
    ] = False,
    json: Json = False,
) -> None:
    """Print all problems of training configs, each with file and line, and notes; exit 1 if there is any.

    Keys of earlier years are read as today's, with a note for each; `translations config migrate` rewrites
    them.
    """
    project = Project()
    checked = [_check(project, file, online) for file in files]
    if json:
        print_json([_as_json(file, *found) for file, found in zip(files, checked, strict=True)])
    else:
        for file, found in zip(files, checked, strict=True):
            _print(file, *found)
            if names:
                _print_names(project, file)
    if any(problems for problems, _, _ in checked):
        raise typer.Exit(1)


def _check(project: Project, file: str, online: bool) -> tuple[list[Problem], list[Problem], list[Looked]]:
    """The problems of a config, the notes on it, and what was looked up."""
    try:
        text, place = project.config_text(file)
        source = str(place)
        notes = project.notes(file)
    except ConfigError as error:
        return error.problems, [], []
    problems: list[Problem] = []
    try:
        project.parse(text, source)
    except ConfigError as error:
        problems = error.problems
    found: list[Looked] = []
    if online:
        from translations_assets.config.online import look_up

        document = read_values(text, source)
        found = look_up(document.value, mirror())
        for looked in found:
            if looked.answer.problem:
                document.add(looked.path, looked.answer.problem)
        problems = sorted([*problems, *document.problems], key=lambda problem: problem.line or 0)
    return problems, notes, found


def _print(file: str, problems: list[Problem], notes: list[Problem], found: list[Looked]) -> None:
    for note in notes:
        typer.echo(f"note: {note}")
    for looked in found:
        if not looked.answer.problem:
            typer.echo(f"{_size(looked.answer.size):>10}  {looked.name}")
    for problem in problems:
        typer.echo(f"error: {problem}", err=True)
    if problems:
        typer.echo(f"{file}: {len(problems)} {'problem' if len(problems) == 1 else 'problems'}", err=True)
    else:
        typer.echo(f"{file}: no problems")


def _print_names(project: Project, file: str) -> None:
    """A line for each dataset that can be read: where it stands, its name, its key."""
    try:
        text, place = project.config_text(file)
        values = read_values(text, str(place)).value
    except ConfigError:
        return  # told of already
    for category in CATEGORIES:
        for _, dataset in listed(values, category):
            typer.echo(f"{category:9} {dataset.short_name}  {dataset.key}")


def _size(count: int | None) -> str:
    if count is None:
        return "unknown"
    size, units = float(count), ["B", "kB", "MB", "GB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{size:.0f} {units[0]}" if size >= 10 or units[0] == "B" else f"{size:.1f} {units[0]}"


def _as_json(file: str, problems: list[Problem], notes: list[Problem], found: list[Looked]) -> dict[str, Any]:
    return {
        "file": file,
        "problems": list(map(asdict, problems)),
        "notes": list(map(asdict, notes)),
        "datasets": [{"name": looked.name, **asdict(looked.answer)} for looked in found],
    }
