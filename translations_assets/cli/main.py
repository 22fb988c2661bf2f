"""The `translations` command: what Dagster's own command line does not do."""

from __future__ import annotations

import errno
import sys
from typing import Annotated, NoReturn

import typer

from translations_assets.cli import exits, streams
from translations_assets.cli.commands import PROGRAM, SETTINGS, Commands
from translations_assets.common.errors import RunCancelled, TranslationsError
from translations_assets.common.revision import revision
from translations_assets.common.settings import allow_all_files, repository_root
from translations_assets.config.errors import ConfigError

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=SETTINGS,
)


def _print_version(asked: bool) -> None:
    if not asked:
        return
    from importlib.metadata import version

    commit = revision(repository_root())
    python = ".".join(map(str, sys.version_info[:3]))
    about = f"Python {python}" + (f", commit {commit}" if commit else "")
    typer.echo(f"{PROGRAM} {version('translations-assets')} ({about})")
    raise typer.Exit(exits.DONE)


@app.callback()
def translations(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and commit.",
        ),
    ] = False,
) -> None:
    """Train small, fast translation models.

    To begin, train the demo: `translations train en-eo.demo`.

    PARTITION is the name of a training config in configs/ (en-ru for configs/en-ru.yml) or the path of a YAML
    file. LABEL is that of a step, as `translations graph` prints it.
    """


def main() -> None:
    """Run the command; an expected error ends it with one message."""
    streams.prepare()
    allow_all_files()
    try:
        app(prog_name=PROGRAM)
    except RunCancelled as error:
        print(f"cancelled: {error}", file=sys.stderr)
        sys.exit(exits.CANCELLED)
    except (TranslationsError, ConfigError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(exits.FAILED)
    except OSError as error:  # a full disk, a folder that is a file
        _end_with(error, streams.write_out())
    except UnicodeEncodeError as error:  # of a file's name, where the locale has ASCII alone
        print(f"error: {error}. Give the locale more characters: LC_ALL=C.UTF-8", file=sys.stderr)
        sys.exit(exits.FAILED)
    finally:
        if unwritten := streams.write_out():
            _end_with(unwritten, unwritten)


def _end_with(error: OSError, unwritten: OSError | None) -> NoReturn:
    """Name the file or stream that cannot be read or written, and exit."""
    if error.errno == errno.EPIPE:
        sys.exit(exits.BROKEN_PIPE)
    said = f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
    if unwritten:
        said = f"standard output cannot be written: {said}. Give it another place, or free some space there."
    print(f"error: {said}", file=sys.stderr)
    sys.exit(exits.FAILED)


if __name__ == "__main__":
    main()
