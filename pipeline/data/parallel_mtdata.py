"""Import a parallel corpus from mtdata's catalogue (https://github.com/thammegowda/mtdata), by its id.

    python -m pipeline.data.parallel_mtdata --dataset Neulab-tedtalks_test-1-eng-rus \\
        --src en --trg ru --src-code eng --trg-code rus --output ted
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.common.errors import InputError
from pipeline.common.script import run
from pipeline.data.imports import Origin
from pipeline.data.mtdata_entries import entry_files, find_entry
from pipeline.data.parallel import Corpus, Pair, Request, import_parallel

if TYPE_CHECKING:
    from mtdata.entry import Entry


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    import_parallel(parser, argv, download)


def download(request: Request, scratch: Path) -> Corpus:
    """The corpus's pairs, source first whichever order mtdata keeps."""
    return import_entry(find_entry(request.dataset, scratch / "mtdata"), request, scratch)


def import_entry(entry: "Entry", request: Request, scratch: Path) -> Corpus:
    """The pairs of an entry of the catalogue."""
    exchange = _exchanged(entry, request)
    files, sources = entry_files(entry, scratch)
    pairs = _read(entry, files)
    has = "-".join(map(str, entry.did.langs))
    origin = Origin(sources, revision=str(entry.did.version), details={"direction": has})
    return Corpus(((trg, src) for src, trg in pairs) if exchange else pairs, origin)


def _exchanged(entry: "Entry", request: Request) -> bool:
    """Whether the entry has the two languages in the other order; InputError when it has others."""
    from mtdata.iso.bcp47 import BCP47Tag, bcp47

    wanted = bcp47(request.src_code), bcp47(request.trg_code)
    languages = entry.did.langs
    compatible, exchange = False, False
    if len(languages) == 2:
        compatible, exchange = BCP47Tag.check_compat_swap(wanted, languages)
    if not compatible:
        has = "-".join(map(str, languages))
        raise InputError(f"It is in {has}, not in {request.src_code}-{request.trg_code}. Choose another id.")
    return bool(exchange)


def _read(entry: "Entry", files: list[Path]) -> Iterator[Pair]:
    from mtdata.parser import Parser

    try:
        for record in Parser(files, ext=entry.in_ext or None, ent=entry).read_segs(show_pbar=False):
            yield record[0] or "", record[1] or ""
    except Exception as error:  # mtdata raises bare exceptions and failed assertions
        names = ", ".join(file.name for file in files)
        raise InputError(f"mtdata cannot read {names} as {entry.in_ext or entry.ext}: {error}") from error


if __name__ == "__main__":
    run(main)
