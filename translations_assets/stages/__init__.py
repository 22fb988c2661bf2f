"""Stages: pure functions from a training config to steps; `STAGES` is all of them, by name."""

from translations_assets.graph.stage import Stage
from translations_assets.stages import (
    back_translation,
    classifying,
    corpus,
    distillation,
    evaluation,
    quality,
    release,
    student,
    teacher,
    vocabulary,
)

_MODULES = (
    corpus,
    classifying,
    vocabulary,
    back_translation,
    teacher,
    distillation,
    student,
    release,
    evaluation,
    quality,
)

STAGES: dict[str, Stage] = {
    value.name: value for module in _MODULES for value in vars(module).values() if isinstance(value, Stage)
}
# Those that become assets; the others become asset checks.
ASSETS: dict[str, Stage] = {name: stage for name, stage in STAGES.items() if not stage.checks}
