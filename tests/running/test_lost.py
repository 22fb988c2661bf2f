"""Tests of lost manifests of unrepeatable results: reported, and not made again unasked."""

from __future__ import annotations

from collections.abc import Mapping
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
from translations_assets.records.manifest import Manifest, Ref
from translations_assets.records.retention import Rules
from translations_assets.records.run import RunOptions, RunRecord
from translations_assets.running.job import Outcome
from translations_assets.running.plan import make_plan
from translations_assets.running.resolve import DAMAGED, StepState
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


def _chained() -> Graph:
    """Two stages, of which the first cannot be repeated byte by byte."""
    return graph_of(
        {
            "clean_corpus": Stage("clean_corpus", "demo", lambda config: _step("first", [], False), ()),
            "merge_corpus": Stage(
                "merge_corpus",
                "demo",
                lambda config, clean_corpus: _step("second", clean_corpus),
                ("clean_corpus",),
            ),
        }
    )


def test_a_lost_manifest_is_told_although_all_that_was_made_from_it_is_given(
    bench: Bench, local: LocalStore
) -> None:
    """A run cannot pass over it: there is nothing that it could publish for the step."""
    graph = _chained()
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


def again(bench: Bench, run: str) -> Manifest:
    """Make `count` once more: its newest generation."""
    session = bench.session(run=run, repeat=["count"])
    bench.run(session)
    session.results.publish("count")
    session.end()
    made = session.results.result_of(session.graph.step("count")).manifest
    assert made
    return made


def damage(store: LocalStore, made: Manifest) -> None:
    """Cut a manifest's end off."""
    path = store.manifest_file(made.key, made.generation)
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-20])


def test_no_older_generation_stands_in_for_a_damaged_one(bench: Bench, local: LocalStore) -> None:
    """The first was rejected, and made again for that."""
    make(bench)
    second = again(bench, "run-2")
    damage(local, second)
    reason = f"{DAMAGED}; generation 1, which is older, is not used in its place"
    found = planned(bench)
    assert (found.status, found.reasons, found.manifest) == ("lost", (reason,), None)
    assert planned(bench, ()).status == "lost", "the quarantine tells it, whatever names the result"
    with pytest.raises(StepFailed, match="count is lost: .*which is older.*--repair"):
        make(bench, "run-3")
    bench.run(bench.session(run="run-4", options=RunOptions(repair=True)))
    assert [made.generation for made in local.manifests() if made.label == "count"] == [1, 2]
    assert (planned(bench).status, planned(bench).generation) == ("cached", 3)


@pytest.mark.parametrize("by", ["a ref", "a run"])
def test_no_older_generation_stands_in_for_one_that_is_gone(bench: Bench, local: LocalStore, by: str) -> None:
    make(bench)
    made = again(bench, "run-2")
    local.manifest_file(made.key, 2).unlink()
    if by == "a ref":
        local.remove_run("run-2")
    else:
        (local.root / "refs/ann/en-ru/count/run-2.json").unlink()
    found = planned(bench)
    assert found.status == "lost"
    assert found.reasons[0].startswith(
        "its manifest is missing from the store, although run run-2 has used it; generation 1, which is"
    )
    assert (planned(bench, repair=True).status, planned(bench, repair=True).generation) == ("run", 2)
    local.retire(made.key, 1)
    assert planned(bench, repair=True).generation == 2, "made as the generation that was lost"


@pytest.mark.parametrize("options", [{"repeat": ["count"]}, {"options": RunOptions(repair=True)}])
def test_what_is_made_again_follows_the_generation_that_was_lost(
    bench: Bench, local: LocalStore, options: dict[str, Any]
) -> None:
    make(bench)
    second, third = again(bench, "run-2"), again(bench, "run-3")
    damage(local, third)
    local.retire(second.key, 2)
    assert planned(bench).status == "lost"
    bench.run(bench.session(run="run-4", **options))
    assert (planned(bench).status, planned(bench).generation) == ("cached", 4)


def test_an_older_generation_that_is_damaged_or_gone_is_nothing_to_tell(
    bench: Bench, local: LocalStore
) -> None:
    make(bench)
    again(bench, "run-2")
    again(bench, "run-3")
    damage(local, first := manifest_of(local, "count"))
    local.generation(first.key, 1)
    local.manifest_file(first.key, 2).unlink()
    assert (planned(bench).status, planned(bench).generation) == ("cached", 4)


def test_a_run_of_later_stages_takes_what_was_published_of_a_lost_generation(
    bench: Bench, local: LocalStore
) -> None:
    """Its files are whole; they are not those of an older generation."""
    graph = _chained()
    for run, text in (("run-1", b"bad"), ("run-2", b"good")):
        bench.runner.contents["first"] = text
        session = bench.session(graph, run=run, repeat=["clean_corpus"])
        bench.run(session, "clean_corpus")
        session.results.publish("clean_corpus")
        session.end()
    first = graph.step("first")
    made = session.results.result_of(first).manifest
    assert made
    damage(local, made)
    later = bench.session(graph, run="run-3")
    bench.run(later, "merge_corpus")
    assert later.results.result_of(first).outputs == made.outputs
    assert later.results.warnings == [
        "clean_corpus is out of date (first): using the results of run run-2. To renew them: translations "
        "train en-ru --target clean_corpus"
    ]


class Watched(LocalStore):
    """Counts the looks at records."""

    looks = 0

    def spaces(self) -> list[str]:
        self.looks += 1
        return super().spaces()

    def runs(self) -> list[str]:
        self.looks += 1
        return super().runs()

    def refs(self, space: str, partition: str, stage: str) -> list[Ref]:
        self.looks += 1
        return super().refs(space, partition, stage)

    def damaged(self) -> Mapping[str, int]:
        self.looks += 1
        return super().damaged()


@pytest.mark.parametrize(("repeatable", "looks"), [(True, 0), (False, 4)])
def test_records_are_read_once_for_all_that_cannot_be_repeated_and_never_for_the_rest(
    bench: Bench, local: LocalStore, repeatable: bool, looks: int
) -> None:
    def clean(config: Any) -> None:
        for number in range(5):
            step(
                "pipeline.demo.write",
                label=f"write-{number}",
                args={"word": str(number)},
                outputs=["text.txt"],
                repeatable=repeatable,
            )

    graph = graph_of({"clean_corpus": Stage("clean_corpus", "demo", clean, ())})
    session = bench.session(graph)
    bench.run(session)
    session.results.publish("clean_corpus")
    watched = Watched(local.root)
    made = make_plan(graph.steps, KeyMaker(bench.root), watched, partitions=PARTITIONS)
    assert made.summary() == "5 steps: 5 cached"
    assert watched.looks == looks
