"""Compares settings of a training, each tried with several seeds, with the first of them.

    python -m pipeline.checks.settings --settings settings.json --references test.eo.zst --trg eo \\
        --dataset flores_devtest --output numbers

settings.json is a list of `{"name": "0.0003", "translations": ["a.zst", "b.zst"]}`, a file for each seed, the
reference first. numbers.json has

    dataset, lines
    signatures  by metric: sacreBLEU's, and that p-values are reckoned from centred differences
    settings    by name and metric:
        scores      of each seed
        ci          of each seed: half of the confidence interval of 95 % by bootstrap resampling
        mean        of the scores
        spread      half of the confidence interval of 95 % of that mean, by Student's t; not with one seed
        difference  of the mean from the reference's mean
        p_value     of that difference by paired bootstrap resampling of the lines, the seeds as they are

Resamples, intervals and p-values are those of `pipeline.checks.differences` and sacreBLEU: with a seed each,
the numbers are the same as there. Chance has two parts. `p_value` tells whether other lines would have turned
the result; `spread` tells whether other seeds would have.
"""

import argparse
import json
import logging
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sacrebleu.metrics.base import Metric
from sacrebleu.significance import estimate_ci

from pipeline.checks.differences import (
    P_VALUES,
    Numbers,
    Sampled,
    p_value,
    read_translations,
    resampled,
    resamples,
    statistics,
)
from pipeline.common.lines import read_lines
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.eval.metrics import SEED, evaluation_metrics

log = logging.getLogger(__name__)

DIGITS = 9
# Of Student's distribution with 1, 2, … degrees of freedom: 97.5 % of it lies below
QUANTILES = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> None:
    """Write numbers.json."""
    args = _arguments(argv)
    references = [*read_lines(args.references)]
    settings = {
        one["name"]: [read_translations(Path(file), len(references)) for file in one["translations"]]
        for one in json.loads(args.settings.read_text(encoding="utf-8"))
    }
    with staged(args.output) as (output, _):
        found, signatures = compare(settings, references, evaluation_metrics(args.trg))
        about = {"dataset": args.dataset, "lines": len(references)}
        write_json(output / "numbers.json", {**about, "signatures": signatures, "settings": found})
    log.info("%s: %s", args.dataset, found)


def compare(
    settings: Mapping[str, Sequence[Sequence[str]]], references: Sequence[str], metrics: Mapping[str, Metric]
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """The numbers of each setting, by name and metric, of its translations by each seed; signatures, by
    metric. The first setting is the reference.
    """
    counts = resamples(len(references))
    found: dict[str, dict[str, Any]] = {name: {} for name in settings}
    signatures: dict[str, str] = {}
    for metric, computing in metrics.items():
        sampled = {
            name: [
                resampled(computing, statistics(computing, lines, references), counts)
                for lines in translations
            ]
            for name, translations in settings.items()
        }
        signature = computing.get_signature()
        signature.update("bs", len(counts))
        signature.update("seed", SEED)
        signatures[metric] = f"{signature}|{P_VALUES}"
        reference = next(iter(sampled.values()))
        for name, seeds in sampled.items():
            found[name][metric] = _numbers(seeds, reference)
    return found, signatures


def _numbers(seeds: Sequence[Sampled], reference: Sequence[Sampled]) -> dict[str, Any]:
    scores = [one.score for one in seeds]
    # rounded: the order of adding up is no difference
    difference = round(float(np.mean(scores) - np.mean([one.score for one in reference])), DIGITS)
    chance = p_value(difference, np.round(_mean(seeds) - _mean(reference), DIGITS))
    return {
        "scores": [round(score, 4) for score in scores],
        "ci": [round(float(estimate_ci(one.resampled)[1]), 4) for one in seeds],
        "mean": round(float(np.mean(scores)), 4),
        "difference": round(difference, 4),
        "p_value": round(chance, 4),
        **_spread(scores),
    }


def _mean(seeds: Sequence[Sampled]) -> Numbers:
    """The mean of the seeds' scores, of each resample."""
    mean: Numbers = np.mean([one.resampled for one in seeds], axis=0)
    return mean


def _spread(scores: Sequence[float]) -> dict[str, float]:
    """Half of the interval of 95 % of the mean of scores that differ by chance; nothing of one score."""
    if len(scores) < 2:
        return {}
    quantile = QUANTILES[min(len(scores) - 1, len(QUANTILES)) - 1]
    return {"spread": round(quantile * float(np.std(scores, ddof=1)) / math.sqrt(len(scores)), 4)}


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--settings", required=True, type=Path, help="JSON with the settings and their translations")
    add("--references", required=True, type=Path, help="the test set's reference translations")
    add("--trg", required=True, help="target language; BLEU's words depend on it")
    add("--dataset", required=True, help="name of the test set, for numbers.json")
    add("--output", required=True, type=Path, help="new folder for numbers.json")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
