"""Import a parallel corpus from OPUS (https://opus.nlpl.eu), published as a zip of plain text ("Moses").

    python -m pipeline.data.parallel_opus --dataset ELRC_2922/v1 \\
        --src en --trg ru --src-code en --trg-code ru --output elrc
"""

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.archives import extract, members
from pipeline.common.downloads import fetch
from pipeline.common.script import run
from pipeline.common.web import NotFound, Source, Unreachable
from pipeline.data.imports import Origin
from pipeline.data.opus import corpus_name, corpus_url, corpus_version, licence
from pipeline.data.parallel import Corpus, Request, import_parallel
from pipeline.data.texts import file_pairs

log = logging.getLogger(__name__)

LICENCE_FILES = ("README", "LICENSE")


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    import_parallel(parser, argv, download)


def download(request: Request, scratch: Path) -> Corpus:
    """The two sides out of the zip, which OPUS keeps under one order of the languages only."""
    archive = scratch / "corpus.zip"
    pair, source = _fetch_pair(request, archive)
    prefix = f"{corpus_name(request.dataset)}.{pair}"
    sides = [f"{prefix}.{code}" for code in (request.src_code, request.trg_code)]
    extract(archive, {side: scratch / side for side in sides})
    origin = Origin(
        [source],
        revision=corpus_version(request.dataset),
        licence=_licence(archive, scratch),
        details={"direction": pair},
    )
    return Corpus(file_pairs(*(scratch / side for side in sides)), origin)


def _licence(archive: Path, scratch: Path) -> str:
    """What the zip says of its licence; older zips say nothing."""
    names = [name for name in LICENCE_FILES if name in members(archive)]
    extract(archive, {name: scratch / name for name in names})
    return next(filter(None, (licence(scratch / name) for name in names)), "")


def _fetch_pair(request: Request, archive: Path) -> tuple[str, Source]:
    """The zip under the wanted order of the languages, else under the other; the first failure is told."""
    pair = f"{request.src_code}-{request.trg_code}"
    reversed_pair = f"{request.trg_code}-{request.src_code}"
    try:
        return pair, fetch(_zip_url(request.dataset, pair), archive)
    except (NotFound, Unreachable) as error:  # without a network the mirror may have the other order
        log.info("Looking for %s instead of %s", reversed_pair, pair)
        try:
            return reversed_pair, fetch(_zip_url(request.dataset, reversed_pair), archive)
        except (NotFound, Unreachable):
            raise type(error)(f"It was found neither as {pair} nor as {reversed_pair}. {error}") from error


def _zip_url(dataset: str, pair: str) -> str:
    return f"{corpus_url(dataset)}/moses/{pair}.txt.zip"


if __name__ == "__main__":
    run(main)
