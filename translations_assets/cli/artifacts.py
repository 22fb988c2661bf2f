"""`translations artifacts`: the files that steps have made."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from translations_assets.cli.common import Json, Partition, find_step, look, outputs_of, plan_of, print_json
from translations_assets.project import Project
from translations_assets.steps.errors import TranslationsError

if TYPE_CHECKING:
    from translations_assets.steps.manifest import Blob


def command(
    partition: Partition,
    label: Annotated[
        str | None, typer.Argument(help="A step's label; every finished step by default.")
    ] = None,
    download: Annotated[
        Path | None, typer.Option(help="Copy the step's files to this folder.", file_okay=False)
    ] = None,
    json: Json = False,
) -> None:
    """List the files of a step, or of all finished steps, and copy them out of the store."""
    project = Project()
    if download is not None and label is None:
        raise TranslationsError(
            "Name the step whose files to download: translations artifacts PARTITION LABEL."
        )
    found = _of_step(project, partition, label) if label else _of_all(project, partition)
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


def _of_step(project: Project, partition: str, label: str) -> dict[str, dict[str, Blob]]:
    session = look(project, partition)
    step = find_step(session.graph, partition, label)
    outputs_of(session, [step])
    result = session.result(step)
    assert result is not None  # else `need` has raised
    return {label: dict(result.outputs)}


def _of_all(project: Project, partition: str) -> dict[str, dict[str, Blob]]:
    plan = plan_of(project, project.read_graph(partition), "all", None)
    return {
        planned.step.label: dict(planned.manifest.outputs)
        for planned in plan.steps
        if planned.status == "cached" and planned.manifest
    }


def _download(project: Project, files: dict[str, Blob], folder: Path) -> None:
    taken = [name for name in files if (folder / name).exists()]
    if taken:
        raise TranslationsError(f"{folder} already holds {', '.join(taken)}. Give another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as work:
            for name, blob in files.items():
                _copy(project, blob, Path(work), folder / name)
    except OSError as error:
        raise TranslationsError(f"{folder} cannot be written: {error}. Give another folder.") from error


def _copy(project: Project, blob: Blob, work: Path, target: Path) -> None:
    """A file of the person's own: what the store places may be its own file under a second name."""
    placed, copy = work / blob.digest, work / "copy"
    if not placed.exists():
        project.store.place_blob(blob, placed)
    shutil.copyfile(placed, copy)
    os.replace(copy, target)
