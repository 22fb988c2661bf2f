"""The code that made artifacts, which the store keeps as bundles, compared with the code as it is now."""

from __future__ import annotations

import io
import tarfile
import tempfile
from pathlib import Path

from translations_assets.errors import StoreError
from translations_assets.keys.code.errors import CodeError
from translations_assets.keys.code.fingerprint import CodeBase
from translations_assets.keys.key import KeyMaker
from translations_assets.records.inside import inside
from translations_assets.records.manifest import Blob, Manifest
from translations_assets.running.protocols import Store


class EarlierCode:
    """Compares bundles with the code as it is now; each once."""

    def __init__(self, store: Store, keys: KeyMaker) -> None:
        self._store, self._keys = store, keys
        self._changes: dict[tuple[str, str], list[str]] = {}

    def changes(self, script: str, earlier: Manifest) -> list[str]:
        """What changed in a script's code, symbol by symbol, since an artifact was made."""
        which = script, earlier.bundle.digest
        if which not in self._changes:
            self._changes[which] = self._compare(script, earlier.bundle) or [f"{script}: code changed"]
        return self._changes[which]

    def _compare(self, script: str, bundle: Blob) -> list[str]:
        try:
            with tempfile.TemporaryDirectory() as folder:
                _unpack(self._store.read_blob(bundle), Path(folder))
                return self._keys.code_changes(script, CodeBase(Path(folder)))
        except (StoreError, CodeError, tarfile.TarError, OSError, ValueError):
            return []  # the earlier code is missing or cannot be read: no more is known than that it differs


def _unpack(bundle: bytes, folder: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(bundle)) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is None:
                continue
            target = inside(folder, member.name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read())
