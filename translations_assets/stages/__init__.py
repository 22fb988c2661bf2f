"""Stages: pure functions from a training config to steps; `STAGES` is all of them, by name."""

from translations_assets.config import stage_names
from translations_assets.graph.stage import Stage
from translations_assets.stages import (
    alignments,
    cleaning,
    corpus,
    final_evaluation,
    metrics,
    quality,
    release,
    training,
    translation,
)

_MODULES = (
    *(corpus, cleaning, training, alignments, translation),
    *(metrics, release, final_evaluation, quality),
)

STAGES: dict[str, Stage] = {
    value.name: value for module in _MODULES for value in vars(module).values() if isinstance(value, Stage)
}
stage_names.register({name: stage.formerly for name, stage in STAGES.items()})
# Those that become assets; the others become asset checks.
ASSETS: dict[str, Stage] = {name: stage for name, stage in STAGES.items() if not stage.checks}
