"""Readers of a step's log while it grows: meanwhile its worker stores it in small parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from translations_assets.common.errors import StoreError
from translations_assets.running.protocols import Store


@contextmanager
def reading(store: Store, key: str, generation: int) -> Iterator[None]:
    """Be counted among those who read a step's log, until the end of the block or of the process.

    Who may not write the store is not counted, and sees new lines when the worker stores them anyhow.
    """
    with ExitStack() as counted:
        with suppress(StoreError):
            counted.enter_context(store.owners.waiting(_log(key), generation))
        yield


def is_read(store: Store, key: str, generation: int) -> bool:
    """True if anybody reads a step's log now, as far as is known."""
    with suppress(StoreError):
        return store.owners.waiters(_log(key), generation) > 0
    return False


def _log(key: str) -> str:
    """Return the key that readers of a log wait for: no step has such a key."""
    return f"{key}-log"
