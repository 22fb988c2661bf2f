"""Translate a text with one model, or an ensemble of models that share their vocabularies.

    python -m pipeline.translate.translate --models teacher-1 teacher-2 --text part.1.zst \\
        --decoding-config pipeline/translate/configs/teacher.yml --marian-args '{"beam-size": "4"}' \\
        --output translated

Writes translations.zst, a line for each line of the text, or with --nbest nbest.zst, beam-size lines
`number ||| translation ||| F0= score ||| score` for each; and stats.json. Lines longer than max-length pieces
are cropped before they are translated. What is translated is kept in checkpoint sets.
"""

import argparse
import logging
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from pipeline.common.finished import finished_lines
from pipeline.common.lines import count_lines, read_lines
from pipeline.common.made_from import MadeFrom
from pipeline.common.marian import decode_blocks, entries_of_nbest
from pipeline.common.marian_options import parse_marian_args, read_options
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged

SAMPLES = 10
SAMPLE_CHARACTERS = 200

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the translations and stats.json."""
    args = parse_arguments(argv)
    settings = {**read_options(args.decoding_config), **parse_marian_args(args.marian_args)}
    log.info("Translating %s with %s: %s", args.text, ", ".join(map(str, args.models)), settings)
    made_from = MadeFrom(
        {"the text": args.text, "the models": args.models}, {**settings, "--nbest": args.nbest}
    )
    with staged(args.output) as (output, scratch):
        result = output / ("nbest.zst" if args.nbest else "translations.zst")
        with finished_lines(scratch, made_from) as finished:
            done = finished.number
            finished.add_all(decode_blocks(args.models, args.text, scratch, settings, args.nbest, done))
            lines = count_lines(args.text)
            entries = entries_of_nbest(args.models, settings) if args.nbest else 1
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
    parser.add_argument("--models", required=True, nargs="+", type=Path, help="folders of the models")
    parser.add_argument("--text", required=True, type=Path, help="text to translate")
    parser.add_argument("--decoding-config", required=True, type=Path, help="Marian's decoding options, YAML")
    parser.add_argument(
        "--marian-args", default="{}", help="JSON; overrides the config, e.g. '{\"beam-size\": 4}'"
    )
    parser.add_argument("--nbest", action="store_true", help="all translations of the beam, with scores")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
