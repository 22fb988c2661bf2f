"""`translations sweep`: the sweeps that there are, and what their settings brought."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from translations_assets.cli import common, completion
from translations_assets.cli.common import Json
from translations_assets.cli.output import number_of, print_json, print_table
from translations_assets.configs.sweeps import usable_sweeps
from translations_assets.project import this_project
from translations_assets.results.scores import METRICS

if TYPE_CHECKING:
    from translations_assets.sweeps.facts import SweepResults


@common.reads
def sweep(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="SWEEP",
            help="The name of a file in the folder `sweeps` inside that of training configs, without `.yml`.",
            autocompletion=completion.sweeps,
        ),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            help="The model to compare, as `results` names them. Defaults to the one that users get."
        ),
    ] = "",
    json: Json = False,
) -> None:
    """Compare the variants of a sweep, or list the sweeps.

    A setting's scores are means over its seeds. They are compared with those of the base's own setting, by
    paired bootstrap resampling of the test set's lines.
    """
    if name is None:
        _list(json)
        return
    from translations_assets.sweeps.of_project import compare

    found = compare(this_project(), name, model)
    if json:
        from translations_assets.sweeps.words import as_json

        print_json(as_json(found))
    else:
        _print(found)


def _list(json: bool) -> None:
    sweeps, problems = usable_sweeps()
    for problem in problems:
        typer.echo(f"error: {problem}", err=True)
    if json:
        print_json({name: [one.partition for one in sweep.variants] for name, (_, sweep) in sweeps.items()})
        return
    for name, (path, sweep) in sweeps.items():
        typer.echo(f"{name}: {number_of(len(sweep.variants), 'variant')} of {sweep.file.base}, {path}")
    if not sweeps:
        typer.echo("There are no sweeps. To make one: docs/sweeps.md")


def _print(found: SweepResults) -> None:
    from rich.table import Table

    from translations_assets.sweeps.words import cell, datasets_of, findings, needs, scores_of

    for dataset in datasets_of(found):
        scores = [scores_of(setting, dataset) for setting in found.settings]
        metrics = [metric for metric in METRICS if any(metric in one for one in scores)]
        table = Table("setting", title=f"{dataset}, {found.model}")
        for column in (*(METRICS[metric] for metric in metrics), "size", "speed", "own cost"):
            table.add_column(column, justify="right")
        for setting, of_each in zip(found.settings, scores, strict=True):
            cells = [cell(of_each[metric]) if metric in of_each else "" for metric in metrics]
            table.add_row(setting.name, *cells, *needs(setting, found.currency))
        print_table(table)
    for line in findings(found):
        typer.echo(line)
    if lacking := [partition for setting in found.settings for partition in setting.lacking]:
        typer.echo(
            f"Scores are missing of {', '.join(lacking)}. To make them: translations train {found.sweep}",
            err=True,
        )
