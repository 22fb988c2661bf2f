"""What the stores that outlive a process, in a folder and in a bucket, have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from translations_assets.records.manifest import Blob
from translations_assets.store.logs import Logs
from translations_assets.store.manifests import Manifests
from translations_assets.store.medium import Medium, P
from translations_assets.store.records import Records


class DurableStore(Manifests[P], Logs[P], Records[P]):
    """A `Store` that is looked after: what `gc` and `verify` ask of it besides."""

    def __str__(self) -> str:
        return str(self._files)

    @property
    def files(self) -> Medium[P]:
        """The store's files."""
        return self._files

    @property
    def root(self) -> P:
        """What all paths begin with."""
        return self._files.root

    @abstractmethod
    def digest_now(self, digest: str) -> Blob | None:
        """Digest and size of what stands under a digest, read anew; None when nothing does."""

    @abstractmethod
    def mark_time(self) -> int:
        """A time in ns by the clock of the files' times.

        Whoever relies on contents that were last touched before it has committed what names them by now.
        """

    @abstractmethod
    def removing_blobs(self) -> AbstractContextManager[None]:
        """Keep everybody from relying on contents that they find, while some are removed."""

    @abstractmethod
    def lock(
        self, key: str, generation: int, lost: Callable[[str], None] | None = None
    ) -> AbstractContextManager[bool]:
        """Try to become the owner of a step's generation."""

    @abstractmethod
    def checkpoint_sets(self) -> Iterator[tuple[str, int, P]]:
        """(key, generation, folder) of every checkpoint set, whole or not."""

    @abstractmethod
    def wrong_in_set(self, stored: P) -> str:
        """What is wrong with a stored checkpoint set; nothing with one whose writer was killed."""
