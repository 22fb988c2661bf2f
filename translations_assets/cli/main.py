"""The `translations` command: what Dagster's own command line does not do."""

from __future__ import annotations

import sys

import typer

from translations_assets.cli import (
    cache,
    checks,
    config,
    evaluate,
    plan,
    playground,
    report,
    results,
    runs_status,
    runs_train,
    shell,
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
COMMANDS = (
    *(plan.graph, plan.plan, plan.explain),
    *(runs_train.train, runs_status.status, runs_status.logs, runs_train.cancel, runs_train.rerun),
    shell.shell,
    *(results.artifacts, results.results, checks.checks, report.report, results.translate),
    *(evaluate.evaluate, playground.playground),
    config.find_corpus,
)
for command in COMMANDS:
    app.command()(command)
app.add_typer(cache.app, name="cache")
app.add_typer(config.app, name="config")


def main() -> None:
    """Run the command; a foreseen error ends it with one message and exit code 1."""
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
