"""Checkpoint sets of a store in a bucket: `checkpoints/<key>/<generation>/<token>/<set>/`.

The token is that of the owner's lease, greater than those of all owners before: one that has lost the step
and does not know it yet writes where nobody else does. A set counts once its manifest, written last, is
there.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from translations_assets.records.inside import inside
from translations_assets.records.manifest import Blob
from translations_assets.store.bucket.digests import digests_of
from translations_assets.store.bucket.files import BucketFiles
from translations_assets.store.bucket.leases import Leases
from translations_assets.store.bucket.transfer import download, telling
from translations_assets.store.checkpoints import (
    KEPT,
    SET_MANIFEST,
    WRONG,
    files_of_set,
    plain_files,
    set_name,
)
from translations_assets.store.medium import aside
from translations_assets.store.names import original, safe
from translations_assets.store.sealed import seal
from translations_assets.store.warn import warn


class BucketCheckpoints:
    """The part of `BucketStore` that keeps what an unfinished step goes on from."""

    _files: BucketFiles
    _leases: Leases

    def add_checkpoint(self, key: str, generation: int, name: str, folder: Path) -> None:
        """Store a set (its manifest goes last) and drop all but the newest two.

        A set that is there already is left as it is.
        """
        token = self._leases.token(key, generation)
        target = self._sets(key, generation) / str(token) / safe(name)
        if self._files.size(target / SET_MANIFEST) is not None:
            return
        self._files.remove(target)
        files = {
            relative: self._send(path, target / "files" / relative)
            for relative, path in plain_files(folder).items()
        }
        self._leases.token(key, generation)  # StoreError when the step was lost meanwhile
        self._files.create(target / SET_MANIFEST, seal({"name": name, "files": files}))
        self._drop_old_sets(key, generation)

    def place_checkpoints(self, key: str, generation: int, target: Path) -> list[str]:
        """Put the newest two whole sets, whoever saved them, under a folder; their names, oldest first."""
        placed: list[str] = []
        for stored in reversed(self._whole_sets(key, generation)):
            name = original(stored.name)
            if len(placed) < KEPT and name not in placed and self._place_set(stored, target):
                placed.append(name)
        return placed[::-1]

    def drop_checkpoints(self, key: str, generation: int) -> None:
        """Remove the sets of a step that has finished."""
        self._files.remove(self._sets(key, generation))

    def checkpoint_sets(self) -> Iterator[tuple[str, int, PurePosixPath]]:
        """(key, generation, folder) of every checkpoint set, whole or not."""
        last = None
        for path in self._files.walk(self._files.at("checkpoints")):
            _, key, number, *rest = path.parts
            stored = PurePosixPath(*path.parts[:5])
            if stored != last and number.isdecimal() and len(rest) > 2:
                yield original(key), int(number), stored
            last = stored

    def wrong_in_set(self, stored: PurePosixPath) -> str:
        """What is wrong with a stored set, by the service's checksums; nothing with one that is not done."""
        data = self._files.read(stored / SET_MANIFEST)
        if data is None:
            return ""
        try:
            set_name(stored)
            files = files_of_set(data)
            found = {known.name: known.crc32c for known in self._files.objects.walk(f"{stored}/files/")}
            for relative, saved in files.items():
                if found.get(f"{stored}/files/{relative}") != saved["crc32c"]:
                    return f"{relative} is missing or differs from its checksum"
        except WRONG as error:
            return str(error)
        return ""

    def _sets(self, key: str, generation: int) -> PurePosixPath:
        return self._files.at("checkpoints", key, str(generation))

    def _send(self, path: Path, target: PurePosixPath) -> dict[str, Any]:
        with telling("read", path):
            digests = digests_of(path)
            self._files.objects.upload(path, str(target), digests)
        return {**vars(digests.blob), "crc32c": digests.crc32c}

    def _stored_sets(self, key: str, generation: int) -> dict[PurePosixPath, bool]:
        """The folders of all sets, the newest last, and whether their manifest is there."""
        sets = self._sets(key, generation)
        found: dict[PurePosixPath, bool] = {}
        for path in self._files.walk(sets):
            token, *rest = path.relative_to(sets).parts
            if token.isdecimal() and len(rest) > 1:
                folder = sets / token / rest[0]
                found[folder] = found.get(folder, False) or rest[1:] == [SET_MANIFEST]
        return dict(sorted(found.items(), key=lambda item: (item[0].name, int(item[0].parent.name))))

    def _whole_sets(self, key: str, generation: int) -> list[PurePosixPath]:
        return [folder for folder, whole in self._stored_sets(key, generation).items() if whole]

    def _drop_old_sets(self, key: str, generation: int) -> None:
        newest = self._whole_sets(key, generation)[-KEPT:]
        for folder in self._stored_sets(key, generation):
            if folder not in newest:
                self._files.remove(folder)

    def _place_set(self, stored: PurePosixPath, target: Path) -> bool:
        """Download one set to its folder below a target; False, with a warning, when it is not whole."""
        data = self._files.read(stored / SET_MANIFEST)
        if data is None:  # dropped meanwhile
            return False
        folder = None
        try:
            folder = inside(target, set_name(stored))
            for relative, saved in files_of_set(data).items():
                place = inside(folder, relative)
                self._place_file(inside(stored, f"files/{relative}"), place, Blob.from_dict(saved))
        except WRONG as error:
            warn(f"The checkpoint set {stored} is damaged, {aside(self._files)} and not used: {error}")
            if folder:
                shutil.rmtree(folder, ignore_errors=True)
            self._files.set_aside(stored, str(error))
            return False
        return True

    def _place_file(self, stored: PurePosixPath, target: Path, blob: Blob) -> None:
        found = self._files.objects.stat(str(stored))
        if found is None:
            raise ValueError(f"{stored} is missing")
        with telling("place a checkpoint at", target):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            if download(self._files.objects, found, target) != blob:
                raise ValueError(f"{stored} differs from its digest")
