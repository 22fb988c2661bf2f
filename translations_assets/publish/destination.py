"""Destinations of models, and two of them: folders and buckets, whose files are made whole or not at all."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from translations_assets.common.errors import StoreError
from translations_assets.records.inside import inside
from translations_assets.store.contents import clone, digest_file, make_durable

if TYPE_CHECKING:
    from translations_assets.config.schema import TrainingConfig
    from translations_assets.publish.model import PublishedModel
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


class Destination(ABC):
    """A place of models; methods raise StoreError for what people must mend.

    url  of the place; by default models have folders of their own below it, as in Mozilla's bucket
    """

    url: str

    def require(self, config: TrainingConfig) -> None:
        """Raise TranslationsError where a training config lacks what the place asks for."""
        return None

    def address(self, model: PublishedModel) -> str:
        """Return the URL at which a model stands after it is published."""
        return f"{self.url}/{model.folder}"

    def arranged(self, model: PublishedModel, files: Mapping[str, Path]) -> Mapping[str, Path]:
        """Return the files that the place takes of a model by their names there, in the order of copying."""
        return files

    @abstractmethod
    def state(self, name: str, source: Path) -> State:
        """Compare a name's contents with a file: nothing, the same, or others."""

    @abstractmethod
    def put(self, copies: Sequence[Copy]) -> None:
        """Make the files that are not there, in order; other contents are replaced."""

    def conclude(self) -> None:
        """Do what is due when all files are there, also if nothing had to be copied."""
        return None


class FilesDestination(Destination):
    """A place whose files are made one by one."""

    def put(self, copies: Sequence[Copy]) -> None:
        """Make the files that are not there, in order; other contents are replaced."""
        for one in copies:
            if one.state != "same":
                self.put_file(one.name, one.source)

    @abstractmethod
    def put_file(self, name: str, source: Path) -> None:
        """Make a file at once in place of an earlier one, or not at all."""


class FolderDestination(FilesDestination):
    """The files below a folder of this machine."""

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

    def put_file(self, name: str, source: Path) -> None:
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


class BucketDestination(FilesDestination):
    """The objects of a bucket."""

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

    def put_file(self, name: str, source: Path) -> None:
        """Make an object; StoreError when somebody else makes another one at the same time."""
        from translations_assets.store.bucket.transfer import digests_of

        found = self._objects.stat(name)
        if found is None:
            is_made = self._objects.upload(source, name, digests_of(source))
        else:
            is_made = self._objects.replace(name, source.read_bytes(), found.generation) is not None
        if not is_made and self.state(name, source) != "same":
            raise StoreError(f"Somebody else writes {self.url}/{name} at this moment. Publish again.")


def compared(destination: Destination, files: Mapping[str, Path]) -> list[Copy]:
    """Return the files to copy, and those that are there already; nothing is written."""
    return [
        Copy(name, path, path.stat().st_size, destination.state(name, path)) for name, path in files.items()
    ]


def copy(destination: Destination, copies: Sequence[Copy], *, replace: bool) -> None:
    """Copy what is not there, in order. Raises StoreError, before anything is copied, for other contents.

    replace  whether other contents are written anew
    """
    different = [one.name for one in copies if one.state == "different"]
    if different and not replace:
        raise StoreError(
            f"{destination.url} holds other contents under the same names: {', '.join(different)}. Nothing "
            "was copied. To write these files anew: --replace"
        )
    if any(one.state != "same" for one in copies):
        destination.put(copies)
    destination.conclude()
