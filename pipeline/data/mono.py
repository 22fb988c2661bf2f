"""The frame of the monolingual importers: options, a uniform sample of a text that is too long, statistics.

An importer is this frame with a function that downloads a dataset and yields its lines. Memory grows neither
with the dataset nor with --max-sentences.
"""

import argparse
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.common.script import new_folder
from pipeline.data.imports import (
    SEED,
    Origin,
    Stats,
    import_stats,
    one_line,
    publish,
    refuse_empty,
    scratch_folder,
    shown,
)
from pipeline.data.limited import write_limited

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Request:
    """What to import: a dataset's name at its provider, the provider's code of the language, the limits."""

    dataset: str
    code: str
    max_sentences: int
    min_score: float = 0.0  # of a provider that scores its texts


@dataclass(frozen=True)
class Text:
    """Lines to be read once, and where they came from."""

    lines: Iterable[str]
    origin: Origin


Download = Callable[[Request, Path], Text]


def import_mono(parser: argparse.ArgumentParser, argv: Sequence[str] | None, download: Download) -> None:
    """Run a monolingual importer, whose help text the parser has, and its own options if there are any.

    `download(request, scratch)` fetches what it needs into the scratch folder and returns a Text.
    Written into the output folder: mono.{lang}.zst, in the order of the dataset, and stats.json.
    """
    parser.set_defaults(min_score=0.0)
    args = _arguments(parser, argv)
    output = new_folder(args.output)
    request = Request(args.dataset, args.code, args.max_sentences, args.min_score)
    log.info("Importing %s into %s", request, output)
    with scratch_folder(output, args.dataset) as scratch:
        text = download(request, scratch)
        file = scratch / f"mono.{args.lang}.zst"
        publish([file], _write(text, file, request, scratch), output)


def _arguments(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> argparse.Namespace:
    add = parser.add_argument
    add("--dataset", required=True, help="name of the dataset, without the provider in front")
    add("--lang", required=True, help="language, as it stands in file names")
    add("--code", required=True, help="the provider's code of the language")
    add("--max-sentences", required=True, type=int, help="sample this many lines when there are more")
    add("--output", required=True, type=Path, help="new folder for the text")
    args = parser.parse_args(argv)
    if args.max_sentences < 1:
        parser.error(f"--max-sentences must be at least 1, not {args.max_sentences}")
    return args


def _write(text: Text, file: Path, request: Request, scratch: Path) -> Stats:
    lines = map(one_line, text.lines)
    limited = write_limited(lines, request.max_sentences, f"{SEED} {request.dataset}", file, scratch)
    refuse_empty(limited.lines, text.origin)
    log.info("Read %s lines, wrote %s", f"{limited.lines:,}", f"{limited.written:,}")
    dropped = {"not in the sample": limited.lines - limited.written}
    return import_stats(limited.written, dropped, [shown(line) for line in limited.few], text.origin)
