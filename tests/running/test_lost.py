"""Tests of lost manifests of unrepeatable results: reported, and not made again unasked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.running.conftest import Bench, demo_graph, graph_of
from translations_assets.common.errors import StepFailed
from translations_assets.graph.graph import Graph
from translations_assets.graph.stage import Stage, step
from translations_assets.graph.step import Output
from translations_assets.keys.key import KeyMaker
from translations_assets.records.manifest import Manifest
from translations_assets.records.retention import Rules
from translations_assets.records.run import RunOptions, RunRecord
from translations_assets.running.job import Outcome
from translations_assets.running.plan import make_plan
from translations_assets.running.resolve import StepState
from translations_assets.store.gc import collect
from translations_assets.store.local import LocalStore

PARTITIONS = ("en-ru",)


@pytest.fixture
def local(bench: Bench, tmp_path: Path) -> LocalStore:
    """The bench's store, in a folder."""
    store = LocalStore(tmp_path / "store")
    bench.store = store
    return store


def make(bench: Bench, run: str = "run-1", *, publish: bool = True, end: bool = True) -> None:
    """Make everything, with the refs and the record of a run; `count` cannot be repeated."""
    session = bench.session(run=run)
    bench.run(session)
    session.record.write()
    if publish:
        for stage in session.graph.stages:
            session.results.publish(stage)
    if end:
        session.end()


def manifest_of(store: LocalStore, label: str) -> Manifest:
    """The manifest of a step."""
    return next(made for made in store.manifests() if made.label == label)


def delete(store: LocalStore, label: str) -> None:
    """Delete a step's manifest."""
    store.manifest_file(manifest_of(store, label).key, 1).unlink()


def planned(bench: Bench, partitions: tuple[str, ...] = PARTITIONS, repair: bool = False) -> StepState:
    """Plan for `count`."""
    steps = demo_graph().steps
    return make_plan(steps, KeyMaker(bench.root), bench.store, repair=repair, partitions=partitions).steps[-1]


def test_a_deleted_manifest_that_a_ref_names_is_lost_until_it_is_repaired(
    bench: Bench, local: LocalStore
) -> None:
    make(bench)
    delete(local, "count")
    for run in local.runs():
        local.remove_run(run)
    reason = "its manifest is missing from the store, although run run-1 has used it"
    assert (planned(bench).status, planned(bench).reasons) == ("lost", (reason,))
    assert planned(bench, repair=True).status == "run"
    with pytest.raises(StepFailed, match=rf"count is lost: {reason}.*--repair"):
        make(bench, "run-2")
    assert bench.runner.ran.count("count") == 1
    bench.run(bench.session(run="run-3", options=RunOptions(repair=True)))
    assert bench.runner.ran.count("count") == 2
    assert planned(bench).status == "cached"


def test_a_stage_that_is_started_at_is_made_again_although_its_manifest_is_lost(
    bench: Bench, local: LocalStore
) -> None:
    make(bench)
    delete(local, "count")
    bench.run(bench.session(run="run-2", repeat=["count"]))
    assert bench.runner.ran.count("count") == 2


def test_a_lost_manifest_is_told_although_all_that_was_made_from_it_is_given(
    bench: Bench, local: LocalStore
) -> None:
    """A run cannot pass over it: there is nothing that it could publish for the step."""
    chain = {
        "clean_corpus": Stage("clean_corpus", "demo", lambda config: _step("first", [], False), ()),
        "merge_corpus": Stage(
            "merge_corpus",
            "demo",
            lambda config, clean_corpus: _step("second", clean_corpus),
            ("clean_corpus",),
        ),
    }
    graph = graph_of(chain)
    session = bench.session(graph)
    bench.run(session)
    session.end()
    fixed = {graph.step("second"): manifest_of(local, "second")}
    delete(local, "first")
    made = make_plan(graph.steps, KeyMaker(bench.root), local, fixed=fixed, partitions=PARTITIONS)
    assert [planned.status for planned in made.steps] == ["lost", "cached"]
    with pytest.raises(StepFailed, match="first is lost"):
        bench.run(bench.session(graph, run="run-2", fixed=fixed))


def _step(label: str, texts: list[Output], repeatable: bool = True) -> list[Output]:
    made = step(
        "pipeline.demo.join",
        label=label,
        inputs={"texts": texts},
        outputs=["joined.txt"],
        repeatable=repeatable,
    )
    return [made["joined.txt"]]


def test_what_is_made_from_a_lost_result_may_run(bench: Bench, local: LocalStore) -> None:
    """The plan says `maybe` until the lost result has been made again."""

    def graph(label: str) -> Graph:
        def train(config: Any, clean_corpus: list[Output]) -> list[Output]:
            return _step(label, [*clean_corpus, *clean_corpus] if label == "other" else clean_corpus)

        return graph_of(
            {
                "clean_corpus": Stage("clean_corpus", "demo", lambda config: _step("first", [], False), ()),
                "merge_corpus": Stage("merge_corpus", "demo", train, ("clean_corpus",)),
            }
        )

    def statuses() -> list[str]:
        steps = graph("other").steps
        made = make_plan(steps, KeyMaker(bench.root), local, partitions=PARTITIONS)
        return [planned.status for planned in made.steps]

    session = bench.session(graph("second"))
    bench.run(session)
    session.end()
    local.quarantine(manifest_of(local, "first").outputs["joined.txt"], "a test lost it")
    assert statuses() == ["lost", "maybe"]
    delete(local, "first")
    assert statuses() == ["lost", "maybe"]


def test_refs_of_any_space_count_and_only_those_of_the_partition(bench: Bench, local: LocalStore) -> None:
    make(bench, end=False)
    delete(local, "count")
    assert local.spaces() == ["ann"]
    assert planned(bench, ("en-ru.other", "en-ru")).status == "lost", "the space was not given"
    assert planned(bench, ("en-ru.other",)).status == "run"


def test_what_can_be_repeated_is_made_again_unasked(bench: Bench, local: LocalStore) -> None:
    make(bench)
    delete(local, "join")
    make(bench, "run-2")
    assert bench.runner.ran[4:] == ["join"]


def test_what_only_a_run_names_is_lost_once_the_run_has_ended(bench: Bench, local: LocalStore) -> None:
    """It has published nothing, as another step of the stage failed."""
    make(bench, publish=False, end=False)
    delete(local, "count")
    assert planned(bench).status == "run"
    local.write_run("run-1", replace(local.read_run("run-1") or RunRecord(), ended=1.0))
    assert planned(bench).status == "lost"
    assert planned(bench, ("en-ru.other",)).status == "run"


def test_a_step_that_failed_is_not_lost(bench: Bench, local: LocalStore) -> None:
    bench.runner.ends["count"] = [Outcome("failed", message="too few words")]
    session = bench.session()
    with pytest.raises(StepFailed):
        bench.run(session)
    session.end()
    assert planned(bench).status == "run"


def test_what_was_collected_as_garbage_runs_again(bench: Bench, local: LocalStore) -> None:
    """Although the record of the run stays: something else that it names is kept."""
    make(bench, publish=False)
    record = local.read_run("run-1") or RunRecord()
    others = {label: used for label, used in record.uses.items() if label != "count"}
    local.write_run("run-2", replace(record, uses=others))
    local.write_run("run-1", replace(record, started=1.0, heartbeat=2.0, ended=3.0))
    collect(local, Rules(keep_days=1, keep_refs=0, grace_days=0), delete=True)
    assert {made.label for made in local.manifests()} == {"write-a", "write-b", "join"}
    assert "run-1" in local.runs()
    assert planned(bench).status == "run"
    make(bench, "run-3")
    assert bench.runner.ran.count("count") == 2


def test_what_the_collector_has_retired_is_not_lost(bench: Bench, local: LocalStore) -> None:
    """At this moment: it may put it back, and a look finds it then."""
    make(bench)
    local.retire(manifest_of(local, "count").key, 1)
    assert planned(bench).status == "run"


class Watched(LocalStore):
    """Counts the looks at records."""

    looks = 0

    def spaces(self) -> list[str]:
        self.looks += 1
        return super().spaces()

    def runs(self) -> list[str]:
        self.looks += 1
        return super().runs()


def test_records_are_read_only_for_what_has_no_manifest_and_cannot_be_repeated(
    bench: Bench, local: LocalStore
) -> None:
    bench.store = watched = Watched(local.root)
    bench.make("texts")
    assert planned(bench).status == "maybe"
    make(bench)
    assert planned(bench).status == "cached"
    delete(local, "write-a")
    assert planned(bench).status == "maybe"
    assert watched.looks == 2, "the engine has looked, when it made `count`"
