"""`translations init`: a project of one's own, apart from the code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from translations_assets.cli.common import Json
from translations_assets.cli.output import print_answer
from translations_assets.common.errors import TranslationsError
from translations_assets.common.settings import repository_root

_OWN = Path(__file__).parents[1] / "example_project"
_NAMES = {"gitignore": ".gitignore"}  # where git is not to read it, it has another name
_EXAMPLES = (
    "configs/en-eo.demo.yml",
    "deploy/deployment.example.yml",
    "deploy/deployment.on-premises.example.yml",
)


def init(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="The folder of the project; made if it is missing.", file_okay=False
        ),
    ],
    json: Json = False,
) -> None:
    """Make a project: example configs, a deployment file, Dagster's settings, .gitignore and README.

    All commands work in that folder and below it, Dagster's too; results are kept in its folder .state. No
    file is overwritten.
    """
    files = dict(_files())
    if present := [name for name in files if (folder / name).exists()]:
        raise TranslationsError(
            f"{folder} holds {', '.join(present)} already. Nothing was written; name another folder."
        )
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    print_answer(
        json,
        {"folder": str(folder), "files": sorted(files)},
        f"{folder}: a project with an example. Next:",
        f"  cd {folder}",
        "  translations plan en-eo.demo",
    )


def _files() -> Iterator[tuple[str, str]]:
    """Name in the project → contents."""
    from importlib.metadata import version

    for path in sorted(path for path in _OWN.iterdir() if path.is_file()):
        text = path.read_text(encoding="utf-8")
        if path.name == "README.md":
            text = text.replace("{version}", version("translations-assets"))
        yield _NAMES.get(path.name, path.name), text
    for name in _EXAMPLES:
        yield name, (repository_root() / name).read_text(encoding="utf-8")
