"""`translations config migrate`: a training config of any year in today's form."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from translations_assets.config.errors import ConfigError
from translations_assets.config.load import read_text
from translations_assets.config.migrate import migrated


def command(
    file: Annotated[Path, typer.Argument(help="The YAML file of a training config.")],
    write: Annotated[bool, typer.Option("--write", help="Rewrite the file.")] = False,
) -> None:
    """Print a training config in today's form, comments and order kept, and a note for each changed key."""
    text, notes = migrated(read_text(file), str(file))
    for note in notes:
        typer.echo(f"note: {note}", err=True)
    if not write:
        typer.echo(text, nl=False)
    elif notes:
        _replace(file, text)
        typer.echo(f"{file}: rewritten")
    else:
        typer.echo(f"{file}: is in today's form already")


def _replace(file: Path, text: str) -> None:
    """Write a file's new text under another name first, so that a full disk leaves the old one."""
    target = file.resolve()  # what a link points to
    new = target.with_name(f".{target.name}.new")
    try:
        new.write_text(text, encoding="utf-8", newline="")
        os.chmod(new, target.stat().st_mode)
        new.replace(target)
    except OSError as error:
        raise ConfigError.of(f"cannot be written: {error.strerror}", str(file)) from error
    finally:
        new.unlink(missing_ok=True)
