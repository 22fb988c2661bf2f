"""The plan: what is cached, what will run, what may run, and why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.running.conftest import Bench, demo_graph, demo_stages, graph_of
from translations_assets.graph.graph import Graph
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Output, Step
from translations_assets.keys.key import KeyMaker
from translations_assets.records.manifest import Manifest, Worker
from translations_assets.running.plan import Plan, make_plan
from translations_assets.running.session import UpstreamMissing


def plan(
    bench: Bench, graph: Graph | None = None, repeat: tuple[str, ...] = (), *, repair: bool = False
) -> Plan:
    steps = (graph or demo_graph()).steps
    return make_plan(steps, KeyMaker(bench.root), bench.store, repeat, repair=repair)


def statuses(made: Plan) -> dict[str, str]:
    return {planned.step.label: planned.status for planned in made.steps}


def reasons(made: Plan, label: str) -> tuple[str, ...]:
    return next(planned.reasons for planned in made.steps if planned.step.label == label)


def test_with_an_empty_store_what_has_no_input_runs_and_the_rest_may(bench: Bench) -> None:
    made = plan(bench)
    assert statuses(made) == {"write-a": "run", "write-b": "run", "join": "maybe", "count": "maybe"}
    assert reasons(made, "write-a") == ("no result for its key in the store",)
    assert reasons(made, "join") == (
        "input from write-a, which is not cached",
        "input from write-b, which is not cached",
    )
    assert reasons(made, "count") == ("input from join, which is not cached",)


def test_keys_behind_a_step_that_will_run_are_not_known(bench: Bench) -> None:
    known = {planned.step.label for planned in plan(bench).steps if planned.key is not None}
    assert known == {"write-a", "write-b"}


def test_planning_runs_and_writes_nothing(bench: Bench) -> None:
    plan(bench)
    assert bench.runner.ran == []
    assert list(bench.store.manifests()) == []
    assert bench.store.runs() == []


def test_after_a_run_all_is_cached_with_its_manifest(bench: Bench) -> None:
    bench.make()
    made = plan(bench)
    assert set(statuses(made).values()) == {"cached"}
    for planned in made.steps:
        assert planned.manifest is not None
        assert planned.manifest.key == planned.key
        assert planned.manifest.label == planned.step.label


def test_a_stopped_run_leaves_the_next_step_to_run_and_the_last_to_wait(bench: Bench) -> None:
    bench.make("texts")
    assert statuses(plan(bench)) == {
        "write-a": "cached",
        "write-b": "cached",
        "join": "run",
        "count": "maybe",
    }


def test_a_changed_step_runs_and_what_follows_may(bench: Bench) -> None:
    bench.make()
    made = plan(bench, demo_graph(a="one", b="three"))
    assert statuses(made) == {"write-a": "cached", "write-b": "run", "join": "maybe", "count": "maybe"}
    assert reasons(made, "join") == ("input from write-b, which is not cached",)


def test_early_cutoff_shows_once_the_changed_step_has_run(bench: Bench) -> None:
    bench.runner.contents["write-b"] = b"the same, whatever the word"
    bench.make()
    changed = demo_graph(a="one", b="three")
    assert statuses(plan(bench, changed))["join"] == "maybe"
    bench.make("texts", a="one", b="three")
    assert set(statuses(plan(bench, changed)).values()) == {"cached"}


def test_a_repeated_stage_runs_although_cached(bench: Bench) -> None:
    bench.make()
    made = plan(bench, repeat=("join", "count"))
    assert statuses(made) == {"write-a": "cached", "write-b": "cached", "join": "run", "count": "run"}
    assert reasons(made, "join") == ("the run repeats the stage join",)


def test_what_follows_a_repeated_stage_runs_only_if_its_input_changes(bench: Bench) -> None:
    bench.make()
    assert statuses(plan(bench, repeat=("join",)))["count"] == "maybe"


def test_a_repeatable_step_whose_contents_are_missing_runs_again(bench: Bench) -> None:
    bench.make()
    bench.lose("join")
    made = plan(bench)
    assert statuses(made) == {"write-a": "cached", "write-b": "cached", "join": "run", "count": "maybe"}
    assert reasons(made, "join") == ("joined.txt is missing from the store or damaged",)


def test_a_result_that_does_not_name_all_outputs_is_none(bench: Bench) -> None:
    """No worker writes such a manifest: what reads it must neither fail nor take the step for finished."""
    bench.make()
    for label, status in (("count", "lost"), ("join", "run")):
        made = next(one for one in bench.store.manifests() if one.label == label)
        bench.store.commit(replace(made, generation=2, outputs={}))
        planned = plan(bench)
        assert statuses(planned)[label] == status
        assert reasons(planned, label)[0].endswith(".txt is missing from the store or damaged")
    session = bench.session(demo_graph())
    session.results.need([session.graph.step("write-a")])
    with pytest.raises(UpstreamMissing, match="join is not made"):
        session.results.need([session.graph.step("join")])


def test_a_step_that_cannot_be_repeated_is_lost(bench: Bench) -> None:
    bench.make()
    bench.lose("count")
    made = plan(bench)
    assert statuses(made)["count"] == "lost"
    assert reasons(made, "count") == ("number.txt is missing from the store or damaged", "it took 0 s")
    assert statuses(plan(bench, repair=True))["count"] == "run"


@pytest.mark.parametrize(("gpus", "effort"), [(0, "3.5 h"), (1, "3.5 h on 1 GPU"), (2, "3.5 h on 2 GPUs")])
def test_a_lost_step_tells_what_it_took(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, gpus: int, effort: str
) -> None:
    bench.make()
    bench.lose("count")
    latest = bench.store.latest

    def long(key: str) -> Manifest | None:
        made = latest(key)
        return made and replace(
            made,
            usage=replace(made.usage, seconds=12_600.0),
            provenance=replace(made.provenance, worker=Worker(gpus=gpus)),
        )

    monkeypatch.setattr(bench.store, "latest", long)
    assert reasons(plan(bench), "count")[1] == f"it took {effort}"


def test_a_step_is_lost_with_what_it_would_be_made_from(bench: Bench) -> None:
    """A repeatable step is not repeated as long as one of its inputs is lost."""

    @stage(group="demo")
    def copy(config: Any, count: Output) -> None:
        step("pipeline.demo.join", label="copy", inputs={"texts": [count]}, outputs=["joined.txt"])

    graph = graph_of({**demo_stages({"a": "one"}), "copy": copy})
    bench.run(bench.session(graph))
    bench.lose("copy")
    assert statuses(plan(bench, graph))["copy"] == "run"
    bench.lose("count")
    made = plan(bench, graph)
    assert [planned.status for planned in made.steps] == ["cached", "cached", "lost", "lost"]
    assert reasons(made, "copy") == (
        "joined.txt is missing from the store or damaged",
        "input from count, which is lost",
    )
    assert statuses(plan(bench, graph, repair=True))["copy"] == "maybe"


def test_a_given_result_counts_whatever_its_key(bench: Bench) -> None:
    bench.make(a="other")
    given = next(m for m in bench.store.manifests() if m.label == "join")
    graph = demo_graph(a="one", b="two")
    steps = [step for step in graph.steps if step.stage != "texts"]
    made = make_plan(steps, KeyMaker(bench.root), bench.store, fixed={graph.step("join"): given})
    assert statuses(made) == {"join": "cached", "count": "cached"}
    assert reasons(made, "join") == ("taken from the previous run",)


def test_the_summary_counts_what_there_is(bench: Bench) -> None:
    assert plan(bench).summary() == "4 steps: 2 run, 2 maybe"
    bench.make()
    bench.lose("count")
    assert plan(bench).summary() == "4 steps: 3 cached, 1 lost"
    assert make_plan([], KeyMaker(bench.root), bench.store).summary() == "0 steps: nothing to do"


def test_steps_by_stage_are_in_running_order(bench: Bench) -> None:
    stages = plan(bench).by_stage()
    assert {name: [planned.step.label for planned in steps] for name, steps in stages.items()} == {
        "texts": ["write-a", "write-b"],
        "join": ["join"],
        "count": ["count"],
    }


def test_a_label_changes_no_status(bench: Bench) -> None:
    bench.make("texts")
    renamed = Step("pipeline.demo.write", "renamed", "texts", {"word": "one"}, {}, ("text.txt",))
    assert make_plan([renamed], KeyMaker(bench.root), bench.store).count("cached") == 1
