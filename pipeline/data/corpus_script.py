"""Scripts that make a parallel corpus of another one: the arguments that they share, and their output."""

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import compress, count, islice
from pathlib import Path
from typing import TypeVar

from pipeline.common.script import new_folder
from pipeline.common.selection import STRETCH, Selection
from pipeline.data.imports import publish, scratch_folder
from pipeline.data.parallel import Pair, write_pairs

Item = TypeVar("Item")


def corpus_parser(text: str | None) -> argparse.ArgumentParser:
    """A parser of the languages, the sides of the corpus that is read, and the folder of the new one."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--src", required=True, help="source language, as it stands in file names")
    add("--trg", required=True, help="target language, likewise")
    add("--corpus-src", required=True, type=Path, help="source side (.zst, .gz or plain)")
    add("--corpus-trg", required=True, type=Path, help="target side")
    add("--output", required=True, type=Path, help="new folder for the corpus")
    return parser


def write_corpus(
    args: argparse.Namespace, pairs: Iterable[Pair], stats: Callable[[int], Mapping[str, object]]
) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json, or nothing where anything fails.

    stats  what stats.json says, beside samples, of so many written pairs; it is asked once all are written
    """
    output = new_folder(args.output)
    with scratch_folder(output, args.corpus_src.name) as scratch:
        files = [scratch / f"corpus.{args.src}.zst", scratch / f"corpus.{args.trg}.zst"]
        written, samples = write_pairs(pairs, files)
        publish(files, {**stats(written), "samples": samples}, output)


def drawn(items: Iterable[Item], total: int, size: int, seed: int) -> Iterator[Item]:
    """Draw `size` of `total` items at random, each with the same probability, in their order."""
    selection, stream = Selection(total, size, str(seed)), iter(items)
    for first in count(0, STRETCH):
        stretch = list(islice(stream, STRETCH))
        if not stretch:
            return
        yield from compress(stretch, selection.chosen(first, len(stretch)))
