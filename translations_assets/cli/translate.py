"""`translations translate`: standard input through a trained model to standard output."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from translations_assets.cli.common import Partition, Set, reading_session, results_of
from translations_assets.errors import TranslationsError
from translations_assets.project import this_project
from translations_assets.stages.handles import MODEL_FILES, QUANTIZED_FILES

if TYPE_CHECKING:
    from translations_assets.graph.step import Step
    from translations_assets.running.protocols import Store
    from translations_assets.running.session import Result


class ModelName(StrEnum):
    """The models that a config trains."""

    backwards = "backwards"
    teacher = "teacher"
    student = "student"
    finetuned = "finetuned"
    quantized = "quantized"


STAGE_OF = {
    ModelName.backwards: "train_backwards",
    ModelName.teacher: "train_teacher",
    ModelName.student: "train_student",
    ModelName.finetuned: "finetune_student",
    ModelName.quantized: "quantize",
}


def command(
    partition: Partition,
    model: Annotated[
        ModelName,
        typer.Option(help="quantized is the student as users run it; teacher is the whole ensemble."),
    ] = ModelName.quantized,
    overrides: Set = None,
) -> None:
    """Translate standard input, a sentence a line, to standard output."""
    session = reading_session(this_project(), partition, overrides)
    steps = _makers(session.graph.stages[STAGE_OF[model]])
    if not steps:
        raise TranslationsError(f"The training config has no {model.value} model; give another --model.")
    results = results_of(session, steps)
    with tempfile.TemporaryDirectory() as folder:
        models = [
            _place(session.store, result, step.stage, Path(folder) / str(number))
            for number, (step, result) in enumerate(zip(steps, results, strict=True))
        ]
        script = [sys.executable, "-m", "pipeline.translate.stream", "--models", *map(str, models)]
        raise typer.Exit(subprocess.run(script, check=False).returncode)


def _makers(steps: Sequence[Step]) -> list[Step]:
    """The steps of a stage that make its models, and not what others of them begin with."""
    begun_with = {up for step in steps for up in step.upstream()}
    return [step for step in steps if step not in begun_with]


def _place(store: Store, result: Result, stage: str, folder: Path) -> Path:
    folder.mkdir()
    for name in QUANTIZED_FILES if stage == "quantize" else MODEL_FILES:
        store.place_blob(result.outputs[name], folder / name)
    return folder
