"""Checkpoint sets of a local store: `checkpoints/<key>/<generation>/<set>/`.

Only a step's owner writes them, so the folder is filled in place; a set counts once its manifest, written
last, stands there and every file agrees with it.
"""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any

from translations_assets.records.inside import check_name, inside
from translations_assets.records.manifest import Blob
from translations_assets.store.clone import clone
from translations_assets.store.digest import NotPlainError, digest_file
from translations_assets.store.files import Files
from translations_assets.store.medium import aside
from translations_assets.store.names import original, safe
from translations_assets.store.sealed import seal, unseal
from translations_assets.store.warn import warn

KEPT = 2
SET_MANIFEST = "set.json"
WRONG = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
)  # what a manifest of a set that we did not write raises


def set_name(stored: PurePath) -> str:
    """The name of a stored set, which is that of one folder. Raises ValueError."""
    name = original(stored.name)
    if "/" in name:
        raise ValueError(f"the name {name!r} leads out of its folder")
    return check_name(name)


def files_of_set(data: bytes) -> dict[str, dict[str, Any]]:
    """File name → what the manifest of a set says of it: digest, size … Raises one of `WRONG`."""
    files: dict[str, dict[str, Any]] = unseal(data)["files"]
    for name, known in files.items():
        check_name(name)
        Blob.from_dict(known)
    return files


def plain_files(folder: Path) -> dict[str, Path]:
    """The files below a folder, by their relative names, without symbolic links."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): path for path in found}


class Checkpoints:
    """The part of `LocalStore` that keeps what an unfinished step goes on from."""

    _files: Files

    def add_checkpoint(self, key: str, generation: int, name: str, folder: Path) -> None:
        """Store a set durably (its manifest goes last) and drop all but the newest two.

        The set's files may become hard links: nobody may write them any more. A set that is there already is
        left as it is.
        """
        sets = self._sets(key, generation)
        target = sets / safe(name)
        if self._files.size(target / SET_MANIFEST) is not None:
            return
        self._files.remove(target)
        files = plain_files(folder)
        blobs = {
            relative: self._add_checkpoint_file(path, target / "files" / relative)
            for relative, path in files.items()
        }
        for parent in {(target / "files" / relative).parent for relative in files}:
            self._files.sync(parent)
        value = {"name": name, "files": blobs}
        self._files.create(target / SET_MANIFEST, seal(value))
        self._drop_old_sets(sets)

    def place_checkpoints(self, key: str, generation: int, target: Path) -> list[str]:
        """Put the newest two whole sets under a folder, as writable copies; their names, oldest first."""
        sets = self._sets(key, generation)
        placed: list[str] = []
        for stored in sorted((sets / name for name in self._files.names(sets)), key=_by_name, reverse=True):
            if len(placed) < KEPT and self._place_set(stored, target):
                placed.append(original(stored.name))
        return placed[::-1]

    def drop_checkpoints(self, key: str, generation: int) -> None:
        """Remove the sets of a step that has finished."""
        self._files.remove(self._sets(key, generation))

    def checkpoint_sets(self) -> Iterator[tuple[str, int, Path]]:
        """(key, generation, folder) of every checkpoint set, whole or not."""
        root = self._files.at("checkpoints")
        for name in sorted(self._files.names(root)):
            for number in filter(str.isdecimal, sorted(self._files.names(root / name))):
                for stored in sorted(self._files.names(root / name / number)):
                    yield original(name), int(number), root / name / number / stored

    def wrong_in_set(self, stored: Path) -> str:
        """What is wrong with a stored set; nothing with one whose writer was killed, as it does not count."""
        data = self._files.read(stored / SET_MANIFEST)
        if data is None:
            return ""
        try:
            set_name(inside(stored.parent, stored.name))
            for relative, blob in files_of_set(data).items():
                path = inside(stored, f"files/{relative}")
                size = self._files.size(path)
                if size is None:  # its owner may have dropped the set meanwhile
                    return f"{relative} is missing" if self._files.size(stored / SET_MANIFEST) else ""
                if digest_file(path).digest != blob["digest"]:
                    return f"{relative} differs from its digest"
        except (*WRONG, NotPlainError) as error:
            return str(error)
        except FileNotFoundError:
            return ""
        return ""

    def _sets(self, key: str, generation: int) -> Path:
        return self._files.at("checkpoints", key, str(generation))

    def _add_checkpoint_file(self, source: Path, target: Path) -> dict[str, Any]:
        with self._files.telling("write", target):
            self._files.make_folder(target.parent)
            clone(source, target, link=True)
            target.chmod(
                stat.S_IMODE(target.stat().st_mode) | 0o444
            )  # whoever shares the store may go on with it
            self._files.sync(target)
            blob = digest_file(target)
        return {"digest": blob.digest, "size": blob.size}

    def _drop_old_sets(self, sets: Path) -> None:
        names = sorted(map(original, self._files.names(sets)))
        whole = [name for name in names if self._files.size(sets / safe(name) / SET_MANIFEST) is not None]
        for name in names:
            if name not in whole[-KEPT:]:
                self._files.remove(sets / safe(name))

    def _place_set(self, stored: Path, target: Path) -> bool:
        """Copy one set to its folder below a target; False, with a word in the log, when it is not whole."""
        data = self._files.read(stored / SET_MANIFEST)
        if data is None:  # its writer was killed
            return False
        folder = None
        try:
            folder = inside(target, set_name(inside(stored.parent, stored.name)))
            for relative, blob in files_of_set(data).items():
                source = inside(stored, f"files/{relative}")
                self._place_checkpoint_file(source, inside(folder, relative), blob)
        except WRONG as error:
            warn(f"The checkpoint set {stored} is damaged, {aside(self._files)} and not used: {error}")
            if folder:
                shutil.rmtree(folder, ignore_errors=True)
            self._files.set_aside(stored, str(error))
            return False
        return True

    def _place_checkpoint_file(self, stored: Path, target: Path, blob: dict[str, Any]) -> None:
        if self._files.size(stored) is None:
            raise ValueError(f"{stored} is missing")
        with self._files.telling("place a checkpoint at", target):
            target.parent.mkdir(parents=True, exist_ok=True)
            clone(stored, target, link=False)
            target.chmod(0o644)
            placed = digest_file(target)
        if {"digest": placed.digest, "size": placed.size} != blob:
            raise ValueError(f"{stored} differs from its digest")


def _by_name(stored: PurePath) -> str:
    return original(stored.name)
