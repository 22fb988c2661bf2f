"""Translate a text with a converted model, by CTranslate2.

    python -m pipeline.translate.with_ctranslate2 --model converted --text part.1.zst \\
        --decoding-config pipeline/translate/configs/teacher.yml --marian-args '{"beam-size": "4"}' \\
        --output translated

Takes a model that `pipeline.translate.convert` has made, and Marian's options; what CTranslate2 knows nothing
like is refused. Writes what `pipeline.translate.translate` writes: translations.zst, or nbest.zst with
--nbest, and stats.json.
"""

import argparse
import logging
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.lines import LineWriter, count_lines, read_lines
from pipeline.common.marian_options import parse_marian_args, read_options
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.translate.ctranslate2_decoder import Decoder, Translation
from pipeline.translate.ctranslate2_options import read_settings

SAMPLES = 10
SAMPLE_CHARACTERS = 200
PROGRESS = 100_000  # lines

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the translations and stats.json."""
    args = parse_arguments(argv)
    settings = read_settings({**read_options(args.decoding_config), **parse_marian_args(args.marian_args)})
    log.info("Translating %s with %s: %s", args.text, args.model, settings)
    with staged(args.output) as (output, _):
        result = output / ("nbest.zst" if args.nbest else "translations.zst")
        lines = count_lines(args.text)
        decoder = Decoder(args.model, settings, args.cuda_lock)
        written = write_translations(decoder.translate(args.text), result, args.nbest)
        expected = lines * (settings.beam if args.nbest else 1)
        if written != expected:
            raise InputError(
                f"CTranslate2 gave {written:,} translations instead of {expected:,}; none is kept"
            )
        log.info("%d lines, %d translations", lines, written)
        stats = {
            "lines": {"in": lines, "kept": lines, "dropped": {}},
            "translations": written,
            "samples": [line[:SAMPLE_CHARACTERS] for line in islice(read_lines(result), SAMPLES)],
        }
        write_json(output / "stats.json", stats)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True, type=Path, help="folder of the converted model")
    parser.add_argument("--text", required=True, type=Path, help="text to translate")
    parser.add_argument("--decoding-config", required=True, type=Path, help="Marian's decoding options, YAML")
    parser.add_argument(
        "--marian-args", default="{}", help="JSON; overrides the config, e.g. '{\"beam-size\": 4}'"
    )
    parser.add_argument("--nbest", action="store_true", help="all translations of the beam, with scores")
    parser.add_argument("--cuda-lock", type=Path, help="lock of an environment with cuBLAS, for GPUs")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def write_translations(found: Iterable[Sequence[Translation]], output: Path, nbest: bool) -> int:
    """Write each line's best translation, or all of them as Marian does, and return how many were written."""
    with LineWriter(output) as writer:
        for number, translations in enumerate(found):
            if nbest:
                for one in translations:
                    writer.write(f"{number} ||| {one.text} ||| F0= {one.path_score:g} ||| {one.score:g}")
            else:
                writer.write(translations[0].text)
            if not (number + 1) % PROGRESS:
                log.info("%d lines are translated", number + 1)
    return writer.lines


if __name__ == "__main__":
    run(main)
