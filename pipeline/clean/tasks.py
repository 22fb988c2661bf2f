"""A few long tasks side by side, in processes."""

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeVar

from pipeline.common.pool import killed_is_temporary
from pipeline.common.processes import dying_with_parent
from pipeline.common.resources import at_once

Result = TypeVar("Result")

SMALL = 4 << 20  # files of fewer bytes in all are read before another process has started
PROCESS_MB = 100  # what a process takes that reads or writes a text


def processes(files: Sequence[Path]) -> int:
    """How many processes may read or write so much text at a time, by what the worker grants."""
    if sum(file.stat().st_size for file in files) < SMALL:
        return 1
    return at_once(PROCESS_MB, besides=PROCESS_MB)


def run_all(tasks: Sequence[Callable[[], Result]], number: int) -> list[Result]:
    """The results of all tasks, in order; in up to `number` processes, which end with this one.

    A task must be picklable: a function of a module with its arguments (functools.partial). Raises what the
    first failing task raised, TemporaryError when a process was killed.
    """
    if min(number, len(tasks)) <= 1:
        return [task() for task in tasks]
    with (
        killed_is_temporary(),
        ProcessPoolExecutor(min(number, len(tasks)), initializer=dying_with_parent()) as pool,
    ):
        waiting = [pool.submit(task) for task in tasks]
        try:
            return [future.result() for future in waiting]
        finally:
            pool.shutdown(cancel_futures=True)
