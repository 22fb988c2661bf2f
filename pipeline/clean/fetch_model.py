"""Fetch a model of fastText that identifies languages.

    python -m pipeline.clean.fetch_model --output model \\
        --url https://dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz \\
        --sha256 8f3472cfe8738a7b6099e8e999c3cbfae0dcd15696aac7d7738a8039db603e83

    model/model.bin    the model, which must be one of fastText's, and the one of that SHA-256
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
    parser.add_argument("--sha256", required=True, help="what its contents must be, in hexadecimal")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Fetch a model; see the module's text."""
    args = parse_arguments(argv)
    with staged(args.output) as (folder, _):
        model = folder / "model.bin"
        source = fetch(args.url, model)
        with model.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise InputError(f"{args.url} is no model of fastText. Check the address.")
        if source.sha256 != args.sha256:
            raise InputError(
                f"{args.url} has the SHA-256 {source.sha256}, not {args.sha256} as expected: it is damaged, "
                "or another model. Fetch it again, or look into the mirror that it came from."
            )


if __name__ == "__main__":
    run(main)
