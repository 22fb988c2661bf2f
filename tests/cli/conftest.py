"""The tiny pair with made-up results, and the command run in the test's process."""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.defs.runner import MadeUpRunner
from tests.end_to_end.tiny import PARTITION, Place, make_place
from tests.keys.changes.states import shared_parsing
from translations_assets.cli.main import main
from translations_assets.common.errors import StepFailed
from translations_assets.project import Project, this_project
from translations_assets.records.run import RunOptions
from translations_assets.running.runner import Runner


@dataclass(frozen=True)
class Said:
    """Output of a command, and its exit code."""

    code: int
    out: str
    err: str


Command = Callable[..., Said]


@pytest.fixture(scope="package", autouse=True)
def parsed_once() -> Iterator[None]:
    """The scripts are parsed by the first command only: that takes most of the time of a command."""
    with shared_parsing():
        yield


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The tiny pair, named by the environment; the current folder is the place's."""
    place = make_place(tmp_path / "place")
    for name, value in place.environment.items():
        if name.startswith(("TRANSLATIONS_", "DAGSTER_")):
            monkeypatch.setenv(name, value)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(place.root)
    return place


@pytest.fixture
def command(
    place: Place, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Command:
    """Runs `translations` with some words."""

    def call(*words: str) -> Said:
        this_project.cache_clear()
        monkeypatch.setattr("sys.argv", ["translations", *words])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        out, err = capfdbinary.readouterr()
        return Said(code, out.decode(), err.decode())

    return call


def make(
    target: str,
    run: str = "run-1",
    overrides: Mapping[str, Any] | None = None,
    *,
    checks: bool = False,
    runner: Runner | None = None,
    partition: str = PARTITION,
) -> None:
    """Make up results of a stage and all that it needs, with their checks if asked, and publish them."""
    project = Project()
    project.__dict__["runner"] = runner or MadeUpRunner()
    session = project.session(run, partition, RunOptions(overrides=overrides or {}))
    stages = session.graph.stage_closure([target])
    for stage in session.graph.with_checks(stages) if checks else stages:
        try:
            project.engine.run(session, session.graph.stages[stage], threading.Event(), lambda event: None)
        except StepFailed:
            break
        session.results.publish(stage)
    project.end_sessions(run)
