"""Manifests and owners of a local store: `steps/ab/<key>/<n>.json`, created and never replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from translations_assets.steps.errors import DamagedError, StoreError
from translations_assets.steps.manifest import Manifest
from translations_assets.store.blobs import Blobs
from translations_assets.store.locks import release, take, take_new
from translations_assets.store.names import original, safe
from translations_assets.store.sealed import seal, unseal
from translations_assets.store.warn import warn

FORMAT = 1  # of manifests; a newer one is refused, not taken for damage


class Manifests(Blobs):
    """The part of `LocalStore` that knows which steps are finished, and who works on the others."""

    def latest(self, key: str) -> Manifest | None:
        """The highest whole generation of a step's manifest, None when the step never finished."""
        folder = self._step_folder(key)
        for number in sorted(numbers(self._files.names(folder)), reverse=True):
            if manifest := self.read_manifest(folder / f"{number}.json", key, number):
                return manifest
        return None

    def has_damaged(self, key: str) -> bool:
        """Whether a manifest of the step was damaged and put aside."""
        return any(name.startswith(f"{key}.") for name in self._files.names(self._files.at("quarantine")))

    def generation(self, key: str, number: int) -> Manifest | None:
        """One generation of a step's manifest; a damaged one is put aside and counts as absent."""
        return self.read_manifest(self.manifest_file(key, number), key, number)

    def commit(self, manifest: Manifest) -> Manifest:
        """Make a step finished: durable, all or nothing. Returns what counts: the first writer's manifest."""
        with self._blobs_stay():
            for name, blob in manifest.outputs.items():
                if not self._touch_blob(blob):
                    raise DamagedError(
                        f"{manifest.label} cannot finish: its output {name} is not in the store. Run again."
                    )
            for blob in manifest.origins():
                self._touch_blob(blob)
            return self._create(manifest)

    def _create(self, manifest: Manifest) -> Manifest:
        path = self.manifest_file(manifest.key, manifest.generation)
        data = seal({"format": FORMAT, **manifest.to_dict()})
        for _ in range(3):
            if self._files.create(path, lambda file: file.write(data)):
                return manifest
            if earlier := self.generation(manifest.key, manifest.generation):
                return earlier
        raise StoreError(f"The store does not keep what is written to {path}. Check the disk it is on.")

    def keys(self) -> Iterator[str]:
        """Every key that has a manifest."""
        last = ""
        for key, _, _ in self.manifest_files():
            if key != last:
                last = key
                yield key

    def manifests(self) -> Iterator[Manifest]:
        """Every whole manifest, each generation of each step, by key."""
        for key, number, path in self.manifest_files():
            if manifest := self.read_manifest(path, key, number):
                yield manifest

    def manifest_files(self) -> Iterator[tuple[str, int, Path]]:
        """(key, generation, path) of every manifest, whole or not."""
        root = str(self._files.at("steps"))
        for shard in sorted(self._files.names(root)):
            for name in sorted(self._files.names(f"{root}/{shard}")):
                folder = f"{root}/{shard}/{name}"  # not by pathlib, which takes thrice as long
                for number in sorted(numbers(self._files.names(folder))):
                    yield original(name), number, Path(f"{folder}/{number}.json")

    def retire(self, key: str, number: int) -> None:
        """Take a manifest out of use, for the garbage collector; `restore` undoes it."""
        path = self.manifest_file(key, number)
        self._files.touch(path, durable=False)  # when it was retired
        self._files.move(path, self._retired_path(key, number))
        self._files.remove_empty(path.parent)

    def restore(self, key: str, number: int) -> None:
        """Put a retired manifest back into use, unless the step has been finished again since."""
        retired = self._retired_path(key, number)
        self._files.adopt(retired, self.manifest_file(key, number))
        self._files.unlink(retired)

    def retired_files(self) -> Iterator[tuple[str, int, Path]]:
        """(key, generation, path) of every retired manifest."""
        folder = self._files.at("retired")
        for name in sorted(self._files.names(folder)):
            key, _, number = name.removesuffix(".json").rpartition(".")
            if key and number.isdecimal():
                yield original(key), int(number), folder / name

    def retired(self) -> Iterator[Manifest]:
        """Every whole retired manifest."""
        for key, number, path in self.retired_files():
            if manifest := self.read_manifest(path, key, number):
                yield manifest

    def read_retired(self, key: str, number: int) -> Manifest | None:
        """A retired manifest: how something was made whose files were collected."""
        return self.read_manifest(self._retired_path(key, number), key, number)

    def read_manifest(self, path: Path, key: str, number: int) -> Manifest | None:
        """A generation's manifest from a file; None when that is gone or damaged, then it is put aside."""
        data = self._files.read(path)
        if data is None:
            return None
        try:
            return _parse(data, key, number)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._put_manifest_aside(path, f"unreadable manifest: {error}")
            return None

    @contextmanager
    def lock(self, key: str, generation: int, lost: Callable[[str], None] | None = None) -> Iterator[bool]:
        """Try to become the owner of a step's generation; gives False at once when somebody else is.

        The kernel keeps the ownership up, so that it is never lost.
        """
        path = self._files.at("locks", f"{key}.{generation}")
        with self._files.telling("lock", path):
            self._files.make_folder(path.parent)
            descriptor = take(path)
        try:
            yield descriptor is not None
        finally:
            if descriptor is not None:
                release(path, descriptor)

    @contextmanager
    def waiting(self, key: str, generation: int) -> Iterator[None]:
        """Be counted among those who want a step's result, by a locked file: the dead do not count."""
        folder = self._files.at("tmp")
        with self._files.telling("write to", folder):
            self._files.make_folder(folder)
            path, descriptor = take_new(folder, _waiter(key, generation))
        try:
            yield
        finally:
            release(path, descriptor)

    def waiters(self, key: str, generation: int) -> int:
        """How many want a step's result now."""
        folder = self._files.at("tmp")
        names = [name for name in self._files.names(folder) if name.endswith(_waiter(key, generation))]
        return sum(map(self._is_held, (folder / name for name in names)))

    def _is_held(self, path: Path) -> bool:
        """Whether a lock file is held; one that is not is removed."""
        with self._files.telling("lock", path):
            descriptor = take(path)
        if descriptor is not None:
            release(path, descriptor)
        return descriptor is None

    def manifest_file(self, key: str, number: int) -> Path:
        """Where a manifest stands, when it is there."""
        return self._step_folder(key) / f"{number}.json"

    def _step_folder(self, key: str) -> Path:
        return self._files.at("steps", key[:2], key)

    def _retired_path(self, key: str, number: int) -> Path:
        return self._files.at("retired", f"{key}.{number}.json")

    def _put_manifest_aside(self, path: Path, reason: str) -> None:
        warn(f"{path} is damaged ({reason}); it is put aside in quarantine/ and not used")
        try:
            self._files.set_aside(path, reason)
        except StoreError as error:  # a store that is only read from
            warn(str(error))


def _waiter(key: str, generation: int) -> str:
    """How the names of the files end that those hold who want a step's result."""
    return safe(f"-waits-for-{key}.{generation}")


def numbers(names: list[str]) -> list[int]:
    """The numbers of files named `<n>.json`."""
    stems = (name.removesuffix(".json") for name in names if name.endswith(".json"))
    return [int(stem) for stem in stems if stem.isdecimal()]


def _parse(data: bytes, key: str, number: int) -> Manifest:
    value = unseal(data)
    newer = value.pop("format", 1) > FORMAT  # the first manifests did not name theirs
    manifest = None if newer else _from_known_fields(value)
    if manifest is None:
        raise StoreError(
            f"The manifest of {value.get('label', key)} was written by a newer version of this program. "
            "Use that version with this store."
        )
    if (manifest.key, manifest.generation) != (key, number):
        raise ValueError(f"it is that of {manifest.key}, generation {manifest.generation}")
    return manifest


def _from_known_fields(value: dict[str, Any]) -> Manifest | None:
    """The manifest; None when it has fields that we do not know: it is whole, and no damage."""
    try:
        return Manifest.from_dict(value)
    except TypeError:
        return None
