"""`translations config generate`: a training config for a language pair, from what the network has."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from translations_assets.config.errors import ConfigError
from translations_assets.settings import config_folders, mirror

if TYPE_CHECKING:
    from translations_assets.generate.config import Generated

Language = Annotated[str, typer.Argument(help="A language's code, such as `en`, `lt`, `zh_hant`.")]


def command(
    src: Language,
    trg: Language,
    name: Annotated[str, typer.Option(help="The experiment's name; part of the file's name.")],
    output: Annotated[
        Path | None,
        typer.Option(help="The file to write; SRC-TRG.NAME.yml in the folder of configs by default."),
    ] = None,
) -> None:
    """Search for datasets of a language pair and write a training config with them.

    OPUS, mtdata, sacreBLEU, Hugging Face, HPLT and the News Crawl are asked.
    Comments in the file tell sizes and licences, and which datasets are left
    out and why. Read it before training.

    When a source cannot be reached, the config is made of what the others have,
    the file and standard error name what is missing, and the exit code is 1.
    """
    from translations_assets.generate.config import check_name, generate, pair_of

    query = pair_of(src, trg, mirror())
    check_name(name, query)
    path = output or config_folders()[0] / f"{src}-{trg}.{name}.yml"
    if not path.parent.is_dir():
        raise ConfigError.of(
            "there is no such folder; make it, or give another file as --output", str(path.parent)
        )
    generated = generate(name, query)
    _write(path, generated.text)
    _tell(path, generated)
    if generated.problems:
        raise typer.Exit(1)


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all; one with other content is somebody's work and stays."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        os.link(part, path)
    except FileExistsError:
        if path.read_bytes() != text.encode():
            message = "exists, and would have changed; remove it, or give another file as --output"
            raise ConfigError.of(message, str(path)) from None
    finally:
        part.unlink(missing_ok=True)


def _tell(path: Path, generated: Generated) -> None:
    counts = ", ".join(f"{len(keys)} {category}" for category, keys in generated.choice.chosen.items())
    typer.echo(f"{path}: {counts}; {len(generated.choice.skipped)} left out")
    for problem in generated.problems:
        typer.echo(f"warning: {problem.importer}: {problem.message}", err=True)
