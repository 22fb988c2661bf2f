"""The metadata of a model card, by which the Hugging Face hub knows a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from translations_assets.config.datasets import Dataset
from translations_assets.config.providers.huggingface import HUB_MONO, HUB_PARALLEL
from translations_assets.report.facts import Report
from translations_assets.results.scores import METRICS

LIBRARY = "fxtranslate"  # by which a model card says how to translate
UNKNOWN = "unknown"  # the hub's name for the licence of a model that states none
ON_HUB = {HUB_MONO.name, HUB_PARALLEL.name}


def card_metadata(report: Report) -> dict[str, Any]:
    """Return the metadata block, of the hub's keys.

    What is empty is left out. The hub knows languages by ISO 639, without a script, and of the datasets only
    its own.
    """
    config = report.session.config
    languages = [one.iso639_1 or one.iso639_3 for one in (config.source, config.target)]
    scores = report.evaluations.get(report.shown_model, {})
    found = {
        "language": list(dict.fromkeys(filter(None, languages))),
        "license": config.experiment.licence or UNKNOWN,
        "library_name": LIBRARY,
        "pipeline_tag": "translation",
        "tags": ["translation", "marian", "bergamot"],
        "datasets": list(dict.fromkeys(_names_on_hub(report))),
        "metrics": list(dict.fromkeys(name for found in scores.values() for name in found.by_metric)),
        "model-index": _model_index(report),
    }
    return {key: value for key, value in found.items() if value}


def _names_on_hub(report: Report) -> Iterator[str]:
    """The repositories of the datasets that the models learned from, as far as the hub has them."""
    datasets = report.session.config.datasets
    used: tuple[Dataset, ...] = (
        *datasets.train,
        *datasets.finetune,
        *datasets.mono_src,
        *datasets.mono_trg,
    )
    for dataset in used:
        if dataset.provider in ON_HUB:
            yield dataset.name.partition(":")[0]


def _model_index(report: Report) -> list[dict[str, Any]]:
    """The scores of the model that users get; nothing before it is evaluated."""
    experiment = report.session.config.experiment
    results = [
        {
            "task": {"type": "translation", "name": f"Translation {experiment.src}-{experiment.trg}"},
            "dataset": {"name": dataset, "type": dataset},
            "metrics": [
                {"name": METRICS[name], "type": name, "value": round(found.score, 2)}
                for name, found in scores.by_metric.items()
            ],
        }
        for dataset, scores in report.evaluations.get(report.shown_model, {}).items()
        if scores.by_metric
    ]
    return [{"name": report.session.partition, "results": results}] if results else []
