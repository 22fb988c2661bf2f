"""Aligns a corpus of words block by block, with priors in common, so that memory is bounded by the block.

eflomal holds its whole input, three times for each direction; a block of a million pairs takes a few GB. The
priors carry what one block has learned about words to the others.
"""

import logging
import random
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path

from pipeline.alignments.eflomal_runs import Block, align_directions, compute_priors
from pipeline.alignments.symmetrize import format_links, grow_diag_final_and, parse_links
from pipeline.common.errors import Stopped, TemporaryError
from pipeline.common.lines import LineWriter, read_lines, write_lines, zip_lines
from pipeline.common.pool import killed_is_temporary
from pipeline.common.processes import dying_with_parent
from pipeline.common.resources import at_once

logger = logging.getLogger(__name__)

BLOCK_LINES = 1_000_000
BLOCK_MB = 4_000  # that eflomal takes for a block of pairs of 20 words, both directions
NEXT_MB = 600  # for the block that is read meanwhile
# eflomal's time grows with the square of the length, and it refuses sentences of 1,024 words and more.
# Training does not read such lines either.
MAX_WORDS = 500
SAMPLE_SEED = 1111
MARK = "\ufeff"  # of the order of bytes; whoever reads a file of lines drops the one that it begins with

Pair = tuple[str, ...]


@dataclass(frozen=True)
class Corpus:
    """Two files of words joined by single spaces, one sentence a line, and the number of their lines."""

    source: Path
    target: Path
    lines: int


def align_corpus(corpus: Corpus, links: Path, work: Path, block_lines: int = BLOCK_LINES) -> None:
    """Align a corpus of which nothing is known, and write one line of links a pair; else as `align_blocks`.

    One that is no longer than a block is aligned at once, a longer one with the priors of a uniform sample of
    a block's length.
    """
    sample = align_sample(sample_pairs(corpus, block_lines), work)
    if corpus.lines <= block_lines:
        symmetrize_block(sample)
        write_lines(links, _links_of(sample))
        return
    compute_priors(sample, work / "corpus.priors")
    _remove(sample)
    pairs = zip_lines(corpus.source, corpus.target)
    blocks = align_blocks(pairs, work, work / "corpus.priors", block_lines)
    write_lines(links, chain.from_iterable(blocks))


def align_blocks(
    pairs: Iterator[Pair], work: Path, priors: Path, block_lines: int = BLOCK_LINES
) -> Generator[Iterator[str], None, None]:
    """Align pairs in both directions, symmetrise, and yield block by block one line of links a pair.

    A pair with an empty side, or one of more than MAX_WORDS words, gets an empty line. `work` is a folder for
    temporary files, somewhat larger than the blocks that are aligned at a time.
    """
    with closing(_align_all(pairs, work, priors, block_lines)) as blocks:
        for block in blocks:
            yield _links_of(block)


def align_sample(pairs: Iterable[Pair], work: Path) -> Block:
    """Align pairs in both directions, all at once and without priors, to learn from them."""
    block = Block(_new_folder(work / "sample"), number=0)
    _write_block(block, pairs)
    align_directions(block)
    return block


def sample_pairs(corpus: Corpus, size: int) -> Iterator[Pair]:
    """Yield a uniform, seeded sample of at most `size` pairs in their order (Knuth, algorithm S)."""
    chance = random.Random(SAMPLE_SEED)
    wanted = size
    for number, pair in enumerate(zip_lines(corpus.source, corpus.target)):
        if chance.random() * (corpus.lines - number) < wanted:
            wanted -= 1
            yield pair


def can_align(source: str, target: str) -> bool:
    """Whether a pair of lines has words on both sides, and not too many."""
    return all(line and line.count(" ") < MAX_WORDS for line in (source, target))


def align_and_symmetrize(block: Block) -> Block:
    """Align a block in both directions and join them: `source`, `target` → `links`."""
    align_directions(block)
    symmetrize_block(block)
    return block


def symmetrize_block(block: Block) -> None:
    """Join the two directions of an aligned block: `forward`, `reverse` → `links`."""
    with LineWriter(block.folder / "links") as links:
        for forward, reverse in zip_lines(block.forward, block.reverse):
            links.write(format_links(grow_diag_final_and(parse_links(forward), parse_links(reverse))))


def _align_all(
    pairs: Iterator[Pair], work: Path, priors: Path, block_lines: int
) -> Generator[Block, None, None]:
    """Yield the blocks in their order, aligned; as many at a time as threads and memory allow.

    When one is killed, those that are not done are aligned one at a time. Raises TemporaryError when one is
    killed then.
    """
    blocks = _cut(pairs, work, priors, block_lines)
    megabytes = max(1, BLOCK_MB * block_lines // BLOCK_LINES)
    workers = at_once(megabytes, threads_each=2, besides=NEXT_MB)  # a block's directions run at once
    begun: deque[Block] = deque()
    try:
        yield from _align_side_by_side(blocks, workers, begun)
    except Stopped:
        raise
    except TemporaryError as error:
        if workers == 1:
            raise
        logger.warning("%s Going on with one block at a time", error)
        yield from _align_side_by_side(chain([*begun], blocks), 1, deque())


def _align_side_by_side(
    blocks: Iterable[Block], workers: int, begun: deque[Block]
) -> Generator[Block, None, None]:
    """Align blocks, so many at a time; those that are not yet yielded stand in `begun`."""
    spawn = get_context("spawn")  # a fork would copy the threads that compress the output
    with (
        killed_is_temporary(),
        ProcessPoolExecutor(workers, mp_context=spawn, initializer=dying_with_parent()) as pool,
    ):
        running: deque[Future[Block]] = deque()
        for block in blocks:
            begun.append(block)
            running.append(pool.submit(align_and_symmetrize, block))
            if len(running) == workers:
                yield _next_of(running, begun)
        while running:
            yield _next_of(running, begun)


def _next_of(running: deque[Future[Block]], begun: deque[Block]) -> Block:
    running.popleft().result()
    return begun.popleft()


def _cut(pairs: Iterator[Pair], work: Path, priors: Path, block_lines: int) -> Iterator[Block]:
    """Write the corpus as blocks, each only when it is asked for, so that disk space is bounded too."""
    number = 0
    while part := list(islice(pairs, block_lines)):
        number += 1
        block = Block(_new_folder(work / f"block-{number}"), number, priors)
        _write_block(block, part)
        yield block


def _write_block(block: Block, pairs: Iterable[Pair]) -> None:
    with LineWriter(block.source) as source_lines, LineWriter(block.target) as target_lines:
        for source, target in pairs:
            usable = can_align(source, target)
            for side, line in ((source_lines, source), (target_lines, target)):
                begins = side.lines == 0 and line.startswith(MARK)
                side.write((MARK if begins else "") + line if usable else "")
    logger.info("Block %d: %s pairs to align", block.number, f"{source_lines.lines:,}")


def _links_of(block: Block) -> Iterator[str]:
    """The links of a block, which is removed behind them."""
    yield from read_lines(block.folder / "links")
    _remove(block)


def _new_folder(path: Path) -> Path:
    path.mkdir()
    return path


def _remove(block: Block) -> None:
    for file in block.folder.iterdir():
        file.unlink()
    block.folder.rmdir()
