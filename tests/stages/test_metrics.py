"""Metrics that need a model, in the graph where the config names them."""

from __future__ import annotations

import pytest

from tests.stages.configs import FULL, METRICS, files, graph, labels
from translations_assets.graph.step import Step
from translations_assets.stages import STAGES

EVALUATIONS = [name for name in STAGES if name.startswith("evaluate_")]


def evaluations(text: str, script: str) -> list[Step]:
    stages = graph(text).stages
    return [step for name in EVALUATIONS for step in stages[name] if step.script == f"pipeline.eval.{script}"]


def test_without_them_nothing_is_fetched_and_no_evaluation_differs() -> None:
    """So that turning them on decodes nothing again."""
    plain, scored = graph(FULL), graph(METRICS)
    assert plain.stages["metric_models"] == ()
    for script in ("evaluate", "exported"):
        for before, after in zip(evaluations(FULL, script), evaluations(METRICS, script), strict=True):
            assert (before.label, before.args) == (after.label, after.args)
            assert before.inputs.keys() == after.inputs.keys()
    added = {step.script for step in scored.steps} - {step.script for step in plain.steps}
    assert added == {"pipeline.eval.fetch_model", "pipeline.eval.spbleu", "pipeline.eval.comet"}


def test_only_their_models_come_from_the_network() -> None:
    steps = graph(METRICS).stages["metric_models"]
    assert labels(steps) == ["fetch-spbleu", "fetch-comet", "fetch-comet-vocab"]
    assert [step.outputs for step in steps] == [("flores200.spm",), ("model.bin",), ("vocab.spm",)]
    assert steps[1].secrets == ("HF_TOKEN",)
    assert all(len(str(step.args["sha256"])) == 64 for step in steps)


@pytest.mark.parametrize("script", ["spbleu", "comet"])
def test_every_evaluation_is_scored_by_them(script: str) -> None:
    decoded = [*evaluations(METRICS, "evaluate"), *evaluations(METRICS, "exported")]
    scored = evaluations(METRICS, script)
    named = [step.label.removeprefix("evaluate-") for step in decoded]
    assert sorted(labels(scored)) == sorted(f"{script}-{name}" for name in named)
    backwards = next(step for step in scored if "backwards-flores_devtest" in step.label)
    assert files(backwards, "corpus_trg") == ["dataset-test-flores_devtest-en-ru:corpus.en.zst"]
    assert files(backwards, "translations") == ["evaluate-backwards-flores_devtest-en-ru:translations.zst"]
