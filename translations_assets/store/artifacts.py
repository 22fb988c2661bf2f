"""Artifacts: manifests of finished steps, and the contents that they name.

steps/ab/<key>/<n>.json  created and never replaced
blobs/ab/abcd…           file contents by SHA-256, written once
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import tee
from pathlib import Path
from typing import Generic

from translations_assets.common.errors import DamagedError, StoreError
from translations_assets.records.checked import mapping
from translations_assets.records.encoding import MALFORMED, original, seal, unseal
from translations_assets.records.manifest import Blob, Manifest, Usage
from translations_assets.store.contents import MOST_IN_MEMORY, Digests, digest_bytes
from translations_assets.store.medium import Medium, P, aside, warn

FORMAT = 1  # of manifests; a newer one is refused, not taken for damage, as is one with fields we do not know
_FIELDS, _USAGE = ({field.name for field in fields(kind)} for kind in (Manifest, Usage))
_PUT_ASIDE = re.compile(
    r"(.+)\.(\d+)\.json\.\d+"
)  # a manifest in quarantine: key, generation, time (`quarantined`)
DIFFERENT = "the contents differ from their SHA-256 or size"
_AGAIN = "Run again: what can be made again will be."
_ELSEWHERE = (
    "Tell its administrators (translations cache verify), or make them again in your own: "
    "translations train PARTITION --start STAGE."
)


class Artifacts(Generic[P]):
    """The part of a store that knows which steps are finished, and keeps the contents of files."""

    files: Medium[P]

    # Blobs

    def add_blob(self, path: Path) -> Blob:
        """Store a file's contents durably and return their digest; contents already there are not copied."""
        digests = self.files.measure(path)
        self._ensure(digests.blob, lambda target: self.files.send(path, target, digests))
        return digests.blob

    def place_blob(self, blob: Blob, target: Path) -> None:
        """Put the contents at a path, read-only, digest verified.

        Damaged contents are put aside; raises DamagedError for them and for missing ones.
        """
        placed = self.files.fetch(self.blob_file(blob.digest), blob, target)
        if placed is None:
            raise self._missing(blob)
        if placed != blob:
            target.unlink(missing_ok=True)
            raise self._damaged(blob)

    def add_bytes(self, data: bytes) -> Blob:
        """Store bytes durably and return their digest; contents already there are not written."""
        blob = digest_bytes(data)
        self._ensure(blob, lambda target: self.files.create(target, data))
        return blob

    def read_blob(self, blob: Blob) -> bytes:
        """The contents, digest verified. Raises DamagedError when missing or different."""
        path = self.blob_file(blob.digest)
        if blob.size > MOST_IN_MEMORY:
            raise StoreError(
                f"The store {self.files} refers to contents {blob.digest} of {blob.size} bytes, too many to "
                "be read at once. To find the reference: translations cache verify"
            )
        data = self.files.read(path)
        if data is None:
            raise self._missing(blob)
        if digest_bytes(data) != blob:
            raise self._damaged(blob)
        return data

    def has_blob(self, blob: Blob) -> bool:
        """True if the contents are there, with the right size (the digest is not computed)."""
        return self.files.size(self.blob_file(blob.digest)) == blob.size

    def quarantine(self, blob: Blob, reason: str) -> None:
        """Put damaged contents aside, so that they are not used."""
        self.files.set_aside(self.blob_file(blob.digest), reason)

    def blob_file(self, digest: str) -> P:
        """Return the path of contents that are there."""
        return self.files.at("blobs", digest[:2], digest)

    def blob_shards(self) -> list[P]:
        """The folders of the blobs, each with a part of them."""
        folder = self.files.at("blobs")
        return [folder / name for name in sorted(self.files.names(folder))]

    def _ensure(self, blob: Blob, create: Callable[[P], bool]) -> None:
        """Make the contents be there, whole, durable and touched, whichever process writes them."""
        for _ in range(3):
            if self._found(blob):
                return
            if create(self.blob_file(blob.digest)):
                return
        raise StoreError(
            f"The store {self.files} loses written files: {blob.digest} is damaged or gone right after "
            "it was stored. Check its disk or bucket, then run again."
        )

    def _found(self, blob: Blob) -> bool:
        """True if the contents are there, whole; touched, so that they are not collected before their use."""
        path = self.blob_file(blob.digest)
        with self.files.using_contents():
            size = self.files.touch(path)
        if size is None:
            return False
        if size == blob.size and self.files.is_whole(path, Digests(blob)):
            return True
        self.quarantine(blob, DIFFERENT)
        return False

    def _touch_blob(self, blob: Blob) -> bool:
        """Mark contents as used now; False when they are missing or have another size."""
        return self.files.touch(self.blob_file(blob.digest), durable=False) == blob.size

    def _missing(self, blob: Blob) -> DamagedError:
        return DamagedError(
            f"The store {self.files} has lost contents {blob.digest} ({blob.size} bytes). {_AGAIN}"
        )

    def _damaged(self, blob: Blob) -> DamagedError:
        self.quarantine(blob, DIFFERENT)
        return DamagedError(
            f"In the store {self.files} the contents {blob.digest} differ from their digest; they were "
            f"{aside(self.files)}. {_ELSEWHERE if self.files.read_only else _AGAIN}"
        )

    # Manifests

    def latest(self, key: str) -> Manifest | None:
        """The highest whole generation of a step's manifest, None when the step never finished.

        >>> found = store.latest(key)
        >>> store.read_blob(found.outputs["corpus.en"])
        b'one line'
        """
        folder = self.files.at("steps", key[:2], key)
        for number in sorted(numbers(self.files.names(folder)), reverse=True):
            if manifest := self.read_manifest(folder / f"{number}.json", key, number):
                return manifest
        return None

    def damaged(self) -> Mapping[str, int]:
        """Keys of manifests that were damaged and put aside, each with the highest of their generations."""
        found: dict[str, int] = {}
        for name in self.files.names(self.files.at("quarantine")):
            if manifest := _PUT_ASIDE.fullmatch(name):
                found[manifest[1]] = max(int(manifest[2]), found.get(manifest[1], 0))
        return found

    def generation(self, key: str, number: int) -> Manifest | None:
        """One generation of a step's manifest; a damaged one is put aside and counts as absent."""
        return self.read_manifest(self.manifest_file(key, number), key, number)

    def commit(self, manifest: Manifest) -> Manifest:
        """Make a step finished: durable, all or nothing. Returns what counts: the first writer's manifest.

        >>> outputs = {"corpus.en": store.add_bytes(b"one line")}
        >>> store.commit(replace(manifest, outputs=outputs)).generation
        1
        >>> store.commit(replace(manifest, outputs={})).outputs == outputs
        True
        """
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
        raise StoreError(f"The store {self.files} loses files written to {path}. Check its disk or bucket.")

    def manifests(self) -> Iterator[Manifest]:
        """Every whole manifest, each generation of each step, by key."""
        read = self.read_manifests(self.manifest_files())
        return (manifest for *_, manifest in read if manifest)

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
        self.files.move(path, self.retired_file(key, number))
        self.files.remove_empty(path.parent)

    def restore(self, key: str, number: int) -> None:
        """Put a retired manifest back into use, unless the step has been finished again since.

        It may also be in use still: its removal is under way, or was given up and comes later.
        """
        retired, path = self.retired_file(key, number), self.manifest_file(key, number)
        if not self.files.renew(path):
            self.files.adopt(retired, path)
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
        read = self.read_manifests(self.retired_files())
        return (manifest for *_, manifest in read if manifest)

    def read_retired(self, key: str, number: int) -> Manifest | None:
        """A retired manifest: how something was made whose files were collected."""
        return self.read_manifest(self.retired_file(key, number), key, number)

    def read_manifest(self, path: P, key: str, number: int) -> Manifest | None:
        """A generation's manifest from a file; None when that is missing or damaged, then it is put aside."""
        return self._parsed(path, key, number, self.files.read(path))

    def _parsed(self, path: P, key: str, number: int, data: bytes | None) -> Manifest | None:
        if data is None:
            return None
        try:
            return _parse(data, key, number)
        except MALFORMED as error:
            reason = f"unreadable manifest: {error}"
        warn(f"{path} is damaged ({reason}); it is {aside(self.files)} and not used")
        try:
            self.files.set_aside(path, reason)
        except StoreError as error:  # a store that is only read from
            warn(str(error))
        return None

    def manifest_file(self, key: str, number: int) -> P:
        """Return the path of a manifest that is there."""
        return self.files.at("steps", key[:2], key, f"{number}.json")

    def retired_file(self, key: str, number: int) -> P:
        """Return the path of a retired manifest that is there."""
        return self.files.at("retired", f"{key}.{number}.json")


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
