"""The frame of the monolingual importers: options, a uniform sample of a text that is too long, statistics.

An importer is this frame with a function that downloads a dataset and yields its lines. Memory grows with
--max-sentences, not with the dataset.
"""

import argparse
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.common.downloads import Source
from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines
from pipeline.common.sampling import Reservoir, sample
from pipeline.common.script import new_folder
from pipeline.data.imports import (
    SAMPLES,
    SEED,
    import_stats,
    one_line,
    publish,
    scratch_folder,
    shown,
)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Text:
    """Lines to be read once, where they came from, and what else stats.json should say."""

    lines: Iterable[str]
    sources: Sequence[Source]
    details: dict[str, object] = field(default_factory=dict)


Download = Callable[[str, str, Path], Text]


def import_mono(parser: argparse.ArgumentParser, argv: Sequence[str] | None, download: Download) -> None:
    """Run a monolingual importer, whose help text the parser has.

    `download(dataset, code, scratch)` fetches what it needs into the scratch folder and returns a Text.
    Written into the output folder: mono.{lang}.zst, in the order of the dataset, and stats.json.
    """
    args = _arguments(parser, argv)
    output = new_folder(args.output)
    log.info("Importing %s (%s), at most %s lines", args.dataset, args.code, f"{args.max_sentences:,}")
    with scratch_folder(output, args.dataset) as scratch:
        text = download(args.dataset, args.code, scratch)
        file = scratch / f"mono.{args.lang}.zst"
        publish([file], _write(text, file, args.max_sentences, args.dataset), output)


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


def _write(text: Text, file: Path, size: int, dataset: str) -> dict[str, object]:
    kept: Reservoir[str] = Reservoir(size, f"{SEED} {dataset}")
    for line in text.lines:
        kept.add(one_line(line))
    if not kept.seen:
        urls = ", ".join(source.url for source in text.sources)
        raise InputError(f"It is empty ({urls}). Remove it from the config, or correct its name.")
    written = write_lines(file, kept.items())
    log.info("Read %s lines, wrote %s", f"{kept.seen:,}", f"{written:,}")
    dropped = {"not in the sample": kept.seen - written} if kept.seen > written else {}
    samples: list[object] = [shown(line) for line in sample(kept.items(), SAMPLES, SEED)]
    return import_stats(kept.seen, written, dropped, samples, text.sources) | text.details
