"""Import a set of FLORES+, which goes on from FLORES-200: `dev` (997 sentences) or `devtest` (1,012).

Sentences are joined by their numbers. The set asks for a login: HF_TOKEN holds the token of an account that
has accepted its conditions.

    python -m pipeline.data.parallel_flores200_plus --dataset devtest \\
        --src en --trg ru --src-code eng_Latn --trg-code rus_Cyrl --output flores
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.script import run
from pipeline.data.hub_sets import HubSet, Line, Side, paired, set_rows, text_of
from pipeline.data.imports import Origin
from pipeline.data.parallel import Corpus, Request, import_parallel

PAGE = "https://huggingface.co/datasets/openlanguagedata/flores_plus"
REVISION = "4.3"  # the release of Mozilla's final evaluations
SETS = ("dev", "devtest")
COLUMNS = ("id", "url", "text")


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    import_parallel(parser, argv, download)


def download(request: Request, scratch: Path) -> Corpus:
    """The sentences of the two languages' files."""
    origin = Origin()
    return Corpus(((line.src, line.trg) for line in read_lines(request, origin, scratch)), origin)


def read_lines(request: Request, origin: Origin, scratch: Path) -> Iterator[Line]:
    """The lines with their articles; the origin is told where they come from, and what is left out."""
    if request.dataset not in SETS:
        raise InputError(f"FLORES+ has the sets {' and '.join(SETS)} only.")
    codes = request.src_code, request.trg_code
    src, trg = (_side(request.dataset, code, origin, scratch) for code in codes)
    yield from paired(src, trg, origin)


def _side(split: str, code: str, origin: Origin, scratch: Path) -> list[Side]:
    return [
        Side(text_of(row, "id"), text_of(row, "url"), text_of(row, "text"))
        for row in set_rows(HubSet(PAGE, REVISION, gated=True), code, split, COLUMNS, origin, scratch)
    ]


if __name__ == "__main__":
    run(main)
