"""The `translations` command: what Dagster's own command line does not do."""

from __future__ import annotations

import sys

import typer

from translations_assets.cli import artifacts, graph, logs, plan, results, status, train, translate
from translations_assets.config.errors import ConfigError
from translations_assets.steps.errors import Cancelled, TranslationsError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Train small, fast translation models. PARTITION is the name of a training config in configs/ "
    "(en-ru for configs/en-ru.yml) or the path of a YAML file.",
)
for module in (graph, plan, train, status, logs, artifacts, results, translate):
    app.command(module.__name__.rpartition(".")[2])(module.command)


def main() -> None:
    """Run the command; errors that are told to people end it with one message and exit code 1."""
    try:
        app()
    except Cancelled as error:
        print(f"cancelled: {error}", file=sys.stderr)
        sys.exit(130)
    except (TranslationsError, ConfigError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:  # `translations plan … | head`
        sys.stderr.close()
        sys.exit(141)
    except OSError as error:  # a full disk, a folder that is a file
        print(f"error: {error.strerror or error}: {error.filename or ''}", file=sys.stderr)
        sys.exit(1)
