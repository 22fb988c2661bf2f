"""Work on blocks of lines in several processes, results in order, memory bounded."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from typing import TypeVar

from pipeline.common.errors import TemporaryError

Row = tuple[str, ...]
Result = TypeVar("Result")

BLOCK_ROWS = 5_000
BLOCK_CHARACTERS = 4_000_000  # a block of very long lines ends sooner


def blocks_of(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Cut a stream of rows into lists of at most 5,000 rows or about 4 million characters."""
    block: list[Row] = []
    characters = 0
    for row in rows:
        block.append(row)
        characters += sum(map(len, row))
        if len(block) >= BLOCK_ROWS or characters >= BLOCK_CHARACTERS:
            yield block
            block, characters = [], 0
    if block:
        yield block


def map_blocks(
    work: Callable[[Sequence[Row]], Result], rows: Iterable[Row], threads: int
) -> Generator[Result, None, None]:
    """Yield work(block) for each block, in order; in `threads` processes when there is more than one block.

    `work` must be picklable and must not depend on how the rows are cut into blocks.
    """
    blocks = blocks_of(rows)
    first = list(islice(blocks, 2))
    if threads == 1 or len(first) < 2:
        yield from map(work, chain(first, blocks))
        return
    # At most two blocks a process are under way: the pool's own map would read the whole corpus into memory.
    waiting: deque[Future[Result]] = deque()
    with ProcessPoolExecutor(threads) as pool:
        for block in chain(first, blocks):
            waiting.append(pool.submit(work, block))
            if len(waiting) >= 2 * threads:
                yield _result(waiting.popleft())
        while waiting:
            yield _result(waiting.popleft())


def _result(future: "Future[Result]") -> Result:
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise TemporaryError("A process that worked on the text was killed; was memory short?") from error
