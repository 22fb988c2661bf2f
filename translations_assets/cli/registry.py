"""`translations registry`: the models of a store, as a site."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated, cast

import typer

from translations_assets.cli.common import Json
from translations_assets.cli.output import number_of, print_answer, print_note
from translations_assets.common.errors import TranslationsError
from translations_assets.project import this_project
from translations_assets.results.known import ReadOnce
from translations_assets.running.protocols import Store

DATABASE = "registry.sqlite"


def build(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder of the site.", file_okay=False)
    ] = Path("registry"),
    json: Json = False,
) -> None:
    """Make a static site, and a database, of all models in the store, and a report of each run.

    The site is made again from the store, except for unchanged reports. Removed results disappear from it.
    """
    from translations_assets.registry.database import reports_in, write
    from translations_assets.registry.read import StoreReader
    from translations_assets.registry.reports import Reports
    from translations_assets.registry.site import write_site

    if output.exists() and not output.is_dir():  # Typer lets devices and pipes pass
        raise TranslationsError(f"{output} is not a folder. Give another one.")
    if output.is_dir() and any(output.iterdir()) and not (output / DATABASE).is_file():
        raise TranslationsError(f"{output} holds something else than a registry. Give another folder.")
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=".registry-") as work:
        made = Path(work) / "site"
        made.mkdir()
        project = this_project()
        store = cast("Store", ReadOnce(project.store))
        reader = StoreReader(store)
        rows, reports = reader.rows(), dict[str, str]()
        maker = Reports(store, project.keys, output, reports_in(output / DATABASE))
        for row in rows:
            try:
                reports[row.run] = maker.write(made, row, reader)
            except TranslationsError as error:
                print_note(f"run {row.run} has no report: {error}")
        write(made / DATABASE, rows, reports)
        write_site(made, rows, reports)
        if output.exists():
            os.replace(output, Path(work) / "before")
        os.replace(made, output)
    page = output / "index.html"
    print_answer(json, {"file": str(page), "runs": len(rows)}, f"{number_of(len(rows), 'model')}: {page}")
