"""Looking up steps in a store that is far away: several at once, with the same answers."""

from __future__ import annotations

import threading

import pytest

from tests.memory_store import MemoryStore
from tests.running.conftest import Bench, demo_graph, graph_of, one_stage
from translations_assets.keys.key import KeyMaker
from translations_assets.records.manifest import Manifest
from translations_assets.running.plan import make_plan

LABELS = {"write-a": "a", "write-b": "b", "write-c": "c"}


class FarStore(MemoryStore):
    """Answers nobody before it is asked by three at once, when `together` is set."""

    together: threading.Barrier | None = None

    look_ups = 3

    def latest(self, key: str) -> Manifest | None:
        if self.together:
            self.together.wait(60)
        return super().latest(key)


@pytest.fixture
def far(bench: Bench) -> FarStore:
    bench.store = FarStore()
    return bench.store


def test_steps_that_do_not_need_each_other_are_looked_up_at_once(bench: Bench, far: FarStore) -> None:
    graph = graph_of(one_stage(LABELS))
    far.together = threading.Barrier(3)
    made = make_plan(graph.steps, KeyMaker(bench.root), far)
    assert [(planned.step.label, planned.status) for planned in made.steps] == [
        (label, "run") for label in LABELS
    ]


def test_the_engine_does_so_too_and_finds_what_is_there(bench: Bench, far: FarStore) -> None:
    graph = graph_of(one_stage(LABELS))
    bench.run(bench.session(graph))
    far.together = threading.Barrier(3)
    again = bench.run(bench.session(graph, run="run-2"))
    assert [(result.step.label, result.cached) for result in again] == [(label, True) for label in LABELS]
    assert sorted(bench.runner.ran) == list(LABELS)


def test_plans_are_those_of_a_store_at_hand(bench: Bench, far: FarStore) -> None:
    near = MemoryStore()
    bench.make("texts")
    for manifest in far.manifests():
        for blob in manifest.outputs.values():
            near.add_bytes(far.read_blob(blob))
        near.commit(manifest)
    steps = demo_graph().steps
    plans = [make_plan(steps, KeyMaker(bench.root), store) for store in (far, near)]
    assert plans[0].steps == plans[1].steps
    assert {planned.status for planned in plans[0].steps} == {"cached", "run", "maybe"}
