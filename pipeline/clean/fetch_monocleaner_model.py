"""Fetch Monocleaner's language model for a language.

python -m pipeline.clean.fetch_monocleaner_model --lang ru --output model

model/model.tgz     the language pack as it is published
model/model.json    where it came from, its size and SHA-256
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from pipeline.clean.monocleaner_pack import unpack
from pipeline.common.downloads import fetch
from pipeline.common.errors import InputError
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.common.web import NotFound

RELEASES = "https://github.com/bitextor/monocleaner-data/releases"


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Fetch Monocleaner's language model for a language.")
    parser.add_argument("--lang", required=True, help="ISO 639-1 code of the language, e.g. ru")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Fetch a language pack; see the module's text."""
    args = parse_arguments(argv)
    url = f"{RELEASES}/latest/download/{args.lang}.tgz"
    with staged(args.output) as (folder, scratch):
        try:
            source = fetch(url, folder / "model.tgz")
        except NotFound as error:
            raise InputError(
                f"Monocleaner has no model for the language {args.lang} ({url}). Write thresholds of 0 under "
                "`monocleaner` for it into the training config: its text is then cleaned by rules alone. "
                f"The languages that there are: {RELEASES}/latest"
            ) from error
        unpack(folder / "model.tgz", scratch / "model")
        write_json(folder / "model.json", asdict(source))


if __name__ == "__main__":
    run(main)
