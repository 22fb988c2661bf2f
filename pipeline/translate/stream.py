"""Translate standard input to standard output, line by line, once the input has ended.

    echo "Hello world" | python -m pipeline.translate.stream --models student

Takes the folder of a model, several of an ensemble, or that of a quantised model. By default the settings of
the first model's decoder.yml hold. With --each a line is answered as soon as it has come.
"""

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.common.marian import decode, decode_each
from pipeline.common.marian_options import read_options
from pipeline.common.script import run


def main(argv: Sequence[str] | None = None) -> None:
    """Write a translation for each line read."""
    args = parse_arguments(argv)
    if args.each:
        lines = (raw.decode("utf-8", errors="replace") for raw in sys.stdin.buffer)
        for translation in decode_each(args.models, lines):
            sys.stdout.buffer.write(f"{translation}\n".encode())
            sys.stdout.flush()
        return
    settings = read_options(args.decoding_config) if args.decoding_config else {}
    with TemporaryDirectory() as name:
        text, translations = Path(name, "text"), Path(name, "translations")
        with text.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        decode(args.models, text, translations, settings)
        with translations.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.flush()


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", required=True, nargs="+", type=Path, help="folders of the models")
    options = parser.add_mutually_exclusive_group()
    options.add_argument("--decoding-config", type=Path, help="Marian's decoding options, YAML")
    options.add_argument("--each", action="store_true", help="translate each line by itself, as it comes")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
