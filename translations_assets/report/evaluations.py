"""The scores of every model on every test set, as evaluations wrote them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from translations_assets.config.model_names import BACKWARDS, EXPORTED
from translations_assets.graph.step import Output, Step
from translations_assets.records.scores import differences_in, scores_in
from translations_assets.report.known import Documents, Known, documents
from translations_assets.results.files import METRICS, NUMBERS, SCORES
from translations_assets.running.session import Session

# Model → test set → metrics.json, with the scores of further metrics, and differences as `others`.
Evaluations: TypeAlias = "dict[str, dict[str, dict[str, Any]]]"

PARAMETERS = re.compile(r"model\..*(npz|bin)")
EVALUATING = ("evaluate_", "final_evaluation")
COMPARING = ("check_evaluate_", "check_final_evaluation")


def evaluation_steps(session: Session) -> list[Step]:
    """The steps that evaluate a model on a test set, or compare it with others."""
    return [step for step in session.graph.steps if step.stage.startswith((*EVALUATING, *COMPARING))]


def missing_evaluations(session: Session, results: Collection[str]) -> list[str]:
    """The labels of evaluations that are not among the results."""
    return [
        step.label
        for step in evaluation_steps(session)
        if METRICS in step.outputs and step.label not in results
    ]


def read_evaluations(session: Session, results: Mapping[str, Known], metrics: Documents) -> Evaluations:
    """The scores among some results, whose `metrics.json` were read."""
    found: Evaluations = {}
    for step, value in evaluations_in(metrics):
        found.setdefault(model_of(step), {}).setdefault(value["dataset"], value)
    for step, scores in evaluations_in(documents(session, results, SCORES)):
        if evaluation := found.get(model_of(step), {}).get(scores["dataset"]):
            evaluation |= scores_in(scores)
    for _, numbers in evaluations_in(documents(session, results, NUMBERS), COMPARING):
        if evaluation := found.get(numbers["model"], {}).get(numbers["dataset"]):
            evaluation.setdefault("others", {}).update(differences_in(numbers))
    return found


def parameters_of(step: Step) -> Iterator[Output]:
    """The files of parameters that an evaluation reads: two forms of one model, several of an ensemble."""
    return (made for _, _, made in step.input_outputs() if PARAMETERS.fullmatch(made.name))


def evaluations_in(
    found: Documents, stages: tuple[str, ...] = EVALUATING
) -> Iterator[tuple[Step, dict[str, Any]]]:
    """The documents of stages whose names begin so, with the config's names of datasets."""
    for step, value in found:
        if step.stage.startswith(stages):
            yield step, {**value, "dataset": step.aliases.get(str(step.args["dataset"]), value["dataset"])}


def model_of(step: Step) -> str:
    """The model that an evaluation evaluates, or scores by one more metric."""
    if step.stage == "final_evaluation" and step.script != "pipeline.eval.final":
        return next(model_of(made.step) for name, _, made in step.input_outputs() if name == "translations")
    return name_of_model(step.stage, step.label, step.args)


def name_of_model(stage: str, label: str, args: Mapping[str, Any]) -> str:
    """The model that an evaluation evaluates: `evaluate_teacher` of the second teacher → teacher-2."""
    if stage == "final_evaluation":
        return str(args.get("name", ""))
    teacher = re.match(r"[a-z]+-(teacher-\d+)-", label)
    return teacher[1] if teacher else stage.removeprefix("evaluate_").replace("_", "-")


def shown_model(models: Iterable[str]) -> str:
    """The one that users get, else the last in the order of the graph; "" where none translates forwards."""
    forwards = [model for model in models if model != BACKWARDS]
    return EXPORTED if EXPORTED in forwards else next(iter(forwards[::-1]), "")
