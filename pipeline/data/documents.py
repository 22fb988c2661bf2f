"""Fetch which document each sentence of a test set is of: of FLORES-200, NTREX-128, or of sacreBLEU.

    python -m pipeline.data.documents --provider flores --dataset devtest \\
        --src-code eng_Latn --trg-code rus_Cyrl --output documents

writes documents.zst, a name a line; the sentences of a document follow each other.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.common.archives import extract
from pipeline.common.downloads import fetch
from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines
from pipeline.common.script import run
from pipeline.common.staging import staged
from pipeline.data import parallel_flores, parallel_sacrebleu
from pipeline.data.parallel import Request
from pipeline.data.texts import file_lines

# Of NTREX-128; the table came after the texts.
NTREX_URL = (
    "https://github.com/MicrosoftTranslator/NTREX/raw/"
    "fa9e8c9e3bb875a39b0d3f36394c54e2d0f67cc7/DOCUMENT_IDS.tsv"
)


def main(argv: Sequence[str] | None = None) -> None:
    """Write documents.zst."""
    args = _parser().parse_args(argv)
    documents = {"flores": _flores, "ntrex": _ntrex, "sacrebleu": _sacrebleu}[args.provider]
    with staged(args.output) as (output, scratch):
        write_lines(output / "documents.zst", documents(args, scratch))


def _flores(args: argparse.Namespace, scratch: Path) -> Iterator[str]:
    """The articles that the sentences were taken from, by their addresses."""
    archive, table = scratch / "flores.tar.gz", scratch / "metadata.tsv"
    fetch(parallel_flores.URL, archive, parallel_flores.SHA256)
    extract(archive, {f"flores200_dataset/metadata_{args.dataset}.tsv": table})
    rows = (line.split("\t") for line in file_lines(table))
    column = next(rows).index("URL")
    return (row[column] for row in rows)


def _ntrex(args: argparse.Namespace, scratch: Path) -> Iterator[str]:
    fetch(NTREX_URL, scratch / "documents.tsv")
    return file_lines(scratch / "documents.tsv")


def _sacrebleu(args: argparse.Namespace, scratch: Path) -> Iterator[str]:
    """Raises InputError when sacreBLEU knows no documents of the test set."""
    found = parallel_sacrebleu.local_set(Request(args.dataset, args.src_code, args.trg_code), scratch)
    files = found.files()
    if "docid" not in files:
        raise InputError(
            f"sacreBLEU does not know the documents of {args.dataset}; take it out of evaluation.paragraphs."
        )
    return found.meant(file_lines(files["docid"]))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--provider", required=True, choices=["flores", "ntrex", "sacrebleu"], help="whose test set it is")
    add("--dataset", required=True, help="name of the test set, without the provider in front")
    add("--src-code", required=True, help="the provider's code of the source language")
    add("--trg-code", required=True, help="the provider's code of the target language")
    add("--output", required=True, type=Path, help="new folder for the result")
    return parser


if __name__ == "__main__":
    run(main)
