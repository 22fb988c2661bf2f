"""Import WMT24++: the English segments of WMT24 and their post-edited translations into 55 languages.

Its only set is `test`. A segment is one or more sentences. Two languages besides English are joined by the
numbers of the segments. Left out are sources that the set marks as bad, and segments of which a side occurs
before.

    python -m pipeline.data.parallel_wmt24pp --dataset test \\
        --src en --trg de --src-code en --trg-code de_DE --output wmt24pp
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.script import run
from pipeline.data.hub_sets import HubSet, Line, Side, distinct, paired, set_rows, text_of
from pipeline.data.imports import Origin
from pipeline.data.parallel import Corpus, Request, import_parallel
from pipeline.data.tables import Row

PAGE = "https://huggingface.co/datasets/google/wmt24pp"
REVISION = "e65f585"  # that of Mozilla's final evaluations
ENGLISH = "en"
SPLIT = "train"  # what the hub calls the only one
COLUMNS = ("document_id", "segment_id", "is_bad_source", "source", "target")


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    import_parallel(parser, argv, download)


def download(request: Request, scratch: Path) -> Corpus:
    """The segments of the pair's file, or of the files of both languages."""
    origin = Origin()
    return Corpus(((line.src, line.trg) for line in read_lines(request, origin, scratch)), origin)


def read_lines(request: Request, origin: Origin, scratch: Path) -> Iterator[Line]:
    """The lines with their documents; the origin is told where they come from, and what is left out."""
    if request.dataset != "test":
        raise InputError("WMT24++ has the set test only.")
    codes = request.src_code, request.trg_code
    files = {code: _rows(code, origin, scratch) for code in codes if code != ENGLISH}
    src, trg = (_side(files, code) for code in codes)
    yield from distinct(paired(src, trg, origin), origin)


def _rows(code: str, origin: Origin, scratch: Path) -> list[Row]:
    of = HubSet(PAGE, REVISION, gated=False)
    return [*set_rows(of, f"{ENGLISH}-{code}", SPLIT, COLUMNS, origin, scratch)]


def _side(files: dict[str, list[Row]], code: str) -> list[Side]:
    """The lines in one language; English stands in the file of the other."""
    field, rows = ("target", files[code]) if code in files else ("source", [*files.values()][0])
    return [
        Side(
            f"{text_of(row, 'document_id')} {text_of(row, 'segment_id')}",
            text_of(row, "document_id"),
            text_of(row, field),
            text_of(row, "is_bad_source") == "True",
        )
        for row in rows
    ]


if __name__ == "__main__":
    run(main)
