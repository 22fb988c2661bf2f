"""Each kind of change to a place of a script: who runs that place runs again, and nobody else does."""

from __future__ import annotations

import pytest

from tests.keys.changes.harmful import all_sites, change, sample
from tests.keys.changes.mutations import KINDS
from tests.keys.changes.states import Repository

EACH = 1  # changes of each kind; `python -m benchmarks.changes` makes more


def test_all_kinds_are_found() -> None:
    assert {site.kind for found in all_sites().values() for site in found} == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_concerns_those_who_run_it(repository: Repository, kind: str) -> None:
    changed = [change(repository, *place) for place in sample(kind, EACH)]
    assert [one for one in changed if one.unnoticed or one.needless] == []
    assert any(one.reruns for one in changed)
