"""Metrics that need a model: where the config names them, the models are fetched and evaluations scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from translations_assets.config.evaluation import SPBLEU_SHA256, SPBLEU_URL
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Output
from translations_assets.stages.continuation import DOWNLOAD_ATTEMPTS, url_secrets
from translations_assets.stages.handles import Evaluation, aliases

SCORES = "scores.json"


@dataclass(frozen=True)
class MetricModels:
    """The models of the metrics that the config names."""

    spbleu: Output | None = None
    comet: Output | None = None
    comet_vocab: Output | None = None


@stage(group="evaluation")
def metric_models(config: TrainingConfig) -> MetricModels:
    """The models of spBLEU and COMET, where the config names these metrics; all that evaluations download."""
    spbleu = comet = vocab = None
    if config.evaluation.spbleu:
        spbleu = _fetch("spbleu", SPBLEU_URL, SPBLEU_SHA256, "flores200.spm")
    if given := config.evaluation.comet:
        comet = _fetch("comet", given.url, given.sha256, f"model{PurePosixPath(given.url).suffix}")
        vocab = _fetch("comet-vocab", given.vocab_url, given.vocab_sha256, "vocab.spm")
    return MetricModels(spbleu, comet, vocab)


def _fetch(name: str, url: str, sha256: str, file: str) -> Output:
    fetched = step(
        "pipeline.eval.fetch_model",
        label=f"fetch-{name}",
        args={"url": url, "sha256": sha256, "name": file},
        outputs=(file,),
        attempts=DOWNLOAD_ATTEMPTS,
        secrets=url_secrets([url]),
    )
    return fetched[file]


def score(
    config: TrainingConfig, models: MetricModels, evaluations: Sequence[Evaluation]
) -> list[Evaluation]:
    """The evaluations; with steps that score their translations by the metrics that need a model."""
    for evaluation in evaluations:
        test, translations = evaluation.test, evaluation.translations
        name = f"{evaluation.model}-{test.short_name}-{config.pair}"
        if models.spbleu:
            step(
                "pipeline.eval.spbleu",
                label=f"spbleu-{name}",
                args={"dataset": test.name},
                inputs={"model": models.spbleu, "translations": translations, "corpus_trg": test.trg},
                outputs=(SCORES,),
                aliases=aliases([test]),
            )
        if models.comet and config.evaluation.comet:
            step(
                "pipeline.eval.comet",
                label=f"comet-{name}",
                args={"dataset": test.name, "name": config.evaluation.comet.name},
                inputs={
                    "model": models.comet,
                    "vocab": models.comet_vocab,
                    "translations": translations,
                    **test.sides,
                },
                outputs=(SCORES, "segments.zst"),
                worker="gpu",
                aliases=aliases([test]),
                repeatable=False,  # the last digit of a score may differ
            )
    return list(evaluations)
