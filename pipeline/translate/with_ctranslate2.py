"""Translate a text with a converted model, by CTranslate2.

    python -m pipeline.translate.with_ctranslate2 --model converted --text part.1.zst \\
        --decoding-config pipeline/translate/configs/teacher.yml --marian-args '{"beam-size": "4"}' \\
        --output translated

Takes a model that `pipeline.translate.convert` has made, and Marian's options; what CTranslate2 knows nothing
like is refused. Writes what `pipeline.translate.translate` writes: translations.zst, or nbest.zst with
--nbest, and stats.json. What is translated is kept in checkpoint sets.
"""

import argparse
import logging
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from pipeline.common.finished import finished_lines, rows_of_a_block
from pipeline.common.lines import count_lines, read_lines
from pipeline.common.made_from import MadeFrom
from pipeline.common.marian_options import parse_marian_args, read_options
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.translate.ctranslate2_decoder import Decoder, Translation
from pipeline.translate.ctranslate2_options import read_settings

SAMPLES = 10
SAMPLE_CHARACTERS = 200

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the translations and stats.json."""
    args = parse_arguments(argv)
    settings = read_settings({**read_options(args.decoding_config), **parse_marian_args(args.marian_args)})
    log.info("Translating %s with %s: %s", args.text, args.model, settings)
    made_from = MadeFrom(
        {"the text": args.text, "the model": args.model}, {**asdict(settings), "--nbest": args.nbest}
    )
    with staged(args.output) as (output, scratch), finished_lines(scratch, made_from) as finished:
        result = output / ("nbest.zst" if args.nbest else "translations.zst")
        lines, entries = count_lines(args.text), settings.beam if args.nbest else 1
        decoder = Decoder(args.model, settings, args.cuda_lock)
        done = finished.number // entries
        found = decoder.translate(args.text, done)
        finished.add_all(blocks_of(found, settings.read_ahead, done, args.nbest))
        finished.require(lines * entries, args.text)
        written = finished.write(result)
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


def blocks_of(
    found: Iterator[Sequence[Translation]], together: int, done: int, nbest: bool
) -> Generator[list[str], None, None]:
    """Yield each line's best translation, or all of them as Marian does, in blocks.

    `together` is how many lines are sorted into batches together; `done` lines come before these.
    """
    rows = rows_of_a_block(together)
    while block := [*islice(found, rows)]:
        if nbest:
            yield [
                f"{number} ||| {one.text} ||| F0= {one.path_score:g} ||| {one.score:g}"
                for number, translations in enumerate(block, start=done)
                for one in translations
            ]
        else:
            yield [translations[0].text for translations in block]
        done += len(block)


if __name__ == "__main__":
    run(main)
