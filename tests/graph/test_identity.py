"""Steps of different graphs that are the same."""

from __future__ import annotations

from dataclasses import replace

from tests.stages.configs import DEMO, graph
from translations_assets.graph.identity import Identities


def test_the_same_config_has_the_same_steps_and_names_do_not_count() -> None:
    identities = Identities()
    one, two = (graph(text) for text in (DEMO, DEMO.replace("name: demo", "name: another")))
    assert [*map(identities.of, one.steps)] == [*map(identities.of, two.steps)]
    step = one.step("merge-corpus-en-eo")
    assert identities.of(replace(step, label="another", worker="gpu")) == identities.of(step)


def test_a_step_differs_by_all_that_decides_its_result_and_so_do_those_after_it() -> None:
    identities, plain = Identities(), graph(DEMO)
    seeds = graph(DEMO.replace("  student-model", "  seeds: {student: 7}\n  student-model"))
    known = {identities.of(step) for step in plain.steps}
    new = [step.label for step in seeds.steps if identities.of(step) not in known]
    assert {"train-student-en-eo", "quantize-en-eo", "export-en-eo"} <= {*new}
    assert not [label for label in new if "teacher" in label or "vocab" in label or "backwards" in label]
    step = plain.step("merge-corpus-en-eo")
    for changed in (
        replace(step, args={**step.args, "more": 1}),
        replace(step, script="pipeline.clean.other"),
        replace(step, inputs={**step.inputs, "more": plain.step("train-vocab-en-eo")["vocab.en.spm"]}),
        replace(step, outputs=(*step.outputs, "more")),
        replace(step, programs=("perl",)),
    ):
        assert identities.of(changed) != identities.of(step)


def test_steps_of_several_graphs_count_once() -> None:
    identities = Identities()
    other = DEMO.replace("student-model: base", "student-model: tiny")
    one, two = (graph(text).steps for text in (DEMO, other))
    first = [step for step, _ in identities.first((step, None) for step in (*one, *two))]
    different = {identities.of(step) for step in (*one, *two)}
    assert len(first) == len(different)
    shared = {identities.of(step) for step in one} & {identities.of(step) for step in two}
    assert identities.several([one, two]) == len(shared) < len(different)
