"""The speed of feeding Marian: this feed beside OpusTrainer's own, with all modifiers of a curriculum.

    python -m benchmarks.feed
    python -m benchmarks.feed --langs en ru --corpus corpus.en.gz corpus.ru.gz [--pairs 60000] \\
        [--lines 200000] [--workers 1 2] [--runs 3] [--curricula student teacher.one-stage]

Text is aligned and vocabularies are learnt by the pipeline's scripts, by default of the demo's text; it is
repeated. Both ways write into a pipe, in alternating runs. OpusTrainer is driven by its own Trainer, reader
and pool of workers, with batches of 4096 lines in chunks of 128 and this project's case and typing errors; it
is given a fifth of the lines. Printed are medians: lines a second by the clock, which other programs on the
machine change, and processor time, which they change little: that of all processes of a feed, shuffling
included, once what it makes ahead of its reader has been read. Source words are those between spaces before
any modifier. The bar: 62,500 source words a processor second (a million from 16 cores, enough for 8 GPUs),
and three times OpusTrainer.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, islice
from multiprocessing import get_context, set_start_method
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import psutil
from opustrainer.trainer import AsyncDatasetReader, Trainer

from benchmarks.guided_alignment import aligned, chosen, learned, reading
from pipeline.alignments.icu_tokens import SPACE
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.processes import die_with_parent
from pipeline.train import typos
from pipeline.train.curriculum import Curriculum, add_curriculum_arguments, given_curriculum, load
from pipeline.train.feed import Feed
from pipeline.train.pair_blocks import PairBlockWriter
from pipeline.train.pairs import PairMaker

BATCH, CHUNK = 4096, 128  # of OpusTrainer's way
FEWER = 5  # it is given one line in so many
BAR, TIMES, CORES = 62_500, 3, 16
READ = 1 << 20
LONGEST = 10_000  # pieces: no line is left out


@dataclass(frozen=True)
class Speed:
    """The cost of one line in a run."""

    clock: float  # seconds
    processor: float
    writer: float  # of these, those of the process that writes to Marian


@dataclass(frozen=True)
class Text:
    """The same pairs for both ways."""

    folder: Path
    lines: int
    words: float  # of the source, a line
    sizes: Mapping[str, float]  # bytes a pair, by file


def main(argv: Sequence[str] | None = None) -> None:
    """Print a line for each curriculum, number of workers and way."""
    args = parse_arguments(argv)
    logging.getLogger().setLevel(logging.WARNING)
    with tempfile.TemporaryDirectory(prefix="feed-") as name:
        folder = Path(name)
        rows = prepared(args, folder)
        for curriculum_name in args.curricula:
            curriculum = curriculum_of(args, folder, curriculum_name)
            text = written(args, folder / curriculum_name, rows, curriculum)
            print(
                f"{curriculum_name}: {text.words:.1f} words a source line; a pair has "
                f"{text.sizes['pairs.tsv']:.0f} bytes as TSV, {text.sizes['pairs/pairs.zst']:.0f} in blocks",
                flush=True,
            )
            for workers in args.workers:
                compare(args, text, curriculum, workers)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--langs", nargs=2, default=("en", "eo"), help="source and target")
    add("--corpus", nargs="+", type=Path, help="files of the source, then as many of the target")
    add("--pairs", type=int, default=60_000, help="different pairs")
    add("--max-words", type=int, default=100, help="of a side")
    add("--vocab-size", type=int, default=4_000, help="pieces of the joint vocabulary")
    add("--lines", type=int, default=200_000, help="lines of which the time is taken in a run")
    add("--workers", nargs="+", type=int, default=[1, 2], help="numbers of workers")
    add("--runs", type=int, default=3, help="runs of each")
    add(
        "--curricula", nargs="+", default=["student", "teacher.one-stage"], help="names in configs/curriculum"
    )
    return parser.parse_args(argv)


def prepared(args: argparse.Namespace, folder: Path) -> list[str]:
    """Pairs as tokens with links, and a vocabulary in the folder."""
    pairs = chosen(args)
    for name in ("corpus", "train"):
        for lang, lines in zip(args.langs, zip(*pairs, strict=True), strict=True):
            write_lines(folder / f"{name}.{lang}.zst", lines)
    tokens = aligned(args, folder)
    learned(args, folder)
    return ["\t".join(row) for row in zip(*map(read_lines, tokens), strict=True) if all(row)]


def curriculum_of(args: argparse.Namespace, folder: Path, name: str) -> Curriculum:
    """A curriculum of the pipeline for these languages."""
    parser = argparse.ArgumentParser()
    add_curriculum_arguments(parser)
    names = dict(zip(("src", "trg"), args.langs, strict=True))
    vocabs = map(str, vocabularies(args, folder))
    names |= dict(zip(("source-vocab", "target-vocab"), vocabs, strict=True))
    return given_curriculum(parser.parse_args(reading(args, name)), names)


def vocabularies(args: argparse.Namespace, folder: Path) -> list[Path]:
    """Those of source and target."""
    return [folder / "vocab" / f"vocab.{lang}.spm" for lang in args.langs]


def written(args: argparse.Namespace, folder: Path, rows: Sequence[str], curriculum: Curriculum) -> Text:
    """The pairs as both ways read them: TSV, and blocks with the links of pieces."""
    folder.mkdir()
    lines = list(islice(cycle(rows), args.lines))
    write_lines(folder / "pairs.tsv", lines[: args.lines // FEWER])
    maker = PairMaker(vocabularies(args, folder.parent), LONGEST, True, curriculum.aligns_pieces)
    prepared, _ = maker([row.split("\t") for row in rows])
    results = dict(zip(rows, prepared, strict=True))
    (folder / "pairs").mkdir()
    with PairBlockWriter(folder / "pairs") as writer:
        for line in lines:
            writer.write(results[line])
    words = statistics.mean(1 + line.split("\t")[0].count(f" {SPACE} ") for line in rows)
    counts = {"pairs.tsv": args.lines // FEWER, "pairs/pairs.zst": args.lines}
    sizes = {name: (folder / name).stat().st_size / count for name, count in counts.items()}
    return Text(folder, len(lines), words, sizes)


def compare(args: argparse.Namespace, text: Text, curriculum: Curriculum, workers: int) -> None:
    """Run both ways in turn, and print the medians."""
    ways = {
        "OpusTrainer": partial(start_opustrainer, text, curriculum, workers),
        "this feed": partial(start_feed, text, curriculum, workers),
    }
    sizes = {
        "OpusTrainer": (BATCH, text.lines // FEWER),
        "this feed": ((2 * workers + 1) * curriculum.batch_size, text.lines),
    }
    speeds: dict[str, list[Speed]] = {way: [] for way in ways}
    for _ in range(args.runs):
        for way, start in ways.items():
            speeds[way].append(measured(start, *sizes[way]))
    medians = {way: statistics.median(speed.processor for speed in runs) for way, runs in speeds.items()}
    for way, runs in speeds.items():
        clock, processor = statistics.median(speed.clock for speed in runs), medians[way]
        low, high = (1e6 * pick(speed.processor for speed in runs) for pick in (min, max))
        print(
            f"  {workers} workers, {way:11}: {1 / clock:9,.0f} lines/s by the clock; processor: "
            f"{1e6 * processor:6.1f} µs a line ({low:.1f} to {high:.1f}), {1 / processor:8,.0f} lines/s, "
            f"{text.words / processor:9,.0f} source words/s",
            flush=True,
        )
    words = text.words / medians["this feed"]
    writer = statistics.median(speed.writer for speed in speeds["this feed"])
    print(
        f"    {medians['OpusTrainer'] / medians['this feed']:.1f} times OpusTrainer (bar: {TIMES}); "
        f"{CORES} cores: {CORES * words:,.0f} source words/s (bar: {CORES * BAR:,}); its one writing process "
        f"takes {1e6 * writer:.1f} µs a line, and so could write {text.words / writer:,.0f} source words/s",
        flush=True,
    )


def measured(start: Any, ahead: int, lines: int) -> Speed:
    """Read lines from a feed; time counts when those ahead have been read."""
    receiving, sending = os.pipe()
    process: BaseProcess = start(sending)
    os.close(sending)
    tree = psutil.Process(process.pid)
    read_some(receiving, ahead)
    begin, used, wrote = time.perf_counter(), processor_seconds(tree), sum(tree.cpu_times()[:2])
    seen = read_some(receiving, lines)
    speed = Speed(
        (time.perf_counter() - begin) / seen,
        (processor_seconds(tree) - used) / seen,
        (sum(tree.cpu_times()[:2]) - wrote) / seen,
    )
    for one in [*tree.children(recursive=True), tree]:
        one.kill()
    process.join()
    os.close(receiving)
    return speed


def read_some(pipe: int, lines: int) -> int:
    """Read at least so many lines; returns how many."""
    seen = 0
    while seen < lines:
        text = os.read(pipe, READ)
        if not text:
            raise SystemExit(f"The feed ended after {seen:,} of {lines:,} lines")
        seen += text.count(b"\n")
    return seen


def processor_seconds(tree: psutil.Process) -> float:
    """Sum up the processor time of a process, its children and those that have ended."""
    return sum(sum(one.cpu_times()[:4]) for one in [tree, *tree.children(recursive=True)])


def start_feed(text: Text, curriculum: Curriculum, workers: int, pipe: int) -> BaseProcess:
    """This project's feed."""
    config = endless(curriculum, text.folder / "pairs")
    scratch = Path(tempfile.mkdtemp(dir=text.folder))
    return Feed(config, batch_size=curriculum.batch_size, workers=workers, scratch=scratch).start(pipe, 0)


def start_opustrainer(text: Text, curriculum: Curriculum, workers: int, pipe: int) -> BaseProcess:
    """OpusTrainer as it is."""
    config = endless(curriculum, text.folder / "pairs.tsv")
    with Connection(os.dup(pipe), readable=False) as connection:
        process = get_context("spawn").Process(target=run_opustrainer, args=(config, workers, connection))
        process.start()
    return process


def run_opustrainer(config: dict[str, Any], workers: int, pipe: Connection[Any, Any]) -> None:
    """Write OpusTrainer's lines to a pipe until it is closed."""
    die_with_parent()
    set_start_method("fork", force=True)
    os.register_at_fork(after_in_child=die_with_parent)
    typos.install()
    random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(load(config), reader=AsyncDatasetReader, tmpdir=folder)
        with (
            closing(trainer),
            os.fdopen(os.dup(pipe.fileno()), "w", encoding="utf-8", newline="\n") as stream,
        ):
            for batch in trainer.run(batch_size=BATCH, chunk_size=CHUNK, processes=workers):
                stream.writelines(batch)


def endless(curriculum: Curriculum, file: Path) -> dict[str, Any]:
    """OpusTrainer's configuration to read one corpus without end with the curriculum's modifiers."""
    whole = replace(curriculum, stages={"all": ["original 1.0", "until original inf"]})
    return whole.stage_config(0, {"original": file}, aligned=True, seed=1)


if __name__ == "__main__":
    main()
