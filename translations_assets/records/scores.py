"""The scores in a `metrics.json` or `scores.json` of `pipeline.eval`, and how people call the metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PARAGRAPHS = " (paragraphs)"  # after the name of a test set
METRICS: Mapping[str, str] = {
    "bleu": "BLEU",
    "chrf": "chrF",
    "chrfpp": "chrF++",
    "spbleu": "spBLEU",
    "comet": "COMET",
}


def scores_in(evaluation: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Metric → its score, signature and confidence interval (`ci`, half its width), as far as there are."""
    return {metric: evaluation[metric] for metric in METRICS if metric in evaluation}


def shown(score: Mapping[str, Any]) -> str:
    """A score and half its confidence interval of 95 %, for people: `58.2 ± 0.6`."""
    return f"{score['score']:.1f}" + (f" ± {score['ci']:.1f}" if "ci" in score else "")


def differences_in(numbers: Mapping[str, Any]) -> dict[str, dict[str, dict[str, float]]]:
    """Other model → metric → how much higher the model's score is, and `p_value`, that of chance alone."""
    return {
        name: {
            metric: {"difference": round(found["score"] - found["other"], 4), "p_value": found["p_value"]}
            for metric, found in by_metric.items()
        }
        for name, by_metric in numbers["others"].items()
    }
