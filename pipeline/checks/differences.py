"""Compares a model's translations of a test set with those of others, by paired bootstrap resampling.

    python -m pipeline.checks.differences --model student --translations student.zst \\
        --others teacher-1 teacher-2 --others-translations teacher-1.zst teacher-2.zst --trg eo \\
        --references test.eo.zst --dataset flores_devtest --output numbers

writes numbers.json:

    dataset, lines, model
    signatures   by metric: sacreBLEU's, and that p-values are reckoned from centred differences
    others       by name and metric: the model's score, that of the other, and p_value, the probability of so
                 large a difference between models that are equally good

Scores, resamples and their seed are sacreBLEU's (`--paired-bs`), p-values are not: see `p_value`.

The metrics are BLEU, chrF and chrF++; with --spbleu-model spBLEU, too. Those that a model gives to each line
are compared with the files of those lines: COMET's (--comet-segments, of pipeline.eval.comet) and MetricX's
(--metricx24-segments and --metricx24-qe-segments, of pipeline.eval.metricx; lower is better).
"""

import argparse
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sacrebleu.metrics.base import Metric

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.eval.metrics import RESAMPLES, SEED, evaluation_metrics, line_counts
from pipeline.eval.spbleu import spbleu

log = logging.getLogger(__name__)

System = tuple[str, Sequence[str]]
Numbers = npt.NDArray[np.float64]

SCALES = {"comet": 100, "metricx24": 1, "metricx24_qe": 1}  # by which the lines' mean becomes a score
P_VALUES = "p:centred"  # in signatures: p-values are not those of sacreBLEU's `--paired-bs`


class Sampled(NamedTuple):
    """A system's score, and its scores of the resamples."""

    score: float
    resampled: Numbers


def main(argv: Sequence[str] | None = None) -> None:
    """Write numbers.json."""
    args = parse_arguments(argv)
    references = [*read_lines(args.references)]
    systems = _systems(args, [args.translations, *args.others_translations], len(references))
    metrics = evaluation_metrics(args.trg)
    if args.spbleu_model:
        metrics["spbleu"] = spbleu(args.spbleu_model)
    with staged(args.output) as (output, _):
        others, signatures = differences(systems, references, metrics)
        for metric, (model, files) in _of_lines(args).items():
            segments = _systems(args, files, len(references))
            scale = SCALES[metric]
            for name, difference in segment_differences(segments, scale).items():
                others[name][metric] = difference
            signatures[metric] = f"model:{model}|bs:{RESAMPLES}|seed:{SEED}|scale:{scale}|{P_VALUES}"
        about = {"dataset": args.dataset, "lines": len(references), "model": args.model}
        write_json(output / "numbers.json", {**about, "signatures": signatures, "others": others})
    log.info("%s on %s: %s", args.model, args.dataset, others)


def differences(
    systems: Sequence[System], references: Sequence[str], metrics: Mapping[str, Metric]
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """How the first system differs from each other one, by name and metric; signatures, by metric."""
    counts = resamples(len(references))
    others: dict[str, dict[str, Any]] = {name: {} for name, _ in systems[1:]}
    signatures: dict[str, str] = {}
    for metric, computing in metrics.items():
        sampled = [
            resampled(computing, statistics(computing, lines, references), counts) for _, lines in systems
        ]
        signature = computing.get_signature()
        signature.update("bs", len(counts))
        signature.update("seed", SEED)
        signatures[metric] = f"{signature}|{P_VALUES}"
        for other, found in zip(others.values(), sampled[1:], strict=True):
            other[metric] = _difference(sampled[0], found)
    return others, signatures


def _of_lines(args: argparse.Namespace) -> dict[str, tuple[str, list[Path]]]:
    """The metrics that a model gives to each line: the model's name, and files as in the arguments."""
    given = {
        "comet": (args.comet, args.comet_segments),
        "metricx24": (args.metricx, args.metricx24_segments),
        "metricx24_qe": (args.metricx, args.metricx24_qe_segments),
    }
    return {metric: (model, files) for metric, (model, files) in given.items() if files}


def segment_differences(systems: Sequence[System], scale: float) -> dict[str, dict[str, float]]:
    """How the means of what is given to lines, times `scale`, differ: the first system's and each other's."""
    segments = [np.array(list(map(float, values))) for _, values in systems]
    counts = resamples(len(segments[0]))
    model, *others = (line_means(values, counts, scale) for values in segments)
    return {name: _difference(model, other) for (name, _), other in zip(systems[1:], others, strict=True)}


def resamples(lines: int) -> Numbers:
    """How often each line stands in each resample, of shape (RESAMPLES, lines); sacreBLEU draws the same."""
    chosen = np.random.default_rng(SEED).choice(lines, size=(RESAMPLES, lines))
    return np.array([np.bincount(row, minlength=lines) for row in chosen], dtype=np.float64)


def statistics(metric: Metric, translations: Sequence[str], references: Sequence[str]) -> Numbers:
    """What a metric counts in each line, of shape (lines, counts); a corpus score is made of the sums."""
    return np.array(line_counts(metric, translations, references), dtype=np.float64)


def resampled(metric: Metric, counted: Numbers, counts: Numbers) -> Sampled:
    """A system's score and those of the resamples, given its `statistics` and the `resamples`."""
    score, *scores = (
        float(metric._compute_score_from_stats(sums).score)
        for sums in (counted.sum(axis=0), *(counts @ counted))
    )
    return Sampled(score, np.array(scores))


def line_means(segments: Numbers, counts: Numbers, scale: float) -> Sampled:
    """The same of the mean of what is given to each line, times `scale`."""
    return Sampled(scale * float(segments.mean()), scale * (counts @ segments) / len(segments))


def p_value(difference: float, sampled: Numbers) -> float:
    """The probability of a difference of this size between equally good systems, given those of resamples.

    The resamples' differences, with their signs, are moved so that their mean is none, as if the systems were
    equal; counted are those that are then at least as large as what was found. sacreBLEU drops the signs
    before it subtracts the mean: what is left is half as wide, or less, where the difference is small, and of
    equal systems 12 in 100 have p < 0.05.
    """
    larger = np.abs(sampled - sampled.mean()) >= abs(difference)
    return float((larger.sum() + 1) / (len(sampled) + 1))


def _difference(model: Sampled, other: Sampled) -> dict[str, float]:
    chance = p_value(other.score - model.score, other.resampled - model.resampled)
    return {"score": round(model.score, 4), "other": round(other.score, 4), "p_value": round(chance, 4)}


def _systems(args: argparse.Namespace, files: Sequence[Path], lines: int) -> list[System]:
    """The model and the others with the lines of their files."""
    names = [args.model, *args.others]
    return [(name, read_translations(file, lines)) for name, file in zip(names, files, strict=True)]


def read_translations(file: Path, lines: int) -> list[str]:
    """The translations of a test set's lines. Raises InputError where the file has more of them, or fewer."""
    translations = [*read_lines(file)]
    if len(translations) != lines:
        raise InputError(f"{file} has {len(translations):,} lines, and the references have {lines:,}.")
    return translations


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--model", required=True, help="what the model is called")
    add("--translations", required=True, type=Path, help="its translations of the test set")
    add("--others", required=True, nargs="+", help="what the others are called")
    add("--others-translations", required=True, nargs="+", type=Path, help="theirs, in the same order")
    add("--trg", required=True, help="target language; BLEU's words depend on it")
    add("--references", required=True, type=Path, help="the test set's reference translations")
    add("--dataset", required=True, help="name of the test set, for numbers.json")
    add("--spbleu-model", type=Path, help="FLORES-200's SentencePiece model")
    add("--comet", help="what COMET's model is called, for the signature")
    add("--metricx", help="what MetricX's model is called, for the signature")
    wanted = "its segments.zst: the model's, then those of the others"
    add("--comet-segments", nargs="+", type=Path, help=wanted)
    add("--metricx24-segments", nargs="+", type=Path, help=f"{wanted}; with references")
    add("--metricx24-qe-segments", nargs="+", type=Path, help=f"{wanted}; without")
    add("--output", required=True, type=Path, help="new folder for numbers.json")
    args = parser.parse_args(argv)
    if len(args.others) != len(args.others_translations):
        parser.error("--others and --others-translations must name equally many")
    for metric, (_, files) in _of_lines(args).items():
        if len(files) != 1 + len(args.others):
            parser.error(
                f"--{metric.replace('_', '-')}-segments must name one file for the model and for "
                "each of --others"
            )
    return args


if __name__ == "__main__":
    run(main)
