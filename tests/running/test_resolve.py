"""Result that counts for a step: plan, engine, session and status agree, and so does what the case says."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.running.conftest import write_repository
from tests.running.random_stores import PARTITION, Case, Place, StepPlan, draw
from translations_assets.keys.key import KeyMaker
from translations_assets.running.plan import Plan, make_plan
from translations_assets.running.session import UpstreamMissing
from translations_assets.runs.run import Run
from translations_assets.runs.steps import steps_of_run

cases = st.integers(0, 2**32).map(random.Random)
few = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> KeyMaker:
    """The keys of the small repository, whose code is read once."""
    return KeyMaker(write_repository(tmp_path_factory.mktemp("repository")))


@contextmanager
def place_of(rng: random.Random, keys: KeyMaker) -> Iterator[Place]:
    """A random case and its store, on which nothing has looked yet."""
    folder = Path(tempfile.mkdtemp())
    try:
        yield Place(draw(rng), folder / "store", keys)
    finally:
        shutil.rmtree(folder)


def plan(place: Place) -> Plan:
    """Plan of the new run."""
    case = place.case
    return make_plan(
        case.graph.steps,
        place.keys,
        place.store,
        repeat=case.repeat,
        fixed=place.fixed(),
        repair=case.repair,
        partitions=(PARTITION,),
    )


class Oracle:
    """Expected result of each step, from the case alone: without a store, keys or manifests.

    `contents` stands for a step's output, None while it is not known.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self.old = {one.label: one for one in case.before if one.stage in case.made}
        self.statuses: dict[str, str] = {}
        self.contents: dict[str, Any] = {}
        for one in case.now:
            self.statuses[one.label], self.contents[one.label] = self._status(one)
        for one in reversed(case.now):
            self._leave_alone(one)

    def is_known(self, one: StepPlan) -> bool:
        """True if the store has a manifest of the step as it is."""
        return (
            one.label in self.old
            and self._made_of(one, self.contents) == self._made_of(self.old[one.label], self._old_contents())
            and self.case.fates[one.label] in ("whole", "contents lost")
        )

    def _status(self, one: StepPlan) -> tuple[str, Any]:
        if one.label in self.case.fixed and one.label in self.old:
            return "cached", self._old_contents()[one.label]
        repeats = one.stage in self.case.repeat
        before = [self.statuses[label] for label in one.upstream]
        if any(status in ("run", "maybe") for status in before):
            return ("run" if repeats else "maybe"), None
        if any(self.contents[label] is None for label in one.upstream):
            return "maybe", None
        contents = one.label if one.constant else self._made_of(one, self.contents)
        known = contents if self.is_known(one) else None
        if "lost" in before and (repeats or known is None):
            return "maybe", known
        if repeats or (known is None and not self._is_lost(one)):
            return "run", known
        if known is not None and self.case.fates[one.label] == "whole":
            return "cached", known
        remade = known is not None and one.repeatable
        return ("run" if remade or self.case.repair else "lost"), known

    def _is_lost(self, one: StepPlan) -> bool:
        """True if a result without a manifest was lost: something tells that there was one."""
        if one.repeatable or self.case.repair or one.label not in self.old:
            return False
        same = self._made_of(one, self.contents) == self._made_of(self.old[one.label], self._old_contents())
        fate = self.case.fates[one.label]
        named = self.case.ended or one.stage in self.case.published
        return same and (fate == "manifest damaged" or (fate == "manifest lost" and named))

    def _leave_alone(self, one: StepPlan) -> None:
        readers = [other.label for other in self.case.now if one.label in other.upstream]
        is_known = self.statuses[one.label] == "lost" and self.contents[one.label] is not None
        if is_known and readers and all(self.statuses[label] == "cached" for label in readers):
            self.statuses[one.label] = "cached"

    def _old_contents(self) -> dict[str, Any]:
        contents: dict[str, Any] = {}
        for one in self.case.before:
            contents[one.label] = one.label if one.constant else self._made_of(one, contents)
        return contents

    def _made_of(self, one: StepPlan, contents: dict[str, Any]) -> Any:
        return (one.label, one.word, *(contents[label] for label in one.upstream))


@few
@given(cases)
def test_the_plan_is_what_the_case_says(keys: KeyMaker, rng: random.Random) -> None:
    with place_of(rng, keys) as place:
        expected = Oracle(place.case).statuses
        assert {planned.step.label: planned.status for planned in plan(place).steps} == expected


@few
@given(cases)
def test_the_engine_does_what_the_plan_says(keys: KeyMaker, rng: random.Random) -> None:
    """Of a run of everything. A step that fails takes with it what follows, and stops nothing else."""
    with place_of(rng, keys) as place:
        made, case = plan(place), place.case
        session = place.session("run-2", options=case.options, repeat=case.repeat, fixed=place.fixed())
        runner = place.runner()
        error = place.run(session, list(case.graph.steps), runner)
        for planned in made.steps:
            label, result = planned.step.label, session.results.result(planned.step)
            if any(session.results.result(up) is None for up in planned.step.upstream()):
                assert label not in runner.ran
            elif planned.status == "cached":
                assert planned.manifest is not None
                assert result is not None
                assert (result.key, result.generation) == (planned.key, planned.manifest.generation)
                assert label not in runner.ran
            elif planned.status == "run":
                assert label in runner.ran
                assert planned.key in (None, next(job.key for job in runner.jobs if job.label == label))
            elif planned.status == "lost":
                assert f"{label} is lost: {'; '.join(planned.reasons)}" in error
                assert label not in runner.ran


@few
@given(cases)
def test_a_session_finds_what_the_store_has_whole_and_else_a_ref(keys: KeyMaker, rng: random.Random) -> None:
    with place_of(rng, keys) as place:
        oracle = Oracle(place.case)
        for step in place.case.graph.steps:
            one, session = place.case.step(step.label), place.session("look", fixed=place.fixed())
            try:
                session.results.need([step])
            except UpstreamMissing:
                assert not _is_whole(oracle, one)
                continue
            result = session.results.result(step)
            assert result is not None
            assert all(map(place.store.has_blob, result.outputs.values())) or one.label in place.case.fixed
            assert _is_whole(oracle, one) == (not session.results.warnings)
            if session.results.warnings:
                assert one.stage in place.case.published


def _is_whole(oracle: Oracle, one: StepPlan) -> bool:
    """True if a step's result is given, or known by the digests of what it was made from, and whole."""
    case = oracle.case
    if one.label in case.fixed and one.label in oracle.old:
        return True
    return _is_found(oracle, one) and case.fates[one.label] == "whole"


def _is_found(oracle: Oracle, one: StepPlan) -> bool:
    """True if the store has a manifest of a step and of all before it; files may be lost."""
    case = oracle.case
    if one.label in case.fixed and one.label in oracle.old:
        return True
    unchanged = one.label in oracle.old and one == oracle.old[one.label]
    manifest = case.fates[one.label] in ("whole", "contents lost")
    return unchanged and manifest and all(_is_found(oracle, case.step(label)) for label in one.upstream)


@few
@given(cases)
def test_the_status_of_a_run_is_what_its_record_says(keys: KeyMaker, rng: random.Random) -> None:
    """Neither code nor config is asked, which may be others by then."""
    with place_of(rng, keys) as place:
        made, case = plan(place), place.case
        session = place.session("run-2", options=case.options, repeat=case.repeat, fixed=place.fixed())
        runner = place.runner()
        place.run(session, list(case.graph.steps), runner)
        session.end()
        record = place.store.read_run("run-2")
        assert record is not None
        rows = {
            row.label: row for row in steps_of_run(place.store, Run("run-2", PARTITION, "failed", record))
        }
        assert list(rows) == [step.label for step in case.graph.steps]
        for planned in made.steps:
            label = planned.step.label
            if label in runner.ran:
                state = "finished" if session.results.result(planned.step) else "failed"
            elif label in record.uses:
                state = "cached"
            else:
                state = "failed" if label in record.failed else "not begun"
                assert state == "failed" or planned.status != "lost"
            assert rows[label].state in (state, "lost" if state == "cached" else state)
            assert bool(rows[label].why) == (state == "failed")


def test_cases_of_all_kinds_are_drawn() -> None:
    """Else the tests above would prove little."""
    statuses: set[str] = set()
    for seed in range(200):
        statuses.update(Oracle(draw(random.Random(seed))).statuses.values())
    assert statuses == {"cached", "run", "maybe", "lost"}
