"""Fetch which document each line of a test set of the hub is of: of WMT24++, BOUQuET, or FLORES+.

    python -m pipeline.data.hub_documents --provider wmt24pp --dataset test \\
        --src-code en --trg-code de_DE --output documents

writes documents.zst, a name a line, for the lines that the set's importer keeps. HF_TOKEN holds the token for
sets that ask for one.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.lines import write_lines
from pipeline.common.script import run
from pipeline.common.staging import staged
from pipeline.data.imports import Origin
from pipeline.data.parallel import Request
from pipeline.data.parallel_bouquet import read_lines as read_bouquet
from pipeline.data.parallel_flores200_plus import read_lines as read_flores200_plus
from pipeline.data.parallel_wmt24pp import read_lines as read_wmt24pp

READERS = {
    "wmt24pp": read_wmt24pp,
    "bouquet": read_bouquet,
    "flores200-plus": read_flores200_plus,
}


def main(argv: Sequence[str] | None = None) -> None:
    """Write documents.zst."""
    args = _parser().parse_args(argv)
    request = Request(args.dataset, args.src_code, args.trg_code)
    with staged(args.output) as (output, scratch):
        lines = READERS[args.provider](request, Origin(), scratch)
        write_lines(output / "documents.zst", (line.document for line in lines))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--provider", required=True, choices=[*READERS], help="whose test set it is")
    add("--dataset", required=True, help="name of the test set, without the provider in front")
    add("--src-code", required=True, help="the provider's code of the source language")
    add("--trg-code", required=True, help="the provider's code of the target language")
    add("--output", required=True, type=Path, help="new folder for the result")
    return parser


if __name__ == "__main__":
    run(main)
