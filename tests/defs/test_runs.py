"""Runs that are launched here, and what Dagster is told of them."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from translations_assets.defs import runs


@pytest.mark.parametrize(
    ("root", "parent", "told"),
    [(None, "", (None, None)), (None, "first", ("first", "first")), ("first", "second", ("first", "second"))],
)
def test_all_repetitions_belong_to_the_first_run(
    root: str | None, parent: str, told: tuple[str | None, str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dagster shows a run's repetitions, and theirs, together."""
    definitions = MagicMock()
    definitions.for_module.return_value.get_definition.return_value.name = "__repository__"
    monkeypatch.setattr(runs, "ReconstructableRepository", definitions)
    monkeypatch.setattr(runs, "execute_run", lambda *_: None)
    instance = MagicMock()
    instance.get_run_by_id.return_value = SimpleNamespace(run_id=parent, root_run_id=root)
    runs.run_here(instance, "all", [], run_id="new", config={}, tags={}, parent=parent or None)
    given = instance.create_run_for_job.call_args.kwargs
    assert (given["root_run_id"], given["parent_run_id"]) == told
