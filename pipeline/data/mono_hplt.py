"""Import text from HPLT's web crawls: 3.0, 2.0 or 1.2.

Shards are visited in a seeded order and read over the network until there are enough lines. A line is kept
when its document (3.0, 2.0) or itself (1.2) has the least score, when document and line are in the language,
when it has at most 600 characters, and when it was not met before. In release 1.2 the document's own
language does not matter. What comes of a shard is kept for another attempt, which goes on with the next one.

    python -m pipeline.data.mono_hplt --dataset mono/v3.0 --lang ru --code rus_Cyrl \\
        --min-score 8 --max-sentences 100000 --output mono
"""

import argparse
import json
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random

from pipeline.common.downloads import Stream, fetch
from pipeline.common.errors import InputError
from pipeline.common.finished import finished_lines
from pipeline.common.limits import bounded
from pipeline.common.lines import decompress_zstd
from pipeline.common.made_from import MadeFrom
from pipeline.common.script import run
from pipeline.common.web import Source
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
STATE = "\t"  # begins a line that says how far the import has come; others have no tabs


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
    listing = release.map_url.replace("{code}", request.code)
    source = fetch(listing, scratch / "shards.txt")
    urls = shard_urls(file_lines(scratch / "shards.txt"), release, request.min_score)
    if not urls:
        raise InputError(f"{listing} lists no shard with a score of {request.min_score:g} or more. Lower it.")
    Random(listing).shuffle(urls)
    return _Reader(request, release, urls, Origin([source], release.number, LICENCE)).text(scratch)


class _Reader:
    """Reads shard after shard, and counts."""

    def __init__(self, request: Request, release: Release, urls: Sequence[str], origin: Origin) -> None:
        self._request = request
        self._release = release
        self._urls = urls
        self._origin = origin
        self._line_codes = {request.code, LINE_CODES.get(request.code, request.code)}
        self._seen = Seen()
        self._read: list[str] = []  # the shards
        self._documents = {"read": 0, "kept": 0}

    def text(self, scratch: Path) -> Text:
        """The lines that are kept, after those that an earlier attempt has read."""
        with finished_lines(scratch, MadeFrom({}, asdict(self._request))) as finished:
            self._restore(finished.read())
            for url in self._urls:
                if url not in self._read and not self._is_full:
                    finished.add(self._shard(url))
        shards: dict[str, object] = {"listed": len(self._urls), "read": len(self._read)}
        if self._is_full:
            shards["the last, in part"] = self._read[-1]
        self._origin.details = {"shards": shards, "documents": self._documents}
        return Text((line for line in finished.read() if not line.startswith(STATE)), self._origin)

    @property
    def _is_full(self) -> bool:
        return len(self._seen) == self._request.max_sentences

    def _restore(self, finished: Iterable[str]) -> None:
        for line in finished:
            if not line.startswith(STATE):
                self._seen.add(line)
                continue
            state = json.loads(line)
            self._read.append(state["shard"])
            self._documents = state["documents"]
            self._origin.dropped = Counter(state["dropped"])
            self._origin.sources += [Source(**source) for source in state["source"]]

    def _shard(self, url: str) -> Iterator[str]:
        """The lines of a shard, or the first of them, and how far the import has come with them."""
        self._read.append(url)
        log.info("Shard %s of %s: %s", len(self._read), len(self._urls), url)
        sources: list[Source] = []
        with Stream(url) as stream:
            yield from self._lines(stream, url)
            if not self._is_full:
                sources.append(stream.source())
        self._origin.sources += sources
        state = {
            "shard": url,
            "documents": self._documents,
            "dropped": self._origin.dropped,
            "source": [asdict(source) for source in sources],
        }
        yield STATE + json.dumps(state)

    def _lines(self, stream: Stream, url: str) -> Iterator[str]:
        text = bounded(decompress_zstd(stream, url), url, stream.received)
        for json_line in stream_lines(text, url):
            for line in self._kept(read_document(json_line, self._release)):
                yield one_line(line)
                if self._is_full:
                    return

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
