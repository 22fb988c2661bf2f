"""The store, over whatever keeps its files, in a folder or in a bucket."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager

from translations_assets.store.artifacts import Artifacts
from translations_assets.store.attempts import Checkpoints, Logs
from translations_assets.store.medium import Lost, Medium, Owners, P
from translations_assets.store.records import Records


class DurableStore(Artifacts[P], Logs[P], Checkpoints[P], Records[P]):
    """A `Store` that is looked after by `gc` and `verify`; see `running.protocols.Store`."""

    look_ups = 1  # where a look-up takes no time to speak of, threads only cost some
    rewrite_seconds = 0.0

    def __init__(self, files: Medium[P], owners: Owners) -> None:
        self.files, self.owners = files, owners
        self.root, self.url = files.root, files.url

    def __str__(self) -> str:
        return str(self.files)

    def lock(self, key: str, generation: int, lost: Lost | None = None) -> AbstractContextManager[bool]:
        """Try to become the owner of a step's generation; gives False at once when another worker is."""
        return self.owners.lock(key, generation, lost)

    def is_owned(self, key: str, generation: int) -> bool:
        """Whether a step's generation has an owner now."""
        return self.owners.is_owned(key, generation)

    def disown(self, finished: Collection[tuple[str, int]]) -> None:
        """Remove what owners of finished steps left who were killed."""
        self.owners.disown(finished)

    def waiting(self, key: str, generation: int) -> AbstractContextManager[None]:
        """Be counted among those who want a step's result."""
        return self.owners.waiting(key, generation)

    def waiters(self, key: str, generation: int) -> int:
        """How many want a step's result now."""
        return self.owners.waiters(key, generation)
