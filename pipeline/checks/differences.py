"""Compares a model's translations of a test set with those of others, by paired bootstrap resampling.

    python -m pipeline.checks.differences --model student --translations student.zst \\
        --others teacher-1 teacher-2 --others-translations teacher-1.zst teacher-2.zst --trg eo \\
        --references test.eo.zst --dataset flores_devtest --output numbers

writes numbers.json:

    dataset, lines, model
    signatures   sacreBLEU's, by metric
    others       by name and metric: the model's score, that of the other, and p_value, the probability of so
                 large a difference between models that are equally good (sacreBLEU's `--paired-bs`)

The metrics are BLEU, chrF and chrF++; with --spbleu-model spBLEU, too, and with --comet-segments, what
pipeline.eval.comet has given to each line, COMET.
"""

import argparse
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sacrebleu.metrics.base import Metric
from sacrebleu.significance import PairedTest, Result

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.eval.comet import SEED
from pipeline.eval.metrics import RESAMPLES, evaluation_metrics
from pipeline.eval.spbleu import spbleu

log = logging.getLogger(__name__)

System = tuple[str, Sequence[str]]


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
        if args.comet_segments:
            segments = _systems(args, args.comet_segments, len(references))
            for name, difference in segment_differences(segments).items():
                others[name]["comet"] = difference
            signatures["comet"] = f"model:{args.comet}|bs:{RESAMPLES}|seed:{SEED}|scale:100"
        about = {"dataset": args.dataset, "lines": len(references), "model": args.model}
        write_json(output / "numbers.json", {**about, "signatures": signatures, "others": others})
    log.info("%s on %s: %s", args.model, args.dataset, others)


def differences(
    systems: list[System], references: Sequence[str], metrics: Mapping[str, Metric]
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """How the first system differs from each other one, by name and metric; signatures, by metric."""
    others: dict[str, dict[str, Any]] = {name: {} for name, _ in systems[1:]}
    signatures: dict[str, str] = {}
    for metric, computing in metrics.items():
        test = PairedTest(systems, {metric: computing}, [references], test_type="bs", n_samples=RESAMPLES)
        signed, found = test()
        ((name, signature),) = signed.items()
        signatures[metric] = str(signature)
        first, *rest = found[name]
        for other, result in zip(others.values(), rest, strict=True):
            other[metric] = _difference(first, result)
    return others, signatures


def segment_differences(systems: list[System]) -> dict[str, dict[str, float]]:
    """The same of 100 times the mean of what is given to each line, resampled as sacreBLEU does."""
    model, *others = (100 * np.array(list(map(float, segments))) for _, segments in systems)
    chosen = np.random.default_rng(SEED).choice(len(model), size=(RESAMPLES, len(model)))
    found = {}
    for (name, _), other in zip(systems[1:], others, strict=True):
        resampled = np.abs((other - model)[chosen].mean(axis=1))
        larger = resampled - resampled.mean() > abs(other.mean() - model.mean())
        p_value = (larger.sum() + 1) / (RESAMPLES + 1)
        found[name] = _difference(Result(model.mean()), Result(other.mean(), p_value))
    return found


def _difference(model: Any, other: Any) -> dict[str, float]:
    scores = {"score": round(float(model.score), 4), "other": round(float(other.score), 4)}
    # sacreBLEU finds the difference of a system from itself, which is none, significant.
    return {**scores, "p_value": 1.0 if model.score == other.score else round(float(other.p_value), 4)}


def _systems(args: argparse.Namespace, files: Sequence[Path], lines: int) -> list[System]:
    """The model and the others with the lines of their files."""
    names = [args.model, *args.others]
    return [(name, _read(file, lines)) for name, file in zip(names, files, strict=True)]


def _read(file: Path, lines: int) -> list[str]:
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
    add(
        "--comet-segments",
        nargs="+",
        type=Path,
        help="its segments.zst: the model's, then those of the others",
    )
    add("--output", required=True, type=Path, help="new folder for numbers.json")
    args = parser.parse_args(argv)
    if len(args.others) != len(args.others_translations):
        parser.error("--others and --others-translations must name equally many")
    if args.comet_segments and len(args.comet_segments) != 1 + len(args.others):
        parser.error("--comet-segments must name one file for the model and for each of --others")
    return args


if __name__ == "__main__":
    run(main)
