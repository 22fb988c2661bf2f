"""`translations report`: a partition's results as a page or as a model card."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from translations_assets.cli import common
from translations_assets.cli.common import Json, Partition, Set
from translations_assets.cli.output import print_answer
from translations_assets.common.errors import TranslationsError
from translations_assets.common.whole_file import write_whole
from translations_assets.project import this_project

if TYPE_CHECKING:
    from translations_assets.report.facts import Report


@common.reads
def report(
    partition: Partition,
    card: Annotated[
        bool, typer.Option("--card", help="Write a model card in Markdown, as the Hugging Face hub reads it.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file to write. Defaults to PARTITION.html (or .md) in this folder, or with "
            "--set to PARTITION@ID.html.",
            dir_okay=False,
        ),
    ] = None,
    overrides: Set = None,
    json: Json = False,
) -> None:
    """Write a report: data, curves, scores, sentences, gates, hours, config and provenance in one HTML file.

    It covers the finished results in the store, and opens without any other file.
    """
    from translations_assets.report.page import as_card, as_html

    found = gathered(partition, overrides)
    text, _ = this_project().configs.text(partition)
    path = output or Path(f"{found.session.ref_partition}.{'md' if card else 'html'}")
    write_whole(path, as_card(found, text) if card else as_html(found, text))
    print_answer(json, {"file": str(path)}, str(path))


def gathered(partition: str, overrides: Sequence[str] | None) -> Report:
    """Gather a partition's results, and print notes on them. TranslationsError where it has none."""
    from translations_assets.report.facts import gather

    project, session = this_project(), common.reading_session(partition, overrides)
    found = gather(
        session, project.history(session.partition), project.prices(session.machine), project.cluster
    )
    if not found.results:
        raise TranslationsError(
            f"not made: the store has no results of {session.partition}. "
            f"To make them: {session.command('train')}"
        )
    common.print_warnings(session)
    return found
