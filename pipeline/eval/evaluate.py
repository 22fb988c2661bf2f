"""Translates a test set with a model and scores the translations with sacreBLEU.

    python -m pipeline.eval.evaluate --models teacher-1 teacher-2 --src en --trg eo \\
        --corpus-src test.en.zst --corpus-trg test.eo.zst --dataset flores_devtest \\
        --decoding-config decoding.yml --marian-args '{"beam-size": 4}' --output evaluation

writes translations.zst and metrics.json: BLEU, chrF and chrF++ of the corpus, each with its confidence
interval and with sacreBLEU's signature, which tells all that the number depends on, and a few examples.

Several models are an ensemble. A quantised model is decoded as users run it: with its binary shortlist,
beam 1 and fixed batches, on the CPU. With --translations in place of --models a translator's are scored.
"""

import argparse
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines, zip_lines
from pipeline.common.marian import decode
from pipeline.common.marian_options import parse_marian_args, read_options
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.eval.metrics import evaluation_scores

logger = logging.getLogger(__name__)

SAMPLES = 5
SAMPLE_CHARACTERS = 500


def read_test_set(source: Path, reference: Path) -> list[tuple[str, str]]:
    """Read a test set, which is held in memory; raises InputError when it is empty."""
    pairs = [(pair[0], pair[1]) for pair in zip_lines(source, reference)]
    if not pairs:
        raise InputError(f"{source} is empty. There is nothing to evaluate; remove this test set.")
    return pairs


def samples(pairs: Sequence[tuple[str, str]], translations: Sequence[str]) -> list[dict[str, str]]:
    """Examples from all over the test set, long lines cut."""
    step = max(1, len(pairs) // SAMPLES)
    return [
        {
            "source": pairs[line][0][:SAMPLE_CHARACTERS],
            "reference": pairs[line][1][:SAMPLE_CHARACTERS],
            "translation": translations[line][:SAMPLE_CHARACTERS],
        }
        for line in range(0, len(pairs), step)[:SAMPLES]
    ]


def write_metrics(
    output: Path,
    dataset: str,
    pairs: Sequence[tuple[str, str]],
    translations: Sequence[str],
    language: str,
    others: Mapping[str, object] | None = None,
) -> dict[str, dict[str, object]]:
    """Score the translations of a test set's sources, and write metrics.json with some of them.

    `others` stand there, too, for what is evaluated. Returns the scores by the names of their metrics.
    """
    scores = evaluation_scores(translations, [reference for _, reference in pairs], language)
    metrics = {"dataset": dataset, "lines": len(pairs), **scores, **(others or {})}
    write_json(output / "metrics.json", {**metrics, "samples": samples(pairs, translations)})
    logger.info("%s", metrics)
    return scores


def main(argv: Sequence[str] | None = None) -> None:
    """Decode, score, and write the files named above."""
    args = _parser().parse_args(argv)
    pairs = read_test_set(args.corpus_src, args.corpus_trg)
    with staged(args.output) as (output, _):
        if args.translations:
            write_lines(output / "translations.zst", read_lines(args.translations))
        else:
            _decode(args, output / "translations.zst")
        translations = [*read_lines(output / "translations.zst")]
        if len(translations) != len(pairs):
            raise InputError(
                f"{args.translations} has {len(translations):,} translations of the {len(pairs):,} lines of "
                f"{args.dataset}. Translate it again."
            )
        write_metrics(output, args.dataset, pairs, translations, args.trg)


def _decode(args: argparse.Namespace, output: Path) -> None:
    settings = read_options(args.decoding_config) | parse_marian_args(args.marian_args)
    logger.info("Evaluating %s on %s: %s", args.models, args.dataset, settings)
    decode(args.models, args.corpus_src, output, settings)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--models", type=Path, nargs="+", help="folders of models; several: ensemble")
    what.add_argument("--translations", type=Path, help="a translator's translations of the test set")
    parser.add_argument("--src", required=True, help="source language")
    parser.add_argument("--trg", required=True, help="target language; BLEU's words depend on it")
    parser.add_argument("--corpus-src", type=Path, required=True, help="the test set's source")
    parser.add_argument("--corpus-trg", type=Path, required=True, help="its reference translations")
    parser.add_argument("--dataset", required=True, help="name of the test set, for metrics.json")
    parser.add_argument(
        "--decoding-config", type=Path, help="YAML of Marian's decoding options, for --models"
    )
    parser.add_argument(
        "--marian-args", default="{}", help="JSON of Marian's options that override that file"
    )
    parser.add_argument("--output", type=Path, required=True, help="new folder for the results")
    return parser


if __name__ == "__main__":
    run(main)
