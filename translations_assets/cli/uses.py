"""`translations uses`: the models that were trained on a dataset, and training configs without it."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from translations_assets.cli import common
from translations_assets.cli.common import Json
from translations_assets.cli.output import number_of, print_json, print_note
from translations_assets.common.errors import TranslationsError
from translations_assets.project import this_project

if TYPE_CHECKING:
    from translations_assets.answers.uses import Origin, RunUse, Uses
    from translations_assets.answers.without import ConfigUse, Rewritten

Written: TypeAlias = "tuple[Rewritten, dict[str, list[str]]]"  # and the steps that would run, by stage
MOST_RUNS = 10  # that are named of those of which nothing is known


@common.reads
def uses(
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATASET",
            help="A dataset's key, short name or alias; without its version, all versions.",
        ),
    ],
    without: Annotated[
        bool,
        typer.Option("--without", help="Also write each training config that trains on it anew, without it."),
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The folder of these configs.", file_okay=False)
    ] = None,
    json: Json = False,
) -> None:
    """List the models that were trained on a dataset, by runs, and where they were published.

    For requests to remove a dataset: with its licence and revision as they were when it was imported, and the
    lines that training took of it. A run that used it only as dev or test set is told apart. Models that are
    made from text or models of such a run count, too.

    --without writes the configs of the models that are to be trained again, comments and order kept, and says
    which steps would run.
    """
    if without != (output is not None):
        raise typer.BadParameter("--without and --output FOLDER go together.")
    from translations_assets.answers.uses import find_uses
    from translations_assets.answers.without import configs_with

    project = this_project()
    configs, known = configs_with(project.configs, dataset)
    found = find_uses(project.store, dataset, known)
    written = _write(configs, dataset, output) if output else []
    if json:
        print_json(_as_json(found, configs, written))
        return
    _print(dataset, found)
    for use in configs:
        typer.echo(f"training config {use.partition}: {', '.join(use.categories)}")
    for each in written:
        _print_written(each)


def _write(configs: Sequence[ConfigUse], name: str, folder: Path) -> list[Written]:
    """Write the configs that train on a dataset without it; each with the steps that would run, by stage."""
    from translations_assets.answers.without import rewritten, write_all

    project = this_project()
    made = [rewritten(project.configs, use, name) for use in configs if use.trains]
    if not made:
        raise TranslationsError(f"No training config trains on {name}: there is nothing to write.")
    return [(one, {} if one.problem else _would_run(one)) for one in write_all(made, folder)]


def _would_run(written: Rewritten) -> dict[str, list[str]]:
    session = common.reading_session(str(written.file))
    found: dict[str, list[str]] = {}
    for planned in common.plan_of(session, None).steps:
        if planned.status != "cached":
            found.setdefault(planned.step.stage, []).append(planned.step.label)
    return found


def _as_json(found: Uses, configs: Sequence[ConfigUse], written: Sequence[Written]) -> dict[str, Any]:
    return {
        "datasets": list(found.datasets),
        "imports": [asdict(origin) for origin in found.origins],
        "trained": [asdict(use) for use in found.trained],
        "only_text": [asdict(use) for use in found.only_text],
        "dev_or_test": [asdict(use) for use in found.judged],
        "unknown": [use.run for use in found.unknown],
        "configs": [{"partition": use.partition, "categories": list(use.categories)} for use in configs],
        "without": [
            {
                "partition": one.partition,
                "file": None if one.problem else str(one.file),
                "problem": one.problem or None,
                "removed": list(one.removed),
                "runs": steps,
            }
            for one, steps in written
        ],
    }


def _print(name: str, found: Uses) -> None:
    for origin in found.origins:
        typer.echo("  ".join(_of_origin(origin)))
    if not found.trained:
        typer.echo(f"No model was trained on {name}.")
    for use in found.trained:
        typer.echo("\n" + "\n".join(_of_run(use)))
    for title, uses in (
        ("Text for training, and no model so far:", found.only_text),
        ("Only as dev or test set:", found.judged),
    ):
        if uses:
            typer.echo(f"\n{title}")
        for use in uses:
            typer.echo(f"  {next(_of_run(use))}")
    if found.unknown:
        runs = ", ".join(use.run[:8] for use in found.unknown[:MOST_RUNS])
        more = " and others" if found.unknown[MOST_RUNS:] else ""
        print_note(
            f"{number_of(len(found.unknown), 'run')} went on from text or models of others ({runs}{more}): "
            "whether these hold lines of it is not known here."
        )


def _of_origin(origin: Origin) -> Iterator[str]:
    yield f"{_day(origin.time)}  {origin.dataset}"
    yield f"{origin.role}, {'?' if origin.lines is None else f'{origin.lines:,}'} lines"
    yield f"licence: {origin.licence or 'not stated'}"
    if origin.revision:
        yield f"revision: {origin.revision}"
    yield from origin.urls


def _of_run(use: RunUse) -> Iterator[str]:
    """The lines on a run: its head, its models, its publications."""
    roles = ", ".join(use.roles) or "through text or models of an earlier run"
    taken = "".join(f"; {lines:,} lines in {label}" for label, lines in use.lines.items())
    yield f"run {use.run[:8]}  {use.partition}  {_day(use.started)}  {roles}{taken}"
    for model in use.models:
        yield f"    {_day(model.time)}  {model.name:18} {model.label}"
    for place in use.published:
        yield f"    {_day(place.time)}  published: {place.url}"


def _print_written(written: Written) -> None:
    one, steps = written
    if one.problem:
        typer.echo(f"{one.partition} is not written: its config is not valid without the dataset:")
        typer.echo(textwrap.indent(one.problem, "    "))
        return
    typer.echo(f"{one.file}: without {', '.join(one.removed)}")
    number = sum(map(len, steps.values()))
    typer.echo(f"    {number_of(number, 'step')} would run: {', '.join(steps) or 'none'}")


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(seconds))
