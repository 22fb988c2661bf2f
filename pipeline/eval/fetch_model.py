"""Fetch a model that a metric needs: COMET's, its vocabulary, or spBLEU's.

    python -m pipeline.eval.fetch_model --url https://example.org/comet/model.npz --name model.npz \\
        --sha256 8f3472cfe8738a7b6099e8e999c3cbfae0dcd15696aac7d7738a8039db603e83 --output model

writes model/model.npz, whose contents must have that SHA-256.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.downloads import fetch
from pipeline.common.errors import InputError
from pipeline.common.script import run
from pipeline.common.staging import staged


def main(argv: Sequence[str] | None = None) -> None:
    """Fetch a model; see the module's text."""
    args = _parser().parse_args(argv)
    with staged(args.output) as (folder, _):
        source = fetch(args.url, folder / args.name, args.sha256)
        if source.sha256 != args.sha256:  # of a mirror's copy
            raise InputError(
                f"{args.url} has the SHA-256 {source.sha256} in the mirror, not {args.sha256} as expected. "
                "Put the right file into the mirror, or correct the training config."
            )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--url", required=True, help="where it is, http(s)://, gs:// or file://")
    add("--sha256", required=True, help="what its contents must be, in hexadecimal")
    add("--name", required=True, help="what the file is called afterwards")
    add("--output", required=True, type=Path, help="new folder for the result")
    return parser


if __name__ == "__main__":
    run(main)
