"""Scores translations by MetricX-24 (Juraska et al. 2024), a model that estimates their errors.

    python -m pipeline.eval.metricx --model converted --name google/metricx-24-hybrid-large-v2p6@febb720 \\
        --form reference --translations translations.zst --corpus-src test.en.zst \\
        --corpus-trg test.eo.zst --dataset flores_devtest --output scores

writes segments.zst, the error of each line, 0 to 25, and scores.json, as metrics.json of
pipeline.eval.evaluate: the mean of all lines, with a confidence interval by bootstrap resampling; lower is
better. With `--form qe` it does without the reference. The model is what pipeline.translate.convert_metricx
has written; the signature names it. With --results there are files in Mozilla's layout as well
(pipeline.eval.results).
"""

import argparse
import logging
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines, zip_lines
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.eval.comet import resampled_mean
from pipeline.eval.metrics import RESAMPLES, SEED
from pipeline.eval.results import write_metric
from pipeline.translate.metricx import MetricX

# In results and in Mozilla's, by form
NAMES = {"reference": ("metricx24", "metricx24"), "qe": ("metricx24_qe", "metricx24-qe")}

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the files named above."""
    args = _parser().parse_args(argv)
    rows = [*zip_lines(args.corpus_src, args.translations, args.corpus_trg)]
    if not rows:
        raise InputError(f"{args.translations} is empty. There is nothing to evaluate.")
    name, mozillas = NAMES[args.form]
    with staged(args.output) as (output, _):
        metricx = MetricX(args.model, args.cuda_lock)
        segments = [
            round(error, 6)
            for error in metricx.errors(
                (source, made, reference) if args.form == "reference" else (source, made)
                for source, made, reference in rows
            )
        ]
        write_lines(output / "segments.zst", map(str, segments))
        score = {**resampled_mean(segments), "signature": _signature(args)}
        write_json(output / "scores.json", {"dataset": args.dataset, "lines": len(rows), name: score})
        if args.results:
            mean = {"score": score["score"], "signature": score["signature"]}
            write_metric(output, args.results, mozillas, mean, segments)
    log.info("%s", score)


def _signature(args: argparse.Namespace) -> str:
    return (
        f"model:{args.name}|form:{args.form}|bs:{RESAMPLES}|seed:{SEED}|scale:0-25, lower is better"
        f"|ctranslate2:{version('ctranslate2')}"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--model", required=True, type=Path, help="folder of the converted model")
    add("--name", required=True, help="what the model is called, for the signature")
    add("--form", required=True, choices=sorted(NAMES), help="with the reference, or quality estimation")
    add("--translations", required=True, type=Path, help="a model's translations of the test set")
    add("--corpus-src", required=True, type=Path, help="the test set's source")
    add("--corpus-trg", required=True, type=Path, help="its reference translations")
    add("--dataset", required=True, help="name of the test set, for scores.json")
    add("--results", help="how the names of Mozilla's files begin, where they are wanted")
    add("--cuda-lock", type=Path, help="lock of an environment with cuBLAS, for GPUs")
    add("--output", required=True, type=Path, help="new folder for the results")
    return parser


if __name__ == "__main__":
    run(main)
