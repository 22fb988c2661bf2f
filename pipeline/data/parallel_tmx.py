"""Import a translation memory in TMX: Mozilla's, with the strings of its programs, or a file behind a URL.

`pontoon` is the memory of all projects on https://pontoon.mozilla.org, from English into a language; one of
the two languages must be English (`en`). A URL begins with https://, http://, gs:// or file://; its file is
.zst, .gz or plain, and the languages' codes are found in it. Units that lack a language are left out.

    python -m pipeline.data.parallel_tmx --dataset pontoon \\
        --src en --trg sv --src-code en --trg-code sv-SE --output pontoon
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.script import run
from pipeline.data.imports import Origin
from pipeline.data.parallel import Corpus, Pair, Request, import_parallel
from pipeline.data.text_urls import fetch_text
from pipeline.data.tmx import read_units, segment

PONTOON = "pontoon"
PONTOON_URL = "https://pontoon.mozilla.org/translation-memory/{code}.all-projects.tmx"
ENGLISH = "en"


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    import_parallel(parser, argv, download)


def download(request: Request, scratch: Path) -> Corpus:
    """The units that have both languages."""
    file, source = fetch_text(_url(request), "memory", scratch)
    origin = Origin([source])
    return Corpus(_pairs(file, request, origin), origin)


def _url(request: Request) -> str:
    if request.dataset != PONTOON:
        if "://" not in request.dataset:
            raise InputError(f"Give {PONTOON} or the URL of a TMX file, not {request.dataset!r}.")
        return request.dataset
    codes = [request.src_code, request.trg_code]
    if ENGLISH not in codes:
        raise InputError(f"Pontoon translates from English; it has no {' and '.join(codes)}. Remove it.")
    codes.remove(ENGLISH)
    return PONTOON_URL.format(code=codes[0])


def _pairs(file: Path, request: Request, origin: Origin) -> Iterator[Pair]:
    for unit in read_units(file):
        src, trg = (" ".join(segment(unit, code).split()) for code in (request.src_code, request.trg_code))
        if src and trg:
            yield src, trg
        else:
            origin.dropped["a side is missing"] += 1


if __name__ == "__main__":
    run(main)
