"""Looking up many steps at once, where the store is far away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from translations_assets.running.protocols import Store

T = TypeVar("T")
U = TypeVar("U")


class Looking:
    """Calls a function for each of some items: in threads, or one after the other without them."""

    def __init__(self, pool: ThreadPoolExecutor | None) -> None:
        self._pool = pool

    def each(self, function: Callable[[T], U], items: Iterable[T]) -> Iterator[U]:
        """The results in the order of the items; an exception comes where its result would."""
        return self._pool.map(function, items) if self._pool else map(function, items)


@contextmanager
def looking(store: Store) -> Iterator[Looking]:
    """As many look-ups at once as pay off with a store; they have ended when the block is left."""
    if store.look_ups == 1:
        yield Looking(None)
        return
    with ThreadPoolExecutor(store.look_ups, thread_name_prefix="look up") as pool:
        yield Looking(pool)
