"""Steps of the tiny pipeline open their bundle, their inputs, what they write, and the environment's files.

What else a script read would be in no key, and could be missing on another machine.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.end_to_end.evidence import graph_of
from tests.end_to_end.tiny import PARTITION, Place
from tests.runners.opened import needs_strace, traced
from translations_assets.common.settings import repository_root
from translations_assets.graph.step import Step

pytestmark = [pytest.mark.slow, pytest.mark.marian, needs_strace]

REMAKE = f"""
import sys
from threading import Event
from translations_assets.project import this_project
from translations_assets.records.run import RunOptions

project = this_project()
session = project.session("remake", {PARTITION!r}, RunOptions())
session.repeat = session.graph.stages
steps = [step for step in session.graph.steps if step.label in sys.argv]
project.engine.run(session, steps, Event(), lambda event: None)
"""


def enough(steps: Iterable[Step]) -> list[str]:
    """The labels of steps with which every script runs, and is given every option that any step gives it."""
    labels, had = [], set[tuple[str, str]]()
    for step in sorted(steps, key=lambda step: len(_given(step)), reverse=True):
        if not _given(step) <= had:
            labels.append(step.label)
            had |= _given(step)
    return labels


def _given(step: Step) -> set[tuple[str, str]]:
    """A step's script with each of the options that it is given."""
    args = {name for name, value in step.args.items() if value not in (None, False)}
    return {(step.script, name) for name in ("output", *args, *step.inputs)}


def test_steps_open_nothing_else(trained: Place, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    environment = {
        **trained.environment,
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(repository_root()),
    }
    config = trained.root / "configs" / f"{PARTITION}.yml"
    text, whole = config.read_text(encoding="utf-8"), "  training-teacher: *model\n"
    assert whole in text
    config.write_text(text.replace(whole, "  training-teacher: {<<: *model, after: 20u}\n"), encoding="utf-8")
    steps = graph_of(trained).steps
    command = [sys.executable, "-c", REMAKE, *enough(steps)]
    scripts = traced(command, tmp_path / "traces", environment, trained.root, 1500)
    strays = {script.name: sorted(script.strays) for script in scripts if script.strays}
    assert strays == {}
    assert {script.name for script in scripts} == {step.script for step in steps}
    assert {file for script in scripts for file in script.files if "/marian" in file}
