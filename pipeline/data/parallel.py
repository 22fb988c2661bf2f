"""The frame of the parallel importers: options, and writing the two sides of a corpus.

An importer is this frame with a function that downloads a dataset and yields its pairs.
"""

import argparse
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.common.lines import LineWriter
from pipeline.common.sampling import Reservoir
from pipeline.common.script import new_folder
from pipeline.data.imports import (
    SAMPLES,
    SEED,
    Origin,
    import_stats,
    one_line,
    publish,
    refuse_empty,
    scratch_folder,
    shown,
)

log = logging.getLogger(__name__)

Pair = tuple[str, str]


@dataclass(frozen=True)
class Request:
    """What to import: a dataset's name at its provider, and the provider's codes of the two languages."""

    dataset: str
    src_code: str
    trg_code: str


@dataclass(frozen=True)
class Corpus:
    """Pairs (source, target) to be read once, and where they came from."""

    pairs: Iterable[Pair]
    origin: Origin


Download = Callable[[Request, Path], Corpus]


def import_parallel(parser: argparse.ArgumentParser, argv: Sequence[str] | None, download: Download) -> None:
    """Run a parallel importer, whose help text the parser has.

    `download(request, scratch)` fetches what it needs into the scratch folder and returns a Corpus. Written
    into the output folder: corpus.{src}.zst, corpus.{trg}.zst, stats.json.
    """
    args = _arguments(parser, argv)
    output = new_folder(args.output)
    request = Request(args.dataset, args.src_code, args.trg_code)
    log.info("Importing %s into %s", request, output)
    with scratch_folder(output, args.dataset) as scratch:
        corpus = download(request, scratch)
        files = [scratch / f"corpus.{args.src}.zst", scratch / f"corpus.{args.trg}.zst"]
        written, samples = write_pairs(corpus.pairs, files)
        refuse_empty(written, corpus.origin)
        publish(files, import_stats(written, {}, samples, corpus.origin), output)


def _arguments(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> argparse.Namespace:
    add = parser.add_argument
    add("--dataset", required=True, help="name of the dataset, without the provider in front")
    add("--src", required=True, help="source language, as it stands in file names")
    add("--trg", required=True, help="target language, as it stands in file names")
    add("--src-code", required=True, help="the provider's code of the source language")
    add("--trg-code", required=True, help="the provider's code of the target language")
    add("--output", required=True, type=Path, help="new folder for the corpus")
    args = parser.parse_args(argv)
    if args.src == args.trg:
        parser.error(f"--src and --trg are both {args.src}")
    if args.src_code == args.trg_code:
        parser.error(f"--src-code and --trg-code are both {args.src_code}")
    return args


def write_pairs(pairs: Iterable[Pair], files: Sequence[Path]) -> tuple[int, list[object]]:
    """Write both sides, source first; returns how many pairs there were, and samples for stats.json."""
    samples: Reservoir[Pair] = Reservoir(SAMPLES, SEED)
    with LineWriter(files[0]) as src_writer, LineWriter(files[1]) as trg_writer:
        for src, trg in pairs:
            pair = one_line(src), one_line(trg)
            src_writer.write(pair[0])
            trg_writer.write(pair[1])
            samples.add(pair)
    log.info("Wrote %s pairs", f"{samples.seen:,}")
    return samples.seen, [[shown(src), shown(trg)] for src, trg in samples.items()]
