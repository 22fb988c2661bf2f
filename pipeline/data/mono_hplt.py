"""Import text from HPLT's web crawls: 3.0, 2.0 or 1.2.

Shards are visited in a seeded order and read over the network until there are enough lines. A line is kept
when its document (3.0, 2.0) or itself (1.2) has the least score, when document and line are in the language,
when it has at most 600 characters, and when it was not met before. In release 1.2 the document's own
language does not matter.

    python -m pipeline.data.mono_hplt --dataset mono/v3.0 --lang ru --code rus_Cyrl \\
        --min-score 8 --max-sentences 100000 --output mono
"""

import argparse
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from pipeline.common.downloads import Stream, fetch
from pipeline.common.errors import InputError
from pipeline.common.limits import bounded
from pipeline.common.lines import decompress_zstd
from pipeline.common.script import run
from pipeline.data.hplt import (
    LICENCE,
    LINE_CODES,
    Document,
    Release,
    read_document,
    release_of,
    shard_urls,
)
from pipeline.data.imports import Origin, one_line
from pipeline.data.mono import Request, Text, import_mono
from pipeline.data.seen import Seen
from pipeline.data.texts import file_lines, stream_lines

log = logging.getLogger(__name__)

MAX_CHARACTERS = 600


def main(argv: Sequence[str] | None = None) -> None:
    """Write mono.{lang}.zst and stats.json, which counts shards and documents, too."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--min-score", required=True, type=float, help="least score, of documents or lines")
    import_mono(parser, argv, download)


def download(request: Request, scratch: Path) -> Text:
    """The lines of the shards, as they are read."""
    release = release_of(request.dataset)
    listing = release.map_url.format(code=request.code)
    source = fetch(listing, scratch / "shards.txt")
    urls = shard_urls(file_lines(scratch / "shards.txt"), release, request.min_score)
    if not urls:
        raise InputError(f"{listing} lists no shard with a score of {request.min_score:g} or more. Lower it.")
    Random(listing).shuffle(urls)
    return _Reader(request, release, urls).text(Origin([source], release.number, LICENCE))


class _Reader:
    """Reads shard after shard, and counts."""

    def __init__(self, request: Request, release: Release, urls: Sequence[str]) -> None:
        self._request = request
        self._release = release
        self._urls = urls
        self._line_codes = {request.code, LINE_CODES.get(request.code, request.code)}
        self._seen = Seen()

    def text(self, origin: Origin) -> Text:
        """The lines that are kept; the origin counts the others while they are read."""
        self._origin = origin
        self._documents = {"read": 0, "kept": 0}
        self._shards: dict[str, object] = {"listed": len(self._urls)}
        origin.details = {"shards": self._shards, "documents": self._documents}
        return Text(self._lines(), origin)

    def _lines(self) -> Iterator[str]:
        for number, url in enumerate(self._urls, start=1):
            self._shards["read"] = number
            log.info("Shard %s of %s: %s", number, len(self._urls), url)
            with Stream(url) as stream:
                text = bounded(decompress_zstd(stream), url, stream.received)
                for json_line in stream_lines(text, url):
                    for line in self._kept(read_document(json_line, self._release)):
                        yield line
                        if len(self._seen) == self._request.max_sentences:
                            self._shards["the last, in part"] = url
                            return
                self._origin.sources.append(stream.source())

    def _kept(self, document: Document | None) -> Iterator[str]:
        self._documents["read"] += 1
        dropped = self._origin.dropped
        if document is None:
            dropped["broken document"] += 1
        elif document.score < self._request.min_score:
            dropped["score"] += len(document.lines)
        elif document.lang != self._request.code and not self._release.scored_lines:
            dropped["language of the document"] += len(document.lines)
        else:
            self._documents["kept"] += 1
            for line, lang, score in zip(
                document.lines, document.line_langs, document.line_scores, strict=True
            ):
                reason = self._why_not(line, lang, score)
                if reason:
                    dropped[reason] += 1
                else:
                    yield line

    def _why_not(self, line: str, lang: str, score: float) -> str:
        if score < self._request.min_score:
            return "score"
        if lang not in self._line_codes:
            return "language of the line"
        if not line.strip():
            return "empty"
        if len(line) > MAX_CHARACTERS:
            return "too long"
        return "" if self._seen.add(one_line(line)) else "duplicate"


if __name__ == "__main__":
    run(main)
