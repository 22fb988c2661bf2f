"""Translate standard input to standard output, line by line, once the input has ended.

    echo "Hello world" | python -m pipeline.translate.stream --models student

Takes the folder of a model, several of an ensemble, or that of a quantised model. By default the settings of
the first model's decoder.yml hold.
"""

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.common.marian import decode
from pipeline.common.marian_options import read_options
from pipeline.common.script import run


def main(argv: Sequence[str] | None = None) -> None:
    """Write a translation for each line read."""
    args = parse_arguments(argv)
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
    parser.add_argument("--decoding-config", type=Path, help="Marian's decoding options, YAML")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
