"""Stages: pure functions from a training config to steps; `STAGES` is all of them, by name."""

from collections.abc import Collection

from translations_assets.common.errors import GraphError
from translations_assets.config.stage_names import stage_names
from translations_assets.graph.stage import Stage, stage_order
from translations_assets.stages import (
    alignments,
    cleaning,
    corpus,
    final_evaluation,
    finetuning,
    metrics,
    quality,
    release,
    training,
    translation,
    translators,
)

_MODULES = (
    *(corpus, cleaning, finetuning, training, translators, alignments, translation),
    *(metrics, release, final_evaluation, quality),
)

_FUNCTIONS = {
    value.name: value for module in _MODULES for value in vars(module).values() if isinstance(value, Stage)
}
if unnamed := sorted(_FUNCTIONS.keys() ^ {*stage_names()}):
    raise GraphError(
        f"{', '.join(unnamed)}: a stage has a function in stages/ and its name in config/stage_names.json."
    )
STAGES: dict[str, Stage] = {name: _FUNCTIONS[name] for name in stage_names()}
# Those that become assets; the others become asset checks.
ASSETS: dict[str, Stage] = {name: stage for name, stage in STAGES.items() if not stage.checks}


def last_asset(stages: Collection[str]) -> str:
    """The last asset, in the order in which they are made, of some stages; empty for all of them, or none."""
    made = [stage for stage in stage_order(STAGES) if stage in ASSETS and stage in stages]
    return made[-1] if made and len(made) < len(ASSETS) else ""
