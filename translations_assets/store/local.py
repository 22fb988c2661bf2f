"""The store in a folder, shared by all processes of a machine (or of several, on a file system with flock).

store.json  the format; tells a store from the empty folder that it is mounted on
blobs/ab/abcd…  steps/ab/<key>/<n>.json  logs/<key>/<n>.<attempt>/<part>  checkpoints/<key>/<n>/<set>/
runs/<run>.json  refs/<space>/<partition>/<stage>/<run>.json  pins/<run>.json  configs/<name>.yml
retired/<key>.<n>.json  how collected artifacts were made, while something kept was made from them
quarantine/  damaged files, each with its reason    locks/, tmp/, work/  of those who are at work now
"""

from __future__ import annotations

from pathlib import Path

from translations_assets.store.checkpoints import Checkpoints
from translations_assets.store.durable import DurableStore
from translations_assets.store.files import Files
from translations_assets.store.local_blobs import LocalBlobs
from translations_assets.store.ownership import Ownership


class LocalStore(LocalBlobs, Ownership, Checkpoints, DurableStore[Path]):
    """A `Store` in a folder, which is made when something is first written; see `running.protocols.Store`."""

    _files: Files

    def __init__(self, root: Path, *, read_only: bool = False) -> None:
        self._files = Files(root.resolve(), read_only)

    @property
    def files(self) -> Files:
        """The files below the store's folder, for its upkeep."""
        return self._files

    rewrite_seconds = 0.0

    @property
    def look_ups(self) -> int:
        """How many look-ups at once pay off: threads take longer than a look into a folder."""
        return 1

    @property
    def url(self) -> str:
        """What `open_store` opens this store by."""
        return self._files.root.as_uri()
