"""Scores translations by COMET (Rei et al. 2020), a model that judges them by source and reference.

    python -m pipeline.eval.comet --model model.npz --vocab vocab.spm --name wmt22-comet-da \\
        --translations translations.zst --corpus-src test.en.zst --corpus-trg test.eo.zst \\
        --dataset flores_devtest --output scores

writes segments.zst, what the model gives to each line, and scores.json, as metrics.json of
pipeline.eval.evaluate: 100 times the mean of all lines, with a confidence interval by bootstrap resampling.
The signature names the model. With --results there are files in Mozilla's layout as well
(pipeline.eval.results), with the model's own scores, about 0 to 1. Marian computes it; the weights are in its
form, .npz or .bin, as its comet2marian.py writes them.
"""

import argparse
import logging
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
from sacrebleu.significance import estimate_ci

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines, zip_lines
from pipeline.common.marian_options import Options, fit_to_machine
from pipeline.common.marian_process import run_marian
from pipeline.common.pool import map_blocks
from pipeline.common.resources import at_once, gpus
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.eval.metrics import RESAMPLES, SEED
from pipeline.eval.results import write_metric

PROCESS_MB = 1_100  # of a process of Marian, besides twice the weights
MOZILLAS_NAMES = {"wmt22-comet-da": "comet22"}  # of a model, in Mozilla's results; of others the plain one
OPTIONS: Options = {
    "like": "comet",
    "width": 6,
    "max-length": 512,  # pieces; the encoders of COMET's models have no more positions
    "max-length-crop": True,
    "mini-batch": 16,
    "maxi-batch": 256,
    "log-level": "warn",
}

logger = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the files named above."""
    args = _parser().parse_args(argv)
    with staged(args.output) as (output, scratch):
        rows = [*_rows(args)]
        if not (lines := len(rows)):
            raise InputError(f"{args.translations} is empty. There is nothing to evaluate.")
        segments = evaluate(args.model, args.vocab, rows, scratch)
        write_lines(output / "segments.zst", map(str, segments))
        mean = resampled_mean([100 * segment for segment in segments])
        score = {**mean, "signature": _signature(args.name)}
        write_json(output / "scores.json", {"dataset": args.dataset, "lines": lines, "comet": score})
        if args.results:
            mozillas = {"score": round(sum(segments) / lines, 4), "signature": score["signature"]}
            write_metric(output, args.results, MOZILLAS_NAMES.get(args.name, "comet"), mozillas, segments)
    logger.info("%s", score)


def _rows(args: argparse.Namespace) -> Iterator[str]:
    for texts in zip_lines(args.corpus_src, args.translations, args.corpus_trg):
        yield "\t".join(text.replace("\t", " ") for text in texts)


def evaluate(model: Path, vocab: Path, rows: Sequence[str], scratch: Path) -> list[float]:
    """What the model gives to each row of source, translation and reference, with tabs between them.

    On a CPU as many processes of Marian as the threads and the memory allow share the rows. Raises
    InputError, or TemporaryError, when Marian cannot use the model.
    """
    megabytes = 2 * (model.stat().st_size >> 20) + PROCESS_MB
    processes = 1 if gpus() else min(at_once(megabytes), len(rows))
    parts = [(scratch / str(number), rows[number::processes]) for number in range(processes)]
    found = [*map_blocks(partial(_evaluate, model, vocab), parts, processes)]
    return [found[number % processes][number // processes] for number in range(len(rows))]


def _evaluate(model: Path, vocab: Path, part: tuple[Path, Sequence[str]]) -> list[float]:
    """What one process of Marian gives to rows; it gets a scratch folder of its own."""
    scratch, rows = part
    scratch.mkdir()
    write_lines(scratch / "segments.tsv", rows)
    files: Options = {
        "model": str(model.resolve()),
        "vocabs": [str(vocab.resolve())] * 3,
        "train-sets": [str(scratch / "segments.tsv")],
        "output": str(scratch / "segments"),
    }
    options = fit_to_machine({**OPTIONS, **files})
    # Marian 1.12.42 crashes on several threads now and then, and they share states of the encoder.
    if "devices" in options:
        options["devices"] = [*gpus()[:1]]
    else:
        # On a CPU, padding counts where the longest line of a batch has a multiple of four pieces.
        options |= {"cpu-threads": 1, "mini-batch": 1}
    run_marian("evaluate", options, scratch)
    segments = [float(line) for line in read_lines(scratch / "segments")]
    if len(segments) != len(rows):
        raise InputError(f"Marian scored {len(segments):,} lines instead of {len(rows):,}; nothing is kept")
    return segments


def resampled_mean(segments: Sequence[float]) -> dict[str, float]:
    """The mean of lines' scores, with its confidence interval, as sacreBLEU resamples for its own metrics."""
    scores = np.array(segments)
    chosen = np.random.default_rng(SEED).choice(len(scores), size=(RESAMPLES, len(scores)))
    mean, interval = estimate_ci(scores[chosen].mean(axis=1))
    found = {"score": scores.mean(), "mean": mean, "ci": interval}
    return {name: round(float(value), 4) for name, value in found.items()}


def _signature(name: str) -> str:
    return f"model:{name}|bs:{RESAMPLES}|seed:{SEED}|scale:100|pymarian:{version('pymarian')}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--model", required=True, type=Path, help="the model's weights in Marian's form")
    add("--vocab", required=True, type=Path, help="its SentencePiece vocabulary, .spm")
    add("--name", required=True, help="what the model is called, for the signature")
    add("--translations", required=True, type=Path, help="a model's translations of the test set")
    add("--corpus-src", required=True, type=Path, help="the test set's source")
    add("--corpus-trg", required=True, type=Path, help="its reference translations")
    add("--dataset", required=True, help="name of the test set, for scores.json")
    add("--results", help="how the names of Mozilla's files begin, where they are wanted")
    add("--output", required=True, type=Path, help="new folder for the results")
    return parser


if __name__ == "__main__":
    run(main)
