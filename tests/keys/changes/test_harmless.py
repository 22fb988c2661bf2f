"""Each kind of harmless change to each script and to every module that it reaches: nothing runs again."""

from __future__ import annotations

import pytest

from tests.keys.changes.harmless import GROUPED, GROUPS
from tests.keys.changes.states import CODE, SCRIPTS, Repository
from tests.keys.code.changes import HARMLESS


def test_every_script_is_planned(repository: Repository) -> None:
    assert {step.script for step in repository.steps} == set(SCRIPTS)
    assert len(SCRIPTS) > 30
    assert set(repository.plan({}).values()) == {"cached"}


def test_every_kind_is_in_a_group() -> None:
    assert sorted(kind for group in GROUPS for kind in group) == sorted(HARMLESS)


@pytest.mark.parametrize("kind", GROUPED)
def test_nothing_runs_again(repository: Repository, kind: str) -> None:
    """Each script is reached by the change, and no step of any script has another key."""
    changed = GROUPED[kind]()
    touched = {file for file, text in changed.items() if text != CODE.get(file)}
    assert [script for script in SCRIPTS if not touched & set(repository.bundles[script])] == []
    planned = repository.plan(changed)
    assert [label for label, status in planned.items() if status != "cached"] == []
