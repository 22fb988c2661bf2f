"""Whose parameters an evaluation reads: those of what translates, and none of metrics."""

from __future__ import annotations

from tests.stages.configs import METRICS, graph
from translations_assets.graph.step import Step
from translations_assets.results.evaluations import makers, model_of, parameters_of

TEXT = f"""{METRICS}  metricx: [reference, qe]
final-evaluation: {{released: true, translators: [theirs, p, llm]}}
translators:
  theirs: {{marian: {{urls: ["https://example.com/a"]}}}}
  fox: {{firefox: {{}}}}
  llm: {{endpoint: {{model: big}}}}
  p: {{pivot: {{via: lt, first: theirs, second: fox}}}}
"""


def read_by(step: Step) -> set[str]:
    return {made.step.label for made in parameters_of(step)}


def test_an_evaluation_reads_what_translates_for_it_and_no_model_of_a_metric() -> None:
    found = graph(TEXT)
    assert read_by(found.step("evaluate-student-flores_devtest-en-ru")) == {"train-student-en-ru"}
    final = "final-evaluation-{}-flores_devtest-en-ru"
    assert read_by(found.step(final.format("theirs"))) == {"fetch-theirs-en-ru-1"}
    assert read_by(found.step(final.format("p"))) == {"fetch-theirs-en-lt-1"}  # Firefox's is packed
    assert read_by(found.step(final.format("llm"))) == set()
    assert read_by(found.step(final.format("exported"))) == set()  # the evaluation that translated has them


def test_what_makes_a_model_is_known_beside_metrics() -> None:
    labels = {step.label for steps in makers(graph(TEXT)).values() for step in steps}
    assert not [label for label in labels if "comet" in label or "metricx" in label or "language" in label]
    assert {"train-student-en-ru", "train-backwards-en-ru"} <= labels


def test_scores_of_metrics_belong_to_the_model_that_they_judge() -> None:
    found = graph(TEXT)
    for label, model in (
        ("metricx-qe-teacher-2-flores_devtest-en-ru", "teacher-2"),
        ("metricx-reference-student-flores_devtest-en-ru", "student"),
        ("metricx-qe-p-flores_devtest-en-ru", "p"),
        ("comet-teacher-1-flores_devtest-en-ru", "teacher-1"),
    ):
        assert model_of(found.step(label)) == model
