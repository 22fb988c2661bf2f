"""Fetch a model of fastText that identifies languages.

    python -m pipeline.clean.fetch_model --output model \\
        --url https://dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz

    model/model.bin    the model, which must be one of fastText's
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.downloads import fetch
from pipeline.common.errors import InputError
from pipeline.common.script import run
from pipeline.common.staging import staged

MAGIC = (793712314).to_bytes(4, "little")  # fastText's first four bytes (fasttext.cc)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Fetch a model of fastText that identifies languages.")
    parser.add_argument("--url", required=True, help="where it is, http(s)://, gs:// or file://")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Fetch a model; see the module's text."""
    args = parse_arguments(argv)
    with staged(args.output) as (folder, _):
        model = folder / "model.bin"
        fetch(args.url, model)
        with model.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise InputError(f"{args.url} is no model of fastText. Check the address.")


if __name__ == "__main__":
    run(main)
