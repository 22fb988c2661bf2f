"""The `translations` command: what Dagster's own command line does not do."""

from __future__ import annotations

import sys

import typer

from translations_assets.cli import (
    artifacts,
    cache,
    cancel,
    checks,
    config,
    explain,
    find_corpus,
    graph,
    logs,
    plan,
    rerun,
    results,
    shell,
    status,
    train,
    translate,
)
from translations_assets.config.errors import ConfigError
from translations_assets.errors import Cancelled, TranslationsError
from translations_assets.settings import allow_all_files

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Train small, fast translation models. PARTITION is the name of a training config in configs/ "
    "(en-ru for configs/en-ru.yml) or the path of a YAML file.",
)
RUNS = (graph, plan, explain, train, status, logs, cancel, rerun, shell)
RESULTS = (artifacts, results, checks, translate)
for module in (*RUNS, *RESULTS, find_corpus):
    app.command(module.__name__.rpartition(".")[2].replace("_", "-"))(module.command)

for noun in (cache, config):
    app.add_typer(noun.app, name=noun.__name__.rpartition(".")[2])


def main() -> None:
    """Run the command; errors that are told to people end it with one message and exit code 1."""
    allow_all_files()
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


if __name__ == "__main__":
    main()
