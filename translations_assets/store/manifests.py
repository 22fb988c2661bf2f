"""Manifests: `steps/ab/<key>/<n>.json`, created and never replaced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import tee

from translations_assets.errors import DamagedError, StoreError
from translations_assets.records.checked import mapping
from translations_assets.records.manifest import Manifest, Usage
from translations_assets.store.blobs import Blobs
from translations_assets.store.medium import P, aside
from translations_assets.store.names import original
from translations_assets.store.sealed import seal, unseal
from translations_assets.store.warn import warn

FORMAT = 1  # of manifests; a newer one is refused, not taken for damage, as is one with fields we do not know
_FIELDS, _USAGE = ({field.name for field in fields(kind)} for kind in (Manifest, Usage))


class Manifests(Blobs[P]):
    """The part of a store that knows which steps are finished."""

    def latest(self, key: str) -> Manifest | None:
        """The highest whole generation of a step's manifest, None when the step never finished."""
        folder = self._step_folder(key)
        for number in sorted(numbers(self.files.names(folder)), reverse=True):
            if manifest := self.read_manifest(folder / f"{number}.json", key, number):
                return manifest
        return None

    def has_damaged(self, key: str) -> bool:
        """Whether a manifest of the step was damaged and put aside."""
        return any(name.startswith(f"{key}.") for name in self.files.names(self.files.at("quarantine")))

    def generation(self, key: str, number: int) -> Manifest | None:
        """One generation of a step's manifest; a damaged one is put aside and counts as absent."""
        return self.read_manifest(self.manifest_file(key, number), key, number)

    def commit(self, manifest: Manifest) -> Manifest:
        """Make a step finished: durable, all or nothing. Returns what counts: the first writer's manifest."""
        with self.files.using_contents():
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
            if self.files.create(path, data):
                return manifest
            if earlier := self.generation(manifest.key, manifest.generation):
                return earlier
        raise StoreError(
            f"The store {self.files} does not keep what is written to {path}. Check its disk or bucket."
        )

    def keys(self) -> Iterator[str]:
        """Every key that has a manifest."""
        last = ""
        for key, _, _ in self.manifest_files():
            if key != last:
                last = key
                yield key

    def manifests(self) -> Iterator[Manifest]:
        """Every whole manifest, each generation of each step, by key."""
        for *_, manifest in self.read_manifests(self.manifest_files()):
            if manifest:
                yield manifest

    def read_manifests(
        self, files: Iterable[tuple[str, int, P]]
    ) -> Iterator[tuple[str, int, P, Manifest | None]]:
        """Each of some files of manifests, and the manifest as `read_manifest` gives it."""
        names, paths = tee(files)
        read = self.files.read_all(path for _, _, path in paths)
        for (key, number, path), (_, data) in zip(names, read, strict=True):
            yield key, number, path, self._parsed(path, key, number, data)

    def manifest_files(self) -> Iterator[tuple[str, int, P]]:
        """(key, generation, path) of every manifest, whole or not."""
        steps = self.files.at("steps")
        root, path = str(steps), type(steps)
        for shard in sorted(self.files.names(root)):
            for name in sorted(self.files.names(f"{root}/{shard}")):
                folder = f"{root}/{shard}/{name}"  # not by pathlib, which takes thrice as long
                for number in sorted(numbers(self.files.names(folder))):
                    yield original(name), number, path(f"{folder}/{number}.json")

    def retire(self, key: str, number: int) -> None:
        """Take a manifest out of use, for the garbage collector; `restore` undoes it."""
        path = self.manifest_file(key, number)
        self.files.touch(path, durable=False)  # when it was retired
        self.files.move(path, self._retired_path(key, number))
        self.files.remove_empty(path.parent)

    def restore(self, key: str, number: int) -> None:
        """Put a retired manifest back into use, unless the step has been finished again since."""
        retired = self._retired_path(key, number)
        self.files.adopt(retired, self.manifest_file(key, number))
        self.files.unlink(retired)

    def retired_files(self) -> Iterator[tuple[str, int, P]]:
        """(key, generation, path) of every retired manifest."""
        folder = self.files.at("retired")
        for name in sorted(self.files.names(folder)):
            key, _, number = name.removesuffix(".json").rpartition(".")
            if key and number.isdecimal():
                yield original(key), int(number), folder / name

    def retired(self) -> Iterator[Manifest]:
        """Every whole retired manifest."""
        for *_, manifest in self.read_manifests(self.retired_files()):
            if manifest:
                yield manifest

    def read_retired(self, key: str, number: int) -> Manifest | None:
        """A retired manifest: how something was made whose files were collected."""
        return self.read_manifest(self._retired_path(key, number), key, number)

    def read_manifest(self, path: P, key: str, number: int) -> Manifest | None:
        """A generation's manifest from a file; None when that is missing or damaged, then it is put aside."""
        return self._parsed(path, key, number, self.files.read(path))

    def _parsed(self, path: P, key: str, number: int, data: bytes | None) -> Manifest | None:
        if data is None:
            return None
        try:
            return _parse(data, key, number)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._put_manifest_aside(path, f"unreadable manifest: {error}")
            return None

    def manifest_file(self, key: str, number: int) -> P:
        """Where a manifest stands, when it is there."""
        return self.files.at("steps", key[:2], key, f"{number}.json")

    def _step_folder(self, key: str) -> P:
        return self.files.at("steps", key[:2], key)

    def _retired_path(self, key: str, number: int) -> P:
        return self.files.at("retired", f"{key}.{number}.json")

    def _put_manifest_aside(self, path: P, reason: str) -> None:
        warn(f"{path} is damaged ({reason}); it is {aside(self.files)} and not used")
        try:
            self.files.set_aside(path, reason)
        except StoreError as error:  # a store that is only read from
            warn(str(error))


def numbers(names: list[str]) -> list[int]:
    """The numbers of files named `<n>.json`."""
    stems = (name.removesuffix(".json") for name in names if name.endswith(".json"))
    return [int(stem) for stem in stems if stem.isdecimal()]


def _parse(data: bytes, key: str, number: int) -> Manifest:
    value = unseal(data)
    newer = value.pop("format", 1) != FORMAT  # the first manifests did not name theirs
    if newer or not _FIELDS.issuperset(value) or not _USAGE.issuperset(mapping(value["usage"])):
        raise StoreError(
            f"The manifest of {value.get('label', key)} was written by a newer version of this program. "
            "Use that version with this store."
        )
    manifest = Manifest.from_dict(value)
    if (manifest.key, manifest.generation) != (key, number):
        raise ValueError(f"it is that of {manifest.key}, generation {manifest.generation}")
    return manifest
