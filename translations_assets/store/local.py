"""The store in a folder, shared by all processes of a machine (or of several, on a file system with flock).

store.json  the format; tells a store from the empty folder that it is mounted on
blobs/ab/abcd…  steps/ab/<key>/<n>.json  logs/<key>/<n>.<attempt>/<part>  checkpoints/<key>/<n>/<set>/
runs/<run>.json  refs/<space>/<partition>/<stage>/<run>.json  pins/<run>.json  configs/<name>.yml
retired/<key>.<n>.json  how collected artifacts were made, while something kept was made from them
quarantine/  damaged files, each with its reason    locks/, tmp/, work/  of those who are at work now
"""

from __future__ import annotations

from pathlib import Path

from translations_assets.store.durable import DurableStore
from translations_assets.store.local_files import LocalFiles
from translations_assets.store.ownership import Ownership


class LocalStore(DurableStore[Path]):
    """A `Store` in a folder, which is made when something is first written."""

    files: LocalFiles

    def __init__(self, root: Path, *, read_only: bool = False) -> None:
        files = LocalFiles(root.resolve(), read_only)
        super().__init__(files, Ownership(files))
