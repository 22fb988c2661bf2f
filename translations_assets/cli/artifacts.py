"""`translations artifacts`: the files that steps have made."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from translations_assets.cli.common import (
    Json,
    Partition,
    Set,
    copy_blob,
    find_step,
    plan_of,
    print_json,
    reading_session,
    results_of,
)
from translations_assets.errors import TranslationsError
from translations_assets.project import Project, this_project
from translations_assets.records.inside import inside

if TYPE_CHECKING:
    from translations_assets.records.manifest import Blob
    from translations_assets.running.session import Result


def command(
    partition: Partition,
    label: Annotated[
        str | None, typer.Argument(help="A step's label; every finished step by default.")
    ] = None,
    download: Annotated[
        Path | None, typer.Option(help="Copy the step's files to this folder.", file_okay=False)
    ] = None,
    provenance: Annotated[
        bool,
        typer.Option("--provenance", help="Print, as JSON, all that is needed to repeat the step's files."),
    ] = False,
    overrides: Set = None,
    json: Json = False,
) -> None:
    """List the files of a step, or of all finished steps, copy them, or tell how they were made.

    --provenance tells of the step and of all steps before it: training config, code, commands, inputs by
    digest up to the datasets, versions, seeds, and shell lines that repeat each.
    """
    project = this_project()
    if download is not None and label is None:
        raise TranslationsError(
            "Name the step whose files to download: translations artifacts PARTITION LABEL."
        )
    if provenance:
        print_json(_provenance(project, partition, label, overrides))
        return
    found = (
        {label: dict(_result(project, partition, label, overrides).outputs)}
        if label
        else _of_all(project, partition, overrides)
    )
    if download is not None:
        _download(project, next(iter(found.values())), download)
    if json:
        print_json(
            {name: {file: vars(blob) for file, blob in files.items()} for name, files in found.items()}
        )
        return
    for name, files in found.items():
        typer.echo(name)
        for file, blob in files.items():
            typer.echo(f"    {blob.size:>13,}  {blob.digest[:12]}  {file}")


def _result(project: Project, partition: str, label: str, overrides: list[str] | None) -> Result:
    session = reading_session(project, partition, overrides)
    return results_of(session, [find_step(session.graph, partition, label)])[0]


def _provenance(
    project: Project, partition: str, label: str | None, overrides: list[str] | None
) -> dict[str, Any]:
    if label is None:
        raise TranslationsError(
            "Name the step to tell of: translations artifacts PARTITION LABEL --provenance."
        )
    from translations_assets.why.provenance import provenance

    result = _result(project, partition, label, overrides)
    manifest = result.manifest or project.store.generation(result.key, result.generation)
    if manifest is None:
        raise TranslationsError(
            f"The store has the files of {label}, but no longer knows how they were made."
        )
    return provenance(project.store, manifest)


def _of_all(project: Project, partition: str, overrides: list[str] | None) -> dict[str, dict[str, Blob]]:
    plan = plan_of(project, reading_session(project, partition, overrides), "all")
    return {
        planned.step.label: dict(planned.manifest.outputs)
        for planned in plan.steps
        if planned.status == "cached" and planned.manifest
    }


def _download(project: Project, files: dict[str, Blob], folder: Path) -> None:
    try:
        targets = {name: inside(folder, name) for name in files}
    except ValueError as error:
        raise TranslationsError(f"Nothing was copied to {folder}: {error}.") from error
    taken = [name for name, target in targets.items() if target.exists()]
    if taken:
        raise TranslationsError(f"{folder} already holds {', '.join(taken)}. Give another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as work:
            for name, blob in files.items():
                copy_blob(project.store, blob, Path(work) / "copy")
                os.replace(Path(work) / "copy", targets[name])
    except OSError as error:
        raise TranslationsError(f"{folder} cannot be written: {error}. Give another folder.") from error
