"""Work on blocks in several processes, results in order, memory bounded."""

import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import chain, islice
from multiprocessing import get_context
from typing import Any, ClassVar, TypeAlias, TypeVar

from pipeline.common.errors import TemporaryError
from pipeline.common.processes import dying_with_parent, put_off

# The lines of each side of a text, each ended by a line feed; equally many.
Texts: TypeAlias = tuple[bytes, ...]
Block = TypeVar("Block")
Result = TypeVar("Result")


def map_blocks(
    work: Callable[[Block], Result], blocks: Iterable[Block], threads: int
) -> Generator[Result, None, None]:
    """Yield work(block) for each block, in order; in `threads` processes when there is more than one block.

    The processes are forks of this one, so that `work` may hold large tables, or a model, which they share.
    Raises TemporaryError when one is killed.
    """
    blocks = iter(blocks)
    first = list(islice(blocks, 2))
    if threads == 1 or len(first) < 2:
        yield from map(work, chain(first, blocks))
        return
    # At most two blocks a process are under way: the pool's own map would read the whole corpus into memory.
    waiting: deque[Future[Any]] = deque()
    beginning = (work, dying_with_parent())
    with (
        killed_is_temporary(),
        ProcessPoolExecutor(threads, get_context("fork"), _Worker.begin, beginning) as pool,
    ):
        for block in chain(first, blocks):
            with put_off(signal.SIGTERM):  # the first one starts the processes, and a thread
                waiting.append(pool.submit(_Worker.do, block))
            if len(waiting) >= 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@contextmanager
def killed_is_temporary() -> Iterator[None]:
    """Raise TemporaryError for a pool one of whose processes was killed: results and new work tell of it."""
    try:
        yield
    except BrokenProcessPool as error:
        raise TemporaryError("A process that worked on the text was killed; was memory short?") from error


class _Worker:
    """What a process works with; handed over once, as it would be pickled again with each block."""

    work: ClassVar[Callable[[Any], Any]]

    @classmethod
    def begin(cls, work: Callable[[Any], Any], die_with_parent: Callable[[], None]) -> None:
        """Called once in each process."""
        die_with_parent()
        cls.work = work

    @classmethod
    def do(cls, block: Any) -> Any:
        """Work on a block."""
        return cls.work(block)
