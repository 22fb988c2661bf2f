"""`translations diff`: differences between two runs, partitions, variants or times."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from translations_assets.cli import common, completion
from translations_assets.cli.common import Json
from translations_assets.cli.output import ProgressPrinter, print_json
from translations_assets.common.whole_file import write_whole
from translations_assets.project import this_project

SIDE = (
    "A training config's name, or that of a variant (en-ru@1a2b3c4d5e6f); with a time behind it as it was "
    "(en-ru:2026-11-20T12:00, or en-ru:2026-11-20 for the end of the day). Or a run's id, or its beginning."
)


@common.reads
def diff(
    old: Annotated[
        str, typer.Argument(metavar="OLD", help=SIDE, autocompletion=completion.partitions_or_runs)
    ],
    new: Annotated[
        str,
        typer.Argument(
            metavar="NEW", help="The same, to compare with it.", autocompletion=completion.partitions_or_runs
        ),
    ],
    sentences: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="Show at most so many sentences that are translated differently."
        ),
    ] = 10,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write a page in HTML to this file.", dir_okay=False),
    ] = None,
    json: Json = False,
) -> None:
    """Compare two results: configs, causes in data, code and options, lines, vocabularies, scores with their
    significance, sentences, sizes, speed and cost.

    It reads the store alone: no training config need be there any more. A partition means what its runs
    published last, up to the time if one is given.
    """
    from translations_assets.diff.facts import gather
    from translations_assets.diff.page import as_html
    from translations_assets.diff.values import as_json
    from translations_assets.diff.words import text

    project = this_project()
    progress = ProgressPrinter("compared", "translations of test sets")
    prices = project.prices(lambda stage: "")  # what was made says on which machine
    found = gather(project.store, project.space, (old, new), prices, progress, sentences)
    if output:
        write_whole(output, as_html(found))
    if json:
        print_json(as_json(found))
    elif output:
        typer.echo(str(output))
    else:
        for line in text(found):
            typer.echo(line)
