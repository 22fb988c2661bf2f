"""Translate a text with a model in Firefox's form, as Firefox does.

    python -m pipeline.eval.with_engine --model model.tar --text part.1.zst --output translated

The model is a folder, or a tar of its files, as `pipeline.eval.released` fetches it. Writes translations.zst,
a line for each line of the text, and stats.json. The engine is fxtranslate, Firefox's in native code, a
sentence at a time; a model without multipliers of activations, which it does not read, is run by Marian.
What is translated is kept in checkpoint sets.
"""

import argparse
import logging
from collections.abc import Generator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from pipeline.common.engine import Engine, load_engine
from pipeline.common.errors import InputError
from pipeline.common.finished import finished_lines
from pipeline.common.lines import count_lines, read_lines
from pipeline.common.made_from import MadeFrom
from pipeline.common.marian import decode_blocks
from pipeline.common.packed import unpack
from pipeline.common.pool import map_blocks
from pipeline.common.resources import threads
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.eval.marian_form import write_marian_folder
from pipeline.eval.systems import MULTIPLIERS, WITHOUT, holds
from pipeline.translate.nbest import blocks

BLOCK_SENTENCES = 500
SAMPLES = 10
SAMPLE_CHARACTERS = 200

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the translations and stats.json."""
    args = parse_arguments(argv)
    made_from = MadeFrom({"the text": args.text, "the model": args.model}, {})
    with staged(args.output) as (output, scratch), finished_lines(scratch, made_from) as finished:
        result = output / "translations.zst"
        model = args.model if args.model.is_dir() else unpack(args.model, scratch / "model")
        finished.add_all(translate(model, args.text, scratch, finished.number))
        lines = count_lines(args.text)
        finished.require(lines, args.text)
        log.info("%d lines", finished.write(result))
        stats = {
            "lines": {"in": lines, "kept": lines, "dropped": {}},
            "samples": [line[:SAMPLE_CHARACTERS] for line in islice(read_lines(result), SAMPLES)],
        }
        write_json(output / "stats.json", stats)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True, type=Path, help="folder of the model, or its tar")
    parser.add_argument("--text", required=True, type=Path, help="text to translate")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def translate(model: Path, text: Path, scratch: Path, done: int) -> Generator[list[str], None, None]:
    """Yield the translations in blocks, without the first `done` lines, which must be whole blocks.

    Raises InputError when the folder holds no model of this form, or its engine cannot use it.
    """
    files = sorted(path for path in model.iterdir() if path.is_file())
    names = [path.name for path in files]
    if holds(names, MULTIPLIERS):
        lines = islice(read_lines(text), done, None)
        return map_blocks(partial(_translated, load_engine(files)), blocks(lines, BLOCK_SENTENCES), threads())
    if holds(names, WITHOUT):
        write_marian_folder(files, scratch / "marian")
        return decode_blocks([scratch / "marian"], text, scratch, done=done)
    raise InputError(f"{model} holds no model in Firefox's form, model.*{MULTIPLIERS} or model.*{WITHOUT}.")


def _translated(engine: Engine, block: Sequence[str]) -> list[str]:
    return [engine.translate(line) for line in block]


if __name__ == "__main__":
    run(main)
