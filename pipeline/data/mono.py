"""The frame of the monolingual importers: options, a uniform sample of a text that is too long, statistics.

An importer is this frame with a function that downloads a dataset and yields its lines. Memory grows with
--max-sentences, not with the dataset.
"""

import argparse
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.common.lines import LineWriter, write_lines
from pipeline.common.sampling import Reservoir, sample
from pipeline.common.script import new_folder
from pipeline.data.imports import (
    SAMPLES,
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
    """Lines to be read once, and where they came from.

    `chosen` says that the importer itself ends at the limit, with lines that need no sampling any more.
    """

    lines: Iterable[str]
    origin: Origin
    chosen: bool = False


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
        stats = _write_chosen(text, file) if text.chosen else _write_sample(text, file, request)
        publish([file], stats, output)


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


def _write_sample(text: Text, file: Path, request: Request) -> Stats:
    kept: Reservoir[str] = Reservoir(request.max_sentences, f"{SEED} {request.dataset}")
    for line in text.lines:
        kept.add(one_line(line))
    refuse_empty(kept.seen, text.origin)
    written = write_lines(file, kept.items())
    log.info("Read %s lines, wrote %s", f"{kept.seen:,}", f"{written:,}")
    samples: list[object] = [shown(line) for line in sample(kept.items(), SAMPLES, SEED)]
    return import_stats(written, {"not in the sample": kept.seen - written}, samples, text.origin)


def _write_chosen(text: Text, file: Path) -> Stats:
    samples: Reservoir[str] = Reservoir(SAMPLES, SEED)
    with LineWriter(file) as writer:
        for line in text.lines:
            writer.write(one_line(line))
            samples.add(line)
    refuse_empty(writer.lines, text.origin)
    log.info("Wrote %s lines", f"{writer.lines:,}")
    return import_stats(writer.lines, {}, [shown(line) for line in samples.items()], text.origin)
