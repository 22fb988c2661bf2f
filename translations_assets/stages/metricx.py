"""MetricX-24: its model, fetched and converted; and what it scores."""

from __future__ import annotations

from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import step
from translations_assets.graph.step import Output
from translations_assets.stages.handles import CUDA, RESUMED_ATTEMPTS, Model
from translations_assets.stages.hub import fetch_from_hub

PIECES = "spiece.model"
FILES = ("model.bin", "config.json", "source_vocabulary.json", "target_vocabulary.json", "source.spm")


def metricx_name(config: TrainingConfig) -> str:
    """The model and its revision, for signatures."""
    return f"{config.metricx.model}@{config.metricx.revision[:7]}"


def fetch_metricx(config: TrainingConfig, purpose: str) -> Model:
    """The converted model; `purpose` is part of the steps' labels. It is made once for all purposes."""
    given = config.metricx
    fetched = fetch_from_hub(f"fetch-metricx-{purpose}", given.model, given.revision)
    pieces = fetch_from_hub(f"fetch-metricx-pieces-{purpose}", given.pieces, given.pieces_revision, (PIECES,))
    converted = step(
        "pipeline.translate.convert_metricx",
        label=f"convert-metricx-{purpose}",
        inputs={"model": fetched, "pieces": pieces},
        outputs=(*FILES, "stats.json"),
        worker="large-cpu",
    )
    return converted.folder(*FILES)


def best_by_qe(label: str, model: Model, nbest: Output, text: Output) -> Output:
    """Of each line's list of n best the translation with the least error."""
    return _estimated("pipeline.translate.best_by_qe", label, "best.zst", model, nbest=nbest, text=text)


def score_by_qe(label: str, model: Model, src: Output, trg: Output) -> Output:
    """The error of each pair, below zero."""
    return _estimated(
        "pipeline.translate.score_qe", label, "scores.zst", model, corpus_src=src, corpus_trg=trg
    )


def _estimated(script: str, label: str, output: str, model: Model, **texts: Output) -> Output:
    made = step(
        script,
        label=label,
        inputs={"model": model, **texts, "cuda_lock": CUDA},
        outputs=(output, "stats.json"),
        worker="gpu",
        resumable=True,
        repeatable=False,  # the last digit of an error may differ
        attempts=RESUMED_ATTEMPTS,
    )
    return made[output]
