"""Destinations of models: a folder or a bucket, whose files are made whole or not at all."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from translations_assets.common.errors import StoreError
from translations_assets.records.inside import inside
from translations_assets.store.contents import clone, digest_file, make_durable
from translations_assets.store.open import named_place

if TYPE_CHECKING:
    from translations_assets.store.bucket.objects import Objects

State: TypeAlias = Literal["new", "same", "different"]


class Copy(NamedTuple):
    """A file that is to be published.

    size   in bytes
    state  what stands under its name already: nothing, the same contents, or others
    """

    name: str
    source: Path
    size: int
    state: State


class FolderDestination:
    """The files below a folder of this machine; methods raise StoreError for what people must mend."""

    def __init__(self, root: Path) -> None:
        self.root, self.url = root, root.absolute().as_uri()

    def state(self, name: str, source: Path) -> State:
        """Compare a name's contents with a file: nothing, the same, or others."""
        target = self._target(name)
        try:
            found = digest_file(target)
        except FileNotFoundError:
            return "new"
        except OSError as error:
            raise self._trouble(error) from error
        return "same" if found == digest_file(source) else "different"

    def put(self, name: str, source: Path) -> None:
        """Make a file of one of this machine, durably, at once in place of an earlier one."""
        target = self._target(name)
        new = target.with_name(f".{target.name}.{secrets.token_hex(4)}.new")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                clone(source, new, link=False)
                make_durable(new)
                new.replace(target)
                make_durable(target.parent)
            finally:
                new.unlink(missing_ok=True)
        except OSError as error:
            raise self._trouble(error) from error

    def _target(self, name: str) -> Path:
        try:
            return inside(self.root, name)
        except ValueError as error:
            raise StoreError(f"{self.root}: {error}. Give another folder.") from error

    def _trouble(self, error: OSError) -> StoreError:
        return StoreError(f"{self.root} cannot be written: {error}. Mend that, then publish again.")


class BucketDestination:
    """The objects of a bucket, with the same methods."""

    def __init__(self, objects: Objects) -> None:
        self._objects, self.url = objects, objects.url

    def state(self, name: str, source: Path) -> State:
        """Compare a name's contents with a file by size and checksum: nothing is fetched."""
        from translations_assets.store.bucket.transfer import digests_of

        found = self._objects.stat(name)
        if found is None:
            return "new"
        digests = digests_of(source)
        is_same = (found.size, found.crc32c) == (digests.blob.size, digests.crc32c)
        return "same" if is_same else "different"

    def put(self, name: str, source: Path) -> None:
        """Make an object; StoreError when somebody else makes another one at the same time."""
        from translations_assets.store.bucket.transfer import digests_of

        found = self._objects.stat(name)
        if found is None:
            is_made = self._objects.upload(source, name, digests_of(source))
        else:
            is_made = self._objects.replace(name, source.read_bytes(), found.generation) is not None
        if not is_made and self.state(name, source) != "same":
            raise StoreError(f"Somebody else writes {self.url}/{name} at this moment. Publish again.")


Destination: TypeAlias = FolderDestination | BucketDestination


def open_destination(url: str) -> Destination:
    """The destination at `gs://bucket/folder`, `file:///folder` or a plain path; nothing is made or asked."""
    place = named_place(url, "destination")
    return FolderDestination(place) if isinstance(place, Path) else BucketDestination(place)


def compared(destination: Destination, files: Mapping[str, Path]) -> list[Copy]:
    """Return the files to copy, and those that are there already; nothing is written."""
    return [
        Copy(name, path, path.stat().st_size, destination.state(name, path)) for name, path in files.items()
    ]


def copy(destination: Destination, copies: Iterable[Copy], *, replace: bool) -> None:
    """Copy what is not there, in order. Raises StoreError, before anything is copied, for other contents.

    replace  whether other contents are written anew
    """
    wanted = [one for one in copies if one.state != "same"]
    different = [one.name for one in wanted if one.state == "different"]
    if different and not replace:
        raise StoreError(
            f"{destination.url} holds other contents under the same names: {', '.join(different)}. Nothing "
            "was copied. To write these files anew: --replace"
        )
    for one in wanted:
        destination.put(one.name, one.source)
