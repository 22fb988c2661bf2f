"""A session: results that a run does not make itself, and what it writes down and publishes."""

from __future__ import annotations

import shlex
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event
from typing import Any
from unittest.mock import Mock

import pytest

from tests.runners.scripts import eventually
from tests.running.conftest import Bench, demo_graph
from tests.virtual_clock import VirtualClock
from translations_assets.cli.common import overrides_of
from translations_assets.common.errors import StoreUnreachable
from translations_assets.graph.step import Step
from translations_assets.records.manifest import Blob
from translations_assets.records.run import RunOptions, RunRecord
from translations_assets.running.engine import Engine
from translations_assets.running.record_writer import HEARTBEAT_SECONDS
from translations_assets.running.session import Session, UpstreamMissing


def publish_all(bench: Bench, run: str = "run-1", **words: str) -> Session:
    """Run and publish all stages."""
    session = bench.session(demo_graph(**words), run)
    bench.run(session)
    for stage in session.graph.stages:
        session.results.publish(stage)
    return session


def step(session: Session, label: str) -> Step:
    return session.graph.step(label)


def test_a_fresh_session_finds_results_by_key_through_all_that_comes_before(bench: Bench) -> None:
    bench.make()
    session = bench.session()
    session.results.need([step(session, "count")])
    result = session.results.result(step(session, "count"))
    assert result is not None
    assert result.manifest is not None
    assert result.manifest.label == "count"
    assert session.results.warnings == []


def test_nothing_is_needed_twice(bench: Bench) -> None:
    bench.make()
    session = bench.session()
    session.results.need([step(session, "join")])
    first = session.results.result(step(session, "join"))
    bench.lose("join")
    session.results.need([step(session, "join")])
    assert session.results.result(step(session, "join")) is first


def test_what_was_never_made_is_an_error_that_names_the_command(bench: Bench) -> None:
    session = bench.session()
    with pytest.raises(UpstreamMissing, match=r"^join is not made, or out of date") as caught:
        session.results.need([step(session, "join")])
    assert "translations train en-ru --target join" in str(caught.value)


def test_what_is_out_of_date_comes_from_the_ref_with_a_warning(bench: Bench) -> None:
    old = publish_all(bench, a="one")
    session = bench.session(demo_graph(a="changed"), "run-2")
    session.results.need([step(session, "join")])
    result, before = session.results.result(step(session, "join")), old.results.result(step(old, "join"))
    assert result is not None
    assert before is not None
    assert (result.key, result.generation, result.outputs) == (before.key, before.generation, before.outputs)
    (warning,) = session.results.warnings
    assert "join is out of date (join): using the results of run run-1" in warning
    assert "translations train en-ru --target join" in warning


def test_steps_of_a_stage_that_are_out_of_date_share_a_warning(bench: Bench) -> None:
    publish_all(bench, a="one", b="two")
    session = bench.session(demo_graph(a="changed", b="changed, too"), "run-2")
    for label in ("write-a", "write-b"):
        session.results.need([step(session, label)])
    (warning,) = session.results.warnings
    assert warning.startswith("texts is out of date (write-a, write-b): using the results of run run-1. ")


def test_many_stages_that_are_out_of_date_share_a_warning(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("translations_assets.running.session.MOST_OUTDATED", 1)
    publish_all(bench, a="one")
    session = bench.session(demo_graph(a="changed"), "run-2")
    session.results.warn("The store was away.")
    for label in ("join", "write-a"):
        session.results.need([step(session, label)])
    assert session.results.warnings == [
        "The store was away.",
        "2 stages are out of date (join, texts): using the results of run run-1. "
        "To renew them: translations train en-ru",
    ]


def test_what_a_run_has_made_is_not_replaced_by_what_a_ref_has(bench: Bench) -> None:
    """Of one stage the run made a step and needs another one, whose result is out of date."""
    publish_all(bench, a="one", b="two")
    session = bench.session(demo_graph(a="changed", b="changed, too"), "run-2")
    own = step(session, "write-a")
    Engine(bench.store, bench.runner).run(session, [own], bench.cancel, bench.events.append)
    made = session.results.result(own)
    session.results.need(session.graph.stages["texts"])
    assert made is not None
    assert session.results.result(own) is made
    other = session.results.result(step(session, "write-b"))
    assert other is not None
    assert other.manifest is None, "it comes from the ref"
    assert "texts is out of date (write-b): using the results of run run-1" in session.results.warnings[0]


def test_of_several_refs_the_newest_counts(bench: Bench) -> None:
    publish_all(bench, a="one")
    newest = publish_all(bench, "run-2", a="two")
    session = bench.session(demo_graph(a="three"), "run-3")
    session.results.need([step(session, "write-a")])
    found, expected = (
        session.results.result(step(session, "write-a")),
        newest.results.result(step(newest, "write-a")),
    )
    assert found is not None
    assert expected is not None
    assert found.key == expected.key


def test_refs_of_another_space_or_partition_do_not_count(bench: Bench) -> None:
    publish_all(bench, a="one")
    session = bench.session(demo_graph(a="changed"))
    for stranger in (replace(session, space="bob"), replace(session, partition="en-de")):
        with pytest.raises(UpstreamMissing):
            stranger.results.need([step(stranger, "join")])


def test_a_ref_that_lacks_a_step_is_refused(bench: Bench) -> None:
    publish_all(bench, a="one")
    session = bench.session(demo_graph(a="one", c="three"), "run-2")
    with pytest.raises(UpstreamMissing, match=r"its result of run run-1 lacks text\.txt") as caught:
        session.results.need(session.graph.stages["texts"])
    assert "translations train en-ru --target texts" in str(caught.value)


def test_a_ref_that_lacks_an_output_is_refused(bench: Bench) -> None:
    publish_all(bench, a="one")
    (ref,) = bench.store.refs("ann", "en-ru", "join")
    bench.store.add_ref(
        replace(ref, run="run-2", time=ref.time + 1, outputs={"join": {"other": Blob("0" * 64, 1)}})
    )
    session = bench.session(demo_graph(a="changed"), "run-3")
    with pytest.raises(UpstreamMissing, match=r"run run-2 lacks joined\.txt"):
        session.results.need([step(session, "join")])


def test_a_ref_whose_contents_are_lost_is_refused(bench: Bench) -> None:
    publish_all(bench, a="one")
    bench.lose("join")
    session = bench.session(demo_graph(a="changed"), "run-2")
    with pytest.raises(UpstreamMissing, match=r"lacks joined\.txt"):
        session.results.need([step(session, "join")])


def test_a_refused_ref_leaves_no_results(bench: Bench) -> None:
    publish_all(bench, a="one")
    session = bench.session(demo_graph(a="changed", c="three"), "run-2")
    with pytest.raises(UpstreamMissing):
        session.results.need(session.graph.stages["texts"])
    assert session.results.result(step(session, "write-a")) is None


def test_results_stay_findable_when_what_they_were_made_from_is_lost(bench: Bench) -> None:
    bench.make()
    for label in ("join", "write-a"):
        bench.lose(label)
    session = bench.session()
    session.results.need([step(session, "count")])
    assert session.results.result(step(session, "count")) is not None
    assert session.results.warnings == []


def test_lost_contents_themselves_are_not_found(bench: Bench) -> None:
    bench.make()
    bench.lose("join")
    session = bench.session()
    with pytest.raises(UpstreamMissing, match="^join is not made, or out of date"):
        session.results.need([step(session, "join")])


def test_publishing_appends_a_ref_with_keys_and_contents(bench: Bench) -> None:
    session = publish_all(bench)
    (ref,) = bench.store.refs("ann", "en-ru", "join")
    result = session.results.result(step(session, "join"))
    assert result is not None
    assert ref.steps == {"join": (result.key, 1)}
    assert ref.outputs == {"join": result.outputs}
    assert ref.run == "run-1"


def test_publishing_the_same_again_appends_nothing(bench: Bench) -> None:
    publish_all(bench)
    publish_all(bench, "run-2")
    assert [ref.run for ref in bench.store.refs("ann", "en-ru", "join")] == ["run-1"]


def test_publishing_something_else_appends_and_replaces_nothing(bench: Bench) -> None:
    publish_all(bench, a="one")
    publish_all(bench, "run-2", a="two")
    assert [ref.run for ref in bench.store.refs("ann", "en-ru", "join")] == ["run-2", "run-1"]


def test_going_back_to_an_earlier_result_is_published(bench: Bench) -> None:
    for run, word in (("run-1", "one"), ("run-2", "two"), ("run-3", "one")):
        publish_all(bench, run, a=word)
    assert [ref.run for ref in bench.store.refs("ann", "en-ru", "join")] == ["run-3", "run-2", "run-1"]


def test_a_run_that_ends_removes_what_dead_owners_left_of_all_its_steps(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.make()
    session, finished = bench.session(run="run-2"), list[tuple[str, int]]()
    bench.run(session)
    monkeypatch.setattr(bench.store.owners, "disown", finished.extend)
    session.end()
    results = [session.results.result(step) for step in session.graph.steps]
    assert {(result.key, result.generation) for result in results if result} == set(finished)
    assert len(finished) == len(results)


def test_what_a_run_uses_is_written_down_by_key_and_generation(bench: Bench) -> None:
    bench.make()
    session = bench.session(run="run-2")
    session.results.need([step(session, "join")])
    session.record.write()
    result = session.results.result(step(session, "join"))
    record = bench.store.read_run("run-2")
    assert result is not None
    assert record is not None
    assert record.uses == {"join": (result.key, 1)}
    assert (record.run, record.partition, record.space) == ("run-2", "en-ru", "ann")
    assert record.config == session.config.digest
    assert record.started is not None
    assert record.heartbeat >= record.started


def test_inputs_are_written_down_before_anything_is_made_from_them(bench: Bench) -> None:
    bench.make("texts")
    session, seen = bench.session(run="run-2"), []
    run = bench.runner.run

    def look_then_run(*arguments: object) -> object:
        seen.append(bench.store.read_run("run-2"))
        return run(*arguments)  # type: ignore[arg-type]

    bench.runner.run = look_then_run  # type: ignore[assignment,method-assign]
    bench.run(session, "join")
    (record,) = seen
    assert record is not None
    assert set(record.uses) == {"write-a", "write-b"}


# The run's record


def test_the_record_tells_what_was_asked_for_and_when_the_run_ended(bench: Bench) -> None:
    options = RunOptions(repair=True, overrides={"marian-args.training-student.after": "50u"})
    session = bench.session(options=options, stages=["texts", "join"])
    session.record.keep_alive()
    record = bench.store.read_run("run-1")
    assert record is not None
    assert (record.pair, record.stages) == (("en", "ru"), ("texts", "join"))
    assert record.options == options
    assert record.ended is None
    session.end()
    record = bench.store.read_run("run-1")
    assert record is not None
    assert record.ended is not None
    assert record.started is not None
    assert record.ended >= record.started


def test_commands_ask_a_shell_for_what_the_run_was_asked_for(bench: Bench) -> None:
    """Whatever stands in an override: each word reaches the command as it is."""
    overrides = {"experiment.name": 'it\'s a "b" $HOME', "datasets.train": ["a b", "c"]}
    session = bench.session(options=RunOptions(overrides=overrides))
    told = session.command("train", "--target", "train_teacher")
    program, verb, partition, *words = shlex.split(told)
    assert (program, verb, partition) == ("translations", "train", session.partition)
    assert words[:2] == ["--target", "train_teacher"]
    assert overrides_of([word.removeprefix("--set=") for word in words[2:]]) == overrides


@pytest.mark.parametrize("failures", [0, 1, 1000])
def test_a_run_that_lasts_renews_its_record(
    bench: Bench, failures: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = VirtualClock()
    session = bench.session(clock=clock)
    session.record.keep_alive()
    write, errors = bench.store.write_run, iter([ValueError("strange")] * failures)

    def fail(run: str, value: RunRecord) -> None:
        for error in errors:
            raise error
        write(run, value)

    monkeypatch.setattr(bench.store, "write_run", fail)
    began = clock.time()
    clock.run(10 * HEARTBEAT_SECONDS)
    record = bench.store.read_run("run-1")
    assert record is not None
    assert record.heartbeat - began == (0 if failures == 1000 else 10 * HEARTBEAT_SECONDS)
    assert len([line for line in caplog.records if "ValueError('strange')" in line.message]) == bool(failures)
    errors = iter(())
    session.end()
    clock.run(10 * HEARTBEAT_SECONDS)
    record = bench.store.read_run("run-1")
    assert record is not None
    assert record.ended == record.heartbeat == began + 10 * HEARTBEAT_SECONDS


def test_a_run_that_begins_while_the_store_is_away_shows_later_that_it_is_alive(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, write = VirtualClock(), bench.store.write_run
    session = bench.session(clock=clock)
    monkeypatch.setattr(bench.store, "write_run", Mock(side_effect=StoreUnreachable("away")))
    session.record.keep_alive()
    monkeypatch.setattr(bench.store, "write_run", write)
    clock.run(2 * HEARTBEAT_SECONDS)
    record = bench.store.read_run("run-1")
    assert record is not None
    assert record.heartbeat == clock.time()
    session.end()


def test_a_record_that_takes_long_to_write_holds_up_no_result(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.make()
    session, written, writing, go_on = bench.session(run="run-2"), list[Any](), Event(), Event()

    def write(run: str, value: RunRecord) -> None:
        written.append(value.uses)
        writing.set()
        assert go_on.wait(20)

    monkeypatch.setattr(bench.store, "write_run", write)
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(session.record.write)
        assert writing.wait(20)
        session.results.need([step(session, "join")])
        assert session.results.result(step(session, "join"))
        others = [pool.submit(session.record.write) for _ in range(3)]
        assert eventually(lambda: session.record._asked == 4)
        go_on.set()
        for future in (first, *others):
            future.result(20)
    assert [sorted(uses) for uses in written] == [[], ["join"]], "calls that wait share a write"


def test_a_record_is_rewritten_as_seldom_as_the_store_asks_for(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, times = VirtualClock(), list[float]()
    session = bench.session(clock=clock)
    monkeypatch.setattr(bench.store, "rewrite_seconds", 1.0, raising=False)
    monkeypatch.setattr(bench.store, "write_run", lambda *_: times.append(clock.now))
    session.record.keep_alive()
    session.record.write()
    clock.run(HEARTBEAT_SECONDS - 1.5)
    session.record.write()
    clock.run(1)
    session.end()
    assert [now - times[0] for now in times] == [0, 1, 59.5, 60.5, 61.5]


# Overrides


def test_a_run_with_overrides_has_refs_of_its_own(bench: Bench) -> None:
    session = bench.session(options=RunOptions(overrides={"experiment.seed": 2}))
    bench.run(session)
    session.results.publish("join")
    assert bench.store.refs("ann", "en-ru", "join") == []
    [ref] = bench.store.refs("ann", session.ref_partition, "join")
    assert session.ref_partition.startswith("en-ru@")
    assert ref.partition == session.ref_partition


def test_what_the_partition_was_is_not_what_it_is_with_overrides(bench: Bench) -> None:
    publish_all(bench, a="one")
    overrides = RunOptions(overrides={"x": 1})
    session = bench.session(demo_graph(a="changed"), "run-2", options=overrides)
    with pytest.raises(UpstreamMissing, match=r"train en-ru --target join --set=x=1"):
        session.results.need([step(session, "join")])
    bench.make(a="changed")  # by its key it is found, whoever made it
    session.results.need([step(session, "join")])
    assert session.results.warnings == []


def test_given_results_are_on_record_before_they_are_used(bench: Bench) -> None:
    made = bench.session()
    bench.run(made)
    found = made.results.result(step(made, "join"))
    assert found is not None
    assert found.manifest is not None
    session = bench.session(run="run-2")
    session.fixed = {step(session, "join"): found.manifest}
    session.record.keep_alive()
    record = bench.store.read_run("run-2")
    assert record is not None
    assert record.uses == {"join": (found.key, found.generation)}
    session.end()
