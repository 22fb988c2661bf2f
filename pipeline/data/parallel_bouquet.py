"""Import sentences of BOUQuET: `dev` (504) or `test` (854), of eight languages, translated into the others.

They are joined by their numbers. Left out are sentences of which a side occurs before. The set asks for a
login: HF_TOKEN holds the token of an account that has accepted its conditions.

    python -m pipeline.data.parallel_bouquet --dataset test \\
        --src en --trg de --src-code eng_Latn --trg-code deu_Latn --output bouquet
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.script import run
from pipeline.data.hub_sets import HubSet, Line, Side, distinct, paired, set_rows, text_of
from pipeline.data.imports import Origin
from pipeline.data.parallel import Corpus, Request, import_parallel

PAGE = "https://huggingface.co/datasets/facebook/bouquet"
REVISION = "9a6070a9652e350dda1d353c4fd198533199a911"
SETS = ("dev", "test")
COLUMNS = ("uniq_id", "par_id", "src_text")


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
    """The lines with their paragraphs; the origin is told where they come from, and what is left out."""
    if request.dataset not in SETS:
        raise InputError(f"BOUQuET has the sets {' and '.join(SETS)} only.")
    codes = request.src_code, request.trg_code
    src, trg = (_side(request.dataset, code, origin, scratch) for code in codes)
    yield from distinct(paired(src, trg, origin), origin)


def _side(split: str, code: str, origin: Origin, scratch: Path) -> list[Side]:
    """The sentences in one language: each language's file has its own as source, and English as target."""
    return [
        Side(text_of(row, "uniq_id"), text_of(row, "par_id"), text_of(row, "src_text"))
        for row in set_rows(HubSet(PAGE, REVISION, gated=True), code, split, COLUMNS, origin, scratch)
    ]


if __name__ == "__main__":
    run(main)
