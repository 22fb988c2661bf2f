"""The config section `finetuning`: how models are trained at their end on the text of `datasets.finetune`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from translations_assets.config.cleaning import Threshold
from translations_assets.config.section import FROM_LIST, Section, default
from translations_assets.config.yaml_reader import Found, at

SECTION = "finetuning"
DATASETS = ("datasets", "finetune")
STUDENT = ("continuation", "models", "student")
Finetuned: TypeAlias = Literal["teacher", "student"]
Models: TypeAlias = Annotated[tuple[Finetuned, ...], FROM_LIST, "list of `teacher`, `student`"]


class Finetuning(Section):
    """Training on `datasets.finetune`, a small and better text, at the end of a model's training.

    Options of that training are `marian-args.training-on-finetune`.
    """

    models: Models = default(("student",), "the models that are trained on it")
    old_text: Annotated[float, Field(ge=0, lt=1)] = default(
        0.5, "share of the text that the model was trained on before, against forgetting"
    )
    bicleaner_threshold: Threshold = default(
        0.0, "score of Bicleaner-AI that its pairs must exceed; 0 keeps all that rules do not reject"
    )


def check_finetuning(config: Mapping[str, Any]) -> Found:
    """The key path and message of every problem with text to finetune on, in a config as it was read."""
    models = at(config, (SECTION, "models"))
    given = at(config, DATASETS)
    defaults = Finetuning().model_dump(mode="json", by_alias=True)  # a run's record has these
    if at(config, (SECTION,)) not in (None, defaults) and not given:
        yield (SECTION,), "needs datasets.finetune, the text to train on"
    if given and isinstance(models, list) and "teacher" in models and not _trains_teachers(config):
        yield (SECTION, "models"), "no teacher is trained here; leave `teacher` out"
    if at(config, (*STUDENT, "mode")) == "use" and at(config, ("datasets", "train")):
        yield (
            (*STUDENT, "mode"),
            "no student is trained from datasets.train with `use`; remove those, or write `init`",
        )


def finetuned_in(config: Mapping[str, Any]) -> Sequence[object]:
    """The models that are trained on text to finetune on, in a config as it was read."""
    models = at(config, (SECTION, "models"))
    given = Finetuning.model_fields["models"].default if models is None else models
    return given if at(config, DATASETS) and isinstance(given, list | tuple) else ()


def _trains_teachers(config: Mapping[str, Any]) -> bool:
    return not (
        at(config, ("experiment", "teacher"))
        or at(config, ("continuation", "corpora", "distillation"))
        or at(config, ("continuation", "models", "teacher", "mode")) == "use"
        or not (at(config, ("datasets", "train")) or at(config, ("continuation", "corpora", "parallel")))
    )
