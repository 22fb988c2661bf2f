"""The scores of every model on every test set."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from translations_assets.config.model_names import BACKWARDS, EXPORTED
from translations_assets.config.stage_names import resolve_stage
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Output, Step
from translations_assets.results.files import METRICS, read_comparison, read_markup, read_scores
from translations_assets.results.known import KnownResult, read_each
from translations_assets.results.markup import MarkupScores
from translations_assets.results.scores import Scores
from translations_assets.running.session import Session

# Model → test set → its scores
Evaluations: TypeAlias = "dict[str, dict[str, Scores]]"

FINAL = "final_evaluation"
MARKUP = "pipeline.checks.markup"  # the script
MODELS = ("model", "models", "exported")  # inputs of scripts that translate
PARAMETERS = re.compile(r"model\..*(npz|bin)")


def evaluates(stage: str) -> bool:
    """True if the steps of a stage evaluate models: one that `evaluate` means, or the final evaluation."""
    return stage in (*resolve_stage("evaluate"), FINAL)


def compares(graph: Graph, stage: str) -> bool:
    """True if the steps of a stage compare an evaluation with others, for gates."""
    return evaluates(graph.checks.get(stage, ""))


def evaluation_steps(session: Session) -> list[Step]:
    """The steps that evaluate a model on a test set, or compare it with others."""
    graph = session.graph
    return [step for step in graph.steps if evaluates(step.stage) or compares(graph, step.stage)]


def missing_evaluations(session: Session, results: Collection[str]) -> list[str]:
    """The labels of evaluations that are not among the results."""
    return [
        step.label
        for step in evaluation_steps(session)
        if METRICS in step.outputs and step.label not in results
    ]


def read_evaluations(
    session: Session, results: Mapping[str, KnownResult], metrics: Mapping[Step, object]
) -> Evaluations:
    """The scores among some results, of which `metrics` are read, with further metrics and comparisons."""
    found: Evaluations = {}
    for step, scores in evaluations_in(metrics):
        found.setdefault(model_of(step), {}).setdefault(scores.dataset, scores)
    for step, further in evaluations_in(read_each(session, results, read_scores)):
        tests = found.get(model_of(step), {})
        if further.dataset in tests:
            tests[further.dataset] = tests[further.dataset].with_metrics(further)
    comparing = {
        label: known for label, known in results.items() if compares(session.graph, known.step.stage)
    }
    for step, comparison in read_each(session, comparing, read_comparison).items():
        tests, dataset = found.get(comparison.model, {}), called(step, comparison.dataset)
        if dataset in tests:
            tests[dataset] = tests[dataset].with_others(comparison)
    return found


def markup_steps(session: Session) -> list[Step]:
    """The step that translates HTML, if there is one."""
    return [step for step in session.graph.steps if step.script == MARKUP]


def read_markup_scores(session: Session, results: Mapping[str, KnownResult]) -> MarkupScores | None:
    """What becomes of HTML in translation by the exported student; None while that is not known."""
    tried = {label: known for label, known in results.items() if known.step.script == MARKUP}
    return next(iter(read_each(session, tried, read_markup).values()), None)


def parameters_of(step: Step) -> Iterator[Output]:
    """The files of parameters that an evaluation, or what translates for it, reads: two forms of one model,
    several of an ensemble or of a pivot. Those of metrics and of language identification do not count.
    """
    for name, _, made in step.input_outputs():
        if name in MODELS and PARAMETERS.fullmatch(made.name):
            yield made
        elif made.step.stage == step.stage:
            yield from parameters_of(made.step)


def makers(graph: Graph) -> dict[str, list[Step]]:
    """Model → the steps that leave its parameters; without those that it is compared with."""
    found: dict[str, dict[Step, None]] = {}
    for step in graph.steps:
        if step.stage in resolve_stage("evaluate") and METRICS in step.outputs:
            for made in parameters_of(step):
                found.setdefault(model_of(step), {})[made.step] = None
    return {model: list(steps) for model, steps in found.items()}


def model_sizes(results: Mapping[str, KnownResult]) -> dict[str, int]:
    """Model → bytes of the files of parameters that its evaluations read; of two forms of one the larger."""
    found: dict[str, dict[str, int]] = {}
    for step, _ in results.values():
        if evaluates(step.stage) and METRICS in step.outputs:
            for made in parameters_of(step):
                if known := results.get(made.step.label):
                    sizes = found.setdefault(model_of(step), {})
                    size = known.manifest.outputs[made.name].size
                    sizes[made.step.label] = max(size, sizes.get(made.step.label, 0))
    return {model: sum(sizes.values()) for model, sizes in found.items()}


def evaluations_in(found: Mapping[Step, object]) -> Iterator[tuple[Step, Scores]]:
    """The scores of steps that evaluate, with the config's names of test sets."""
    for step, value in found.items():
        if isinstance(value, Scores) and evaluates(step.stage):
            yield step, replace(value, dataset=called(step, value.dataset))


def called(step: Step, dataset: str) -> str:
    """Return what the config calls a test set."""
    return step.aliases.get(str(step.args["dataset"]), dataset)


def model_of(step: Step) -> str:
    """The model that an evaluation evaluates, or scores by one more metric."""
    if step.stage == FINAL and step.script != "pipeline.eval.final":
        return next(model_of(made.step) for name, _, made in step.input_outputs() if name == "translations")
    return name_of_model(step.stage, step.label, step.args)


def name_of_model(stage: str, label: str, args: Mapping[str, Any]) -> str:
    """The model that an evaluation evaluates: `evaluate_teacher` of the second teacher → teacher-2."""
    if stage == FINAL:
        return str(args.get("name", ""))
    teacher = re.match(r"(?:[a-z]+-)+?(teacher-\d+)-", label)
    return teacher[1] if teacher else stage.removeprefix("evaluate_").replace("_", "-")


def shown_model(models: Iterable[str]) -> str:
    """The one that users get, else the last in the order of the graph; "" where none translates forwards."""
    forwards = [model for model in models if model != BACKWARDS]
    return EXPORTED if EXPORTED in forwards else next(iter(forwards[::-1]), "")
