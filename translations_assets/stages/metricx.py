"""MetricX-24: its model, fetched and converted; and what it scores."""

from __future__ import annotations

from collections.abc import Sequence

from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import step
from translations_assets.graph.step import Output, RepoFile
from translations_assets.stages.continuation import DOWNLOAD_ATTEMPTS
from translations_assets.stages.handles import RESUMED_ATTEMPTS, Model

PIECES = "spiece.model"
CUDA = RepoFile("requirements/cuda.lock")
FILES = ("model.bin", "config.json", "source_vocabulary.json", "target_vocabulary.json", "source.spm")


def fetch_metricx(config: TrainingConfig, purpose: str) -> Model:
    """The converted model; `purpose` is part of the steps' labels. It is made once for all purposes."""
    given = config.metricx
    fetched = _fetch(f"fetch-metricx-{purpose}", given.model, given.revision)
    pieces = _fetch(f"fetch-metricx-pieces-{purpose}", given.pieces, given.pieces_revision, (PIECES,))
    converted = step(
        "pipeline.translate.convert_metricx",
        label=f"convert-metricx-{purpose}",
        inputs={"model": fetched, "pieces": pieces},
        outputs=(*FILES, "stats.json"),
        worker="large-cpu",
    )
    return converted.folder(*FILES)


def _fetch(label: str, model: str, revision: str, files: Sequence[str] = ()) -> Output:
    fetched = step(
        "pipeline.translate.fetch_hugging_face",
        label=label,
        args={"model": model, "revision": revision, "files": files or None},
        outputs=("model.tar", "stats.json"),
        attempts=DOWNLOAD_ATTEMPTS,
        secrets=("HF_TOKEN",),
    )
    return fetched["model.tar"]


def best_by_qe(label: str, model: Model, nbest: Output, text: Output) -> Output:
    """Of each line's list of n best the translation with the least error."""
    chosen = step(
        "pipeline.translate.best_by_qe",
        label=label,
        inputs={"model": model, "nbest": nbest, "text": text, "cuda_lock": CUDA},
        outputs=("best.zst", "stats.json"),
        worker="gpu",
        resumable=True,
        repeatable=False,  # the last digit of an error may differ
        attempts=RESUMED_ATTEMPTS,
    )
    return chosen["best.zst"]


def score_by_qe(label: str, model: Model, src: Output, trg: Output) -> Output:
    """The error of each pair, below zero."""
    scored = step(
        "pipeline.translate.score_qe",
        label=label,
        inputs={"model": model, "corpus_src": src, "corpus_trg": trg, "cuda_lock": CUDA},
        outputs=("scores.zst", "stats.json"),
        worker="gpu",
        resumable=True,
        repeatable=False,
        attempts=RESUMED_ATTEMPTS,
    )
    return scored["scores.zst"]
