"""Translates a test set with an exported model as users do, and scores the translations with sacreBLEU.

    python -m pipeline.eval.exported --exported exported/* --trg eo --corpus-src test.en.zst \\
        --corpus-trg test.eo.zst --dataset flores_devtest --output evaluation

writes translations.zst and metrics.json, as pipeline.eval.evaluate does, with `speed`: words of the source a
second, on one thread (two characters are one with --src-unspaced); megabytes of memory that the engine holds
when it has translated all; bytes of the model. The engine is fxtranslate, Firefox's in native code, one
sentence at a time.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from pipeline.common.engine import find_file, load_engine
from pipeline.common.lines import write_lines
from pipeline.common.script import run
from pipeline.common.staging import staged
from pipeline.common.words import count_words
from pipeline.eval.evaluate import read_test_set, write_metrics


def translate(
    files: Sequence[Path], sentences: Sequence[str], unspaced: bool = False
) -> tuple[list[str], dict[str, float]]:
    """Translations, and what they took; an empty line stays empty. Raises InputError for a damaged model.

    `unspaced` says that the sentences have no spaces between words.
    """
    memory = _megabytes()
    engine = load_engine(files)
    began = time.perf_counter()
    translations = [engine.translate(sentence) for sentence in sentences]
    seconds = time.perf_counter() - began
    words = sum(count_words(sentence, unspaced) for sentence in sentences)
    speed = {
        "words_per_second": round(words / seconds, 1),
        "memory_megabytes": round(_megabytes() - memory, 1),
        "model_bytes": find_file(files, "model.", ".intgemm.alphas.bin").stat().st_size,
    }
    return translations, speed


def main(argv: Sequence[str] | None = None) -> None:
    """Translate, score, and write the files named above."""
    args = _parser().parse_args(argv)
    pairs = read_test_set(args.corpus_src, args.corpus_trg)
    with staged(args.output) as (output, _):
        translations, speed = translate(args.exported, [source for source, _ in pairs], args.src_unspaced)
        write_lines(output / "translations.zst", translations)
        write_metrics(output, args.dataset, pairs, translations, args.trg, {"speed": speed})


def _megabytes() -> float:
    """What is resident now: the peak may have been reached before the engine was loaded."""
    return float(psutil.Process().memory_info().rss) / 1e6


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--exported", required=True, nargs="+", type=Path, help="files that pipeline.quantize.export wrote")
    add("--trg", required=True, help="target language; BLEU's words depend on it")
    add("--src-unspaced", action="store_true", help="the source language has no spaces between words")
    add("--corpus-src", required=True, type=Path, help="the test set's source")
    add("--corpus-trg", required=True, type=Path, help="its reference translations")
    add("--dataset", required=True, help="name of the test set, for metrics.json")
    add("--output", required=True, type=Path, help="new folder for the results")
    return parser


if __name__ == "__main__":
    run(main)
