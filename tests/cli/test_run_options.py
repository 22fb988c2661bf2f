"""Tests that a run's options are the same on the command line, in the Launchpad and in a child's command."""

from typing import Any

import dagster as dg
import pytest
import typer
from typer.testing import CliRunner

from translations_assets.cli.common import asks
from translations_assets.defs.runs import CONFIG
from translations_assets.records.run import OPTIONS, RunOptions

KEYS = {"a.b": [1, "no"], "c": {"d": "50u"}, "e": "="}
VALUES: dict[type, Any] = {str: "x =y", bool: True, float: 2.5, dict: KEYS}
EVERYTHING = RunOptions(**{name: VALUES[type(option.default)] for name, option in OPTIONS.items()})
ASKED = [RunOptions(), EVERYTHING, *(RunOptions(**{name: getattr(EVERYTHING, name)}) for name in OPTIONS)]


@pytest.mark.parametrize("options", ASKED)
def test_the_words_of_options_are_read_as_them(options: RunOptions) -> None:
    read: list[RunOptions] = []
    app = typer.Typer()

    @app.command()
    @asks
    def command(*, options: RunOptions) -> None:
        read.append(options)

    done = CliRunner().invoke(app, [*options.words()], catch_exceptions=False)
    assert (done.exit_code, read) == (0, [options]), done.output


@pytest.mark.parametrize("options", ASKED)
def test_the_launchpad_takes_what_a_run_was_asked(options: RunOptions) -> None:
    read: list[RunOptions] = []

    @dg.op(config_schema=CONFIG)
    def asked(context: dg.OpExecutionContext) -> None:
        read.append(RunOptions.from_dict(context.op_config))

    @dg.job
    def job() -> None:
        asked()

    job.execute_in_process(run_config={"ops": {"asked": {"config": options.to_dict()}}})
    assert read == [options]
