"""Earlier artifacts, what differs from them, and what they cost."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.memory_store import MemoryStore
from tests.running.conftest import Bench, demo_config, demo_graph
from tests.running.test_session import publish_all
from translations_assets.config.load import apply_overrides
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.graph import Graph
from translations_assets.graph.stage import build_graph, stage, step
from translations_assets.graph.step import Output
from translations_assets.keys.key import KeyMaker
from translations_assets.records.cost import duration
from translations_assets.records.manifest import Manifest
from translations_assets.running.engine import Engine
from translations_assets.running.plan import make_plan
from translations_assets.why.explain import Explainer, known_parts, settled
from translations_assets.why.history import History, why_made


def history(bench: Bench, space: str = "ann", partition: str = "en-ru") -> History:
    return History(bench.store, space, partition)


def words(found: list[Manifest]) -> list[str]:
    return [manifest.provenance.parts.args["word"] for manifest in found]


def test_the_newest_refs_come_first_and_the_own_key_not_at_all(bench: Bench) -> None:
    for run, word in (("run-1", "one"), ("run-2", "two"), ("run-3", "three")):
        publish_all(bench, run, a=word)
    graph = demo_graph(a="three")
    key = KeyMaker(bench.root).parts(graph.step("write-a"), {}).digest
    assert words(history(bench).earlier(graph.step("write-a"), key, 20)) == ["two", "one"]
    assert words(history(bench).earlier(graph.step("write-a"), key, 1)) == ["two"]


def test_what_a_failed_run_made_is_found_although_no_ref_names_it(bench: Bench) -> None:
    session = bench.session(demo_graph(a="one"))
    bench.run(session, "texts")
    session.end()
    assert words(history(bench).earlier(demo_graph().step("write-a"), "", 20)) == ["one"]


@pytest.mark.parametrize("place", [("bob", "en-ru"), ("ann", "en-ru.big")])
def test_other_spaces_and_partitions_of_the_pair_are_looked_at(bench: Bench, place: tuple[str, str]) -> None:
    session = publish_all(bench, a="one")
    session.end()
    assert words(history(bench, *place).earlier(demo_graph().step("write-a"), "", 20)) == ["one"]
    assert history(bench, "ann", "en-de").earlier(demo_graph().step("write-a"), "", 20) == []


def test_without_the_label_one_that_differs_in_numbers_only(bench: Bench) -> None:
    session = bench.session(demo_graph(**{"1/2": "one", "b": "two"}))
    bench.run(session)
    session.results.publish("texts")
    assert words(history(bench).earlier(demo_graph(**{"3/4": "x"}).step("write-3/4"), "", 20)) == ["one"]


def test_a_training_whose_own_code_changed_runs_whatever_its_inputs_become(bench: Bench) -> None:
    publish_all(bench, a="one")
    graph = demo_graph(a="two")

    def statuses() -> list[str]:
        keys = KeyMaker(bench.root)
        plan = settled(make_plan(graph.steps, keys, bench.store), keys, history(bench))
        return [planned.status for planned in plan.steps]

    assert statuses() == ["run", "maybe", "maybe"]  # it may have been made of what comes
    script = bench.root / "pipeline" / "demo" / "count.py"
    script.write_text(script.read_text().replace("import", "import os\nimport", 1) + "\nprint(os.sep)\n")
    assert statuses() == ["run", "maybe", "run"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (99, "99 s"), (720, "12 min"), (9000, "2.5 h"), (36000, "10 h"), (90000, "25 h")],
)
def test_durations_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def student(config: TrainingConfig) -> Graph:
    """A step whose settings come from two sections of the config, either of which is enough for one."""

    @stage(group="demo")
    def train(config: TrainingConfig) -> Output:
        """A model."""
        args = {**config.marian_args.training_student, **config.marian_args.training_student_finetuned}
        made = step(
            "pipeline.demo.write",
            label="train",
            args={"marian_args": json.dumps(args, sort_keys=True), "seed": 1},
            outputs=["text.txt"],
        )
        return made["text.txt"]

    return build_graph(config, {"train": train})


def explain_plan(bench: Bench, **overrides: Any) -> tuple[str, ...]:
    """Explain the differences that overridden keys of the config make to its earlier results."""
    session = bench.session(student(demo_config()))
    bench.run(session)
    session.results.publish("train")
    config = apply_overrides(demo_config(), overrides)
    now = student(config)
    explainer = Explainer(config, KeyMaker(bench.root), history(bench), student)
    (train,) = now.steps
    return explainer.explain(train, known_parts(KeyMaker(bench.root), train, {})).differences


def test_the_key_that_decides_is_named_and_no_other(bench: Bench) -> None:
    """early-stopping of the student is overridden by that of its finetuning."""
    found = explain_plan(
        bench,
        **{
            "marian-args.training-student": {"early-stopping": 3, "after": "9u"},
            "experiment.spm-vocab-size": 8000,
        },
    )
    assert found == ("marian-args.training-student.after: not set → 9u",)


def test_keys_that_only_together_decide_are_all_named(bench: Bench) -> None:
    found = explain_plan(
        bench,
        **{
            "marian-args.training-student": {"after": "9u"},
            "marian-args.training-student-finetuned": {"after": "9u"},
        },
    )
    assert found == (
        "marian-args.training-student.after: not set → 9u",
        "marian-args.training-student-finetuned.after: not set → 9u",
    )


@pytest.mark.parametrize("config", [None, b"no JSON", b"[]"])
def test_without_the_config_the_argument_is_named(bench: Bench, config: bytes | None) -> None:
    before = demo_graph()
    publish_all(bench)
    for manifest in list(bench.store.manifests()):
        blob = bench.store.add_bytes(config) if config else None
        assert isinstance(bench.store, MemoryStore)
        bench.store.files.unlink(bench.store.manifest_file(manifest.key, 1))
        bench.store.commit(replace(manifest, provenance=replace(manifest.provenance, config=blob)))
    now = demo_graph(a="three", b="two")
    explainer = Explainer(demo_config(), KeyMaker(bench.root), history(bench), lambda config: before)
    write = now.step("write-a")
    found = explainer.explain(write, KeyMaker(bench.root).parts(write, {}))
    assert found.differences == ("argument --word: one → three",)


def test_steps_of_one_script_are_each_compared_with_the_code_that_made_them(bench: Bench) -> None:
    words_file = bench.root / "pipeline" / "demo" / "words.py"
    original = words_file.read_text()
    publish_all(bench, "run-1", a="one")
    words_file.write_text('WORD = "bush"\n')
    publish_all(bench, "run-2", b="two")
    words_file.write_text(original)
    graph, keys = demo_graph(a="one", b="two"), KeyMaker(bench.root)
    explainer = Explainer(demo_config(), keys, history(bench), lambda config: graph)
    found = {}
    for label in ("write-a", "write-b"):
        made = next(made for made in bench.store.manifests() if made.label == label)
        found[label] = explainer._code_changes("pipeline.demo.write", made)
    assert found == {
        "write-a": ["pipeline.demo.write: code changed"],  # it is the same as now
        "write-b": ["pipeline.demo.words: constant WORD changed"],
    }


def test_code_that_is_gone_from_the_store_is_a_change_all_the_same(bench: Bench) -> None:
    publish_all(bench)
    words_file = bench.root / "pipeline" / "demo" / "words.py"
    words_file.write_text('WORD = "bush"\n')
    graph, keys = demo_graph(), KeyMaker(bench.root)
    write = graph.step("write-a")

    def differences() -> tuple[str, ...]:
        explainer = Explainer(demo_config(), keys, history(bench), lambda config: graph)
        return explainer.explain(write, keys.parts(write, {})).differences

    assert differences() == ("pipeline.demo.words: constant WORD changed",)
    (made,) = history(bench).earlier(write, "", 1)
    bench.store.quarantine(made.bundle, "a test lost it")
    assert differences() == ("pipeline.demo.write: code changed",)


def test_the_nearest_artifact_is_the_one_with_the_fewest_differences(bench: Bench) -> None:
    publish_all(bench, "run-1", a="one")
    publish_all(bench, "run-2", a="two")
    (bench.root / "pipeline" / "demo" / "words.py").write_text('WORD = "bush"\n')
    graph, keys = demo_graph(a="one"), KeyMaker(bench.root)
    write = graph.step("write-a")
    found = Explainer(demo_config(), keys, history(bench), lambda config: graph).explain(
        write, keys.parts(write, {})
    )
    assert found.earlier is not None
    assert found.earlier.provenance.run == "run-1"
    assert found.differences == ("pipeline.demo.words: constant WORD changed",)


def test_many_differences_are_cut_in_short_reasons(bench: Bench) -> None:
    publish_all(bench, **{f"word-{number}": str(number) for number in range(9)})
    changed = demo_graph(**{f"word-{number}": f"new {number}" for number in range(9)})
    session = bench.session(changed, "run-2")
    bench.run(session, "texts")
    explainer = Explainer(demo_config(), session.keys, history(bench), lambda config: changed)
    join = changed.step("join")
    parts = session.keys.parts(join, session.results.inputs(join))
    found = explainer.explain(join, parts)
    assert len(found.differences) == 9
    assert found.reasons == (*found.differences[:5], "and 4 more differences")


def test_the_run_writes_down_why_its_steps_run(bench: Bench) -> None:
    publish_all(bench)
    changed = demo_graph(a="three", b="two")
    session = bench.session(changed, "run-2")
    explainer = Explainer(demo_config(), session.keys, history(bench), lambda config: changed)
    engine = Engine(
        bench.store, bench.runner, explain=lambda session, step, parts: explainer.explain(step, parts).reasons
    )
    for name in changed.stages:
        engine.run(session, changed.stages[name], bench.cancel, lambda event: None)
    session.end()
    record = bench.store.read_run("run-2")
    assert record
    reasons = record.reasons
    made = [one for one in bench.store.manifests() if one.provenance.run == "run-2"]
    assert {one.label: why_made(one, bench.store.read_run) for one in made} == reasons
    older = replace(made[0], reason="as it was before")
    assert why_made(older, bench.store.read_run) == "as it was before"
    assert why_made(made[0], lambda run: None) == "not known"
    assert set(reasons) == {"write-a", "join", "count"}
    assert reasons["write-a"] == "argument --word: one → three"
    assert reasons["join"].startswith("input text.txt: made again by write-a (")
