"""Runs that are launched here, and what Dagster is told of them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from dagster import DagsterInstance, DagsterRun, job

from translations_assets.common.errors import StoreUnreachable
from translations_assets.defs import runs
from translations_assets.instance.server import PARTITION_TAG
from translations_assets.records.run import RunOptions
from translations_assets.running.tasks import RUN_SECONDS


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


@job
def empty() -> None:
    """Stands for any job."""


class Begun:
    """A run that begins, and its session, whose forecast the store refuses for a number of seconds.

    pauses  the seconds that the beginning has waited
    """

    def __init__(self, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch) -> None:
        self.instance, self.away, self.pauses = instance, 0.0, list[float]()
        self.run: DagsterRun = instance.create_run_for_job(empty, tags={PARTITION_TAG: "en-eo.demo"})
        self.session = MagicMock(space="ann", options=RunOptions(), expected={}, budget=None, listeners=[])
        self.session.stages, self.session.notes, self.session.results.warnings = ["train_teacher"], [], []
        self.session.config.wandb_publication = False
        self.project = MagicMock()
        self.project.session.return_value = self.session
        monkeypatch.setattr(runs, "PROJECT", self.project)
        monkeypatch.setattr(runs, "stages_of", lambda *_: ["train_teacher"])
        monkeypatch.setattr(runs, "observe_recipes", lambda *_: 0)
        monkeypatch.setattr(runs, "_forecast", self._forecast)
        monkeypatch.setattr(runs, "time", SimpleNamespace(sleep=self.pauses.append))

    def _forecast(self, session: object) -> dict[str, object]:
        if sum(self.pauses) < self.away:
            raise StoreUnreachable("The store cannot be reached.")
        return {"a step": "its cost"}

    def begin(self) -> Iterator[RunOptions]:
        """The resource, which has begun the run."""
        log = logging.getLogger("a run")
        make: Any = runs.run.resource_fn
        resource: Iterator[RunOptions] = make(
            SimpleNamespace(resource_config={}, log=log, dagster_run=self.run, instance=self.instance)
        )
        next(resource)
        return resource


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Iterator[Begun]:
    """A run of one stage, over a store that is there."""
    with DagsterInstance.ephemeral() as instance:
        yield Begun(instance, monkeypatch)


@pytest.mark.parametrize("away", [0, 60, 2 * RUN_SECONDS])
def test_a_run_shows_that_it_is_alive_also_when_the_store_is_away_at_first(begun: Begun, away: float) -> None:
    """It waits for the store as its assets do: five minutes, then they tell."""
    begun.away = away
    begun.begin()
    begun.session.record.keep_alive.assert_called_once_with()
    assert bool(begun.session.expected) == (away < RUN_SECONDS)
    assert sum(begun.pauses) <= RUN_SECONDS + 15


def test_a_run_that_is_cancelled_does_not_wait_for_the_store(begun: Begun) -> None:
    begun.away = RUN_SECONDS
    begun.instance.report_run_canceling(begun.run)
    begun.begin()
    assert len(begun.pauses) == 1


def test_a_run_without_stages_ends_the_sessions_that_it_began(
    begun: Begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An asset check begins one by itself."""
    monkeypatch.setattr(runs, "stages_of", lambda *_: [])
    assert [*begun.begin()] == []
    begun.project.end_sessions.assert_called_once_with(begun.run.run_id)
