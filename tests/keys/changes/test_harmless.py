"""Each kind of harmless change to each script and to every module that it reaches: nothing runs again."""

from __future__ import annotations

from functools import cache

import pytest

from tests.keys.changes.harmless import KINDS, Files
from tests.keys.changes.states import CODE, SCRIPTS, Repository
from translations_assets.running.plan import Status


@cache
def changed(kind: str) -> Files:
    return KINDS[kind]()


@cache
def planned(repository: Repository, kind: str) -> dict[str, Status]:
    """The plan when all files have changed."""
    return repository.plan(changed(kind))


def test_every_script_is_planned(repository: Repository) -> None:
    assert {step.script for step in repository.steps} == set(SCRIPTS)
    assert len(SCRIPTS) > 30
    assert set(repository.plan({}).values()) == {"cached"}


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_runs_again(repository: Repository, kind: str, script: str) -> None:
    files = set(repository.bundles[script]) & set(changed(kind))
    assert files
    assert any(changed(kind)[file] != CODE[file] for file in files)
    statuses = {planned(repository, kind)[s.label] for s in repository.steps if s.script == script}
    assert statuses == {"cached"}
