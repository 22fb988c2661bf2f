"""The models of a training config that `translate` can decode with, by their names in results."""

from __future__ import annotations

import difflib

from translations_assets.common.errors import TranslationsError
from translations_assets.config.model_names import (
    BACKWARDS,
    ENSEMBLE,
    FINETUNED,
    QUANTIZED,
    STUDENT,
    teacher,
)
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Step


def _models_of(graph: Graph) -> dict[str, list[Step]]:
    """Map each model's name to the steps that make it, several for an ensemble."""
    teachers = _makers(graph, "train_teacher")
    models = {
        BACKWARDS: _makers(graph, "train_backwards"),
        **{teacher(number): [maker] for number, maker in enumerate(teachers, start=1)},
        ENSEMBLE: teachers if len(teachers) > 1 else [],
        STUDENT: _makers(graph, "train_student"),
        FINETUNED: _makers(graph, "finetune_student"),
        QUANTIZED: _makers(graph, "quantize"),
    }
    return {name: makers for name, makers in models.items() if makers}


def teachers_of(graph: Graph) -> tuple[str, list[Step]]:
    """The name of the teacher, or of all together, and the steps that make them; none where there is none."""
    makers = _makers(graph, "train_teacher")
    return (ENSEMBLE if len(makers) > 1 else teacher(1)), makers


def makers_of(graph: Graph, name: str) -> list[Step]:
    """The steps that make the model of a name; TranslationsError when there is no such model."""
    models = _models_of(graph)
    if name in models:
        return models[name]
    near = difflib.get_close_matches(name, models, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise TranslationsError(
        f"The training config has no model {name!r} that translates.{hint} It has {', '.join(models)}."
    )


def _makers(graph: Graph, stage: str) -> list[Step]:
    """The steps of a stage that make its models; the others fetch what these begin with."""
    steps = graph.stages[stage]
    begun_with = {up for step in steps for up in step.upstream()}
    return [step for step in steps if step not in begun_with]
