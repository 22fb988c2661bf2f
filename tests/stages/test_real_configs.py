"""The graphs of upstream's real configs, where they are at hand: all can be launched."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.config.test_real_configs import ALL, needs_upstream
from tests.memory_store import MemoryStore
from tests.stages.configs import shown_steps
from translations_assets.config.load import load_config
from translations_assets.graph.graph import Graph
from translations_assets.graph.stage import build_graph
from translations_assets.keys.key import KeyMaker
from translations_assets.running.plan import make_plan
from translations_assets.stages import STAGES

pytestmark = needs_upstream

ROOT = Path(__file__).resolve().parents[2]
FETCHED = {
    "cjk--en-ja-cjk": {"fetch-backwards-en-ja": "train_backwards"},
    "iberian--glen-init-esen": {
        "fetch-vocab-gl-en": "train_vocab",
        "fetch-teacher-gl-en-1": "train_teacher",
    },
    "redistill--en-ru-retrain_base-memory": {
        "fetch-vocab-en-ru": "train_vocab",
        "fetch-distillation-en-ru": "cefilter",
    },
    "short-sentences--en-ca-short-sentences": {"fetch-backwards-en-ca": "train_backwards"},
    "spring-2024--en-ru-spring-2024": {"fetch-backwards-en-ru": "train_backwards"},
    "taskcluster--config.prod": {"fetch-backwards-en-ru": "train_backwards"},
}


@cache
def graph_of(path: Path) -> Graph:
    return build_graph(load_config(path), STAGES)


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_every_config_is_planned_and_fetches_what_it_continues(path: Path) -> None:
    graph = graph_of(path)
    plan = make_plan(graph.steps, KeyMaker(ROOT), MemoryStore())
    assert {planned.status for planned in plan.steps} == {"run", "maybe"}
    fetched = {step.label: step.stage for step in graph.steps if "pipeline.continuation." in step.script}
    assert fetched == FETCHED.get(path.stem, {})


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_nothing_is_planned_that_an_export_or_a_judgement_does_not_need(path: Path) -> None:
    """Steps that a continuation removes leave no step behind that only they had used."""
    graph = graph_of(path)
    needless = set(graph.steps) - set(graph.step_closure(shown_steps(graph)))
    assert {step.label for step in needless} == set()


def test_a_backwards_model_that_is_used_is_not_trained() -> None:
    for path in ALL:
        graph = graph_of(path)
        scripts = {step.script for step in graph.stages["train_backwards"]}
        if "fetch-backwards" in str(FETCHED.get(path.stem)):
            assert scripts == {"pipeline.continuation.model"}
            assert graph.stages["evaluate_backwards"]
        elif not path.stem.startswith("redistill"):
            assert scripts == {"pipeline.train.train", "pipeline.train.training_pairs"}


def test_a_redistillation_makes_the_student_alone() -> None:
    graph = graph_of(next(path for path in ALL if path.stem.startswith("redistill")))
    models = [step.label for step in graph.steps if step.script == "pipeline.train.train"]
    assert models == ["train-student-en-ru", "finetune-student-en-ru"]
    assert not any(step.label.startswith(("merge-corpus", "dataset-train")) for step in graph.steps)
