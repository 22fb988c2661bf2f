"""Each kind of harmless change to each script and to every module that it reaches: nothing runs again."""

from __future__ import annotations

import pytest

from tests.keys.changes.harmless import KINDS
from tests.keys.changes.states import CODE, SCRIPTS, Repository


def test_every_script_is_planned(repository: Repository) -> None:
    assert {step.script for step in repository.steps} == set(SCRIPTS)
    assert len(SCRIPTS) > 30
    assert set(repository.plan({}).values()) == {"cached"}


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_runs_again(repository: Repository, kind: str) -> None:
    """Each script is reached by the change, and no step of any script has another key."""
    changed = KINDS[kind]()
    touched = {file for file, text in changed.items() if text != CODE.get(file)}
    assert [script for script in SCRIPTS if not touched & set(repository.bundles[script])] == []
    planned = repository.plan(changed)
    assert [label for label, status in planned.items() if status != "cached"] == []
