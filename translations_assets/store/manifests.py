"""Manifests and owners of a local store: `steps/ab/<key>/<n>.json`, created and never replaced."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from translations_assets.steps.errors import DamagedError, StoreError
from translations_assets.steps.manifest import Manifest
from translations_assets.store.blobs import Blobs
from translations_assets.store.locks import release, take
from translations_assets.store.names import original
from translations_assets.store.sealed import seal, unseal
from translations_assets.store.warn import warn


class Manifests(Blobs):
    """The part of `LocalStore` that knows which steps are finished, and who works on the others."""

    def latest(self, key: str) -> Manifest | None:
        """The highest whole generation of a step's manifest, None when the step never finished."""
        folder = self._step_folder(key)
        for number in sorted(numbers(self._files.names(folder)), reverse=True):
            if manifest := self._read_manifest(folder / f"{number}.json", key, number):
                return manifest
        return None

    def generation(self, key: str, number: int) -> Manifest | None:
        """One generation of a step's manifest; a damaged one is put aside and counts as absent."""
        return self._read_manifest(self._step_folder(key) / f"{number}.json", key, number)

    def commit(self, manifest: Manifest) -> Manifest:
        """Make a step finished: durable, all or nothing. Returns what counts: the first writer's manifest."""
        for name, blob in manifest.outputs.items():
            if not self.has_blob(blob):
                raise DamagedError(f"{manifest.label} cannot finish: its output {name} is not in the store.")
        path = self._step_folder(manifest.key) / f"{manifest.generation}.json"
        data = seal(manifest.to_dict())
        for _ in range(3):
            if self._files.create(path, lambda file: file.write(data)):
                return manifest
            if earlier := self.generation(manifest.key, manifest.generation):
                return earlier
        raise StoreError(f"The store does not keep what is written to {path}. Check the disk it is on.")

    def keys(self) -> Iterator[str]:
        """Every key that has a manifest."""
        root = self._files.at("steps")
        for shard in sorted(self._files.names(root)):
            for name in sorted(self._files.names(root / shard)):
                if numbers(self._files.names(root / shard / name)):
                    yield original(name)

    @contextmanager
    def lock(self, key: str, generation: int) -> Iterator[bool]:
        """Try to become the owner of a step's generation; gives False at once when somebody else is."""
        path = self._files.at("locks", f"{key}.{generation}")
        with self._files.telling("lock", path):
            self._files.make_folder(path.parent)
            descriptor = take(path)
        try:
            yield descriptor is not None
        finally:
            if descriptor is not None:
                release(path, descriptor)

    def _step_folder(self, key: str) -> Path:
        return self._files.at("steps", key[:2], key)

    def _read_manifest(self, path: Path, key: str, number: int) -> Manifest | None:
        data = self._files.read(path)
        if data is None:
            return None
        try:
            return _parse(data, key, number)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._put_manifest_aside(path, f"unreadable manifest: {error}")
            return None

    def _put_manifest_aside(self, path: Path, reason: str) -> None:
        warn(f"{path} is damaged ({reason}); it is put aside in quarantine/ and not used")
        try:
            self._files.set_aside(path, reason)
        except StoreError as error:  # a store that is only read from
            warn(str(error))


def numbers(names: list[str]) -> list[int]:
    """The numbers of files named `<n>.json`."""
    stems = (name.removesuffix(".json") for name in names if name.endswith(".json"))
    return [int(stem) for stem in stems if stem.isdecimal()]


def _parse(data: bytes, key: str, number: int) -> Manifest:
    manifest = Manifest.from_dict(unseal(data))
    if (manifest.key, manifest.generation) != (key, number):
        raise ValueError(f"it is that of {manifest.key}, generation {manifest.generation}")
    return manifest
