"""Files that a step stores before it is finished: logs of its attempts, and checkpoint sets.

logs/<key>/<generation>.<attempt>/<part>  written once, in order; each begins with a line that has its SHA-256
checkpoints/<key>/<generation>/<set>/     files, and last a manifest of them

A set counts once its manifest is there, and it is used only if every file agrees with the manifest. Where an
owner may lose its step without noticing, its token, greater than those of all owners before, is in the path
before the set's name. So such an owner overwrites nothing, and the next one continues from the newest whole
sets.
"""

from __future__ import annotations

import shutil
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any, Generic

from translations_assets.common.errors import StoreError
from translations_assets.records import encoding
from translations_assets.records.inside import check_name, inside
from translations_assets.records.manifest import Blob
from translations_assets.store.contents import Digests, clone
from translations_assets.store.medium import FencedOwners, Medium, P, aside, warn

_REPLIES = b"\x1e# replies\n"  # in a part of a log: the worker's replies follow
KEPT = 2
SET_MANIFEST = "set.json"


class Logs(Generic[P]):
    """The part of a store that keeps what scripts print."""

    files: Medium[P]

    def append_log(
        self, key: str, generation: int, attempt: int, part: int, data: bytes, replies: bytes = b""
    ) -> None:
        """Store one part (at most 1 MB of log), and its worker's replies, which no reader of the log sees.

        Raises StoreError when the part is there already with other contents. With these it was stored by an
        earlier call whose answer was lost.
        """
        path = self.log_folder(key, generation, attempt) / str(part)
        if replies or _REPLIES in data:
            data = b"".join((data, _REPLIES, replies))
        sealed = encoding.seal_bytes(data)
        # Not durable: a power cut may take the last seconds of a log, and a step pays no fsync for it.
        if not self.files.create(path, sealed, durable=False) and self.files.read(path) != sealed:
            raise StoreError(f"{path} is there already: another worker writes the log of this attempt.")

    def read_log(self, key: str, generation: int, attempt: int, part: int = 0) -> Iterator[bytes]:
        """The parts from number `part` on that are there now; a damaged one as a line that says so.

        Below 0 it is how many parts of the end, as in slices.
        """
        folder = self.log_folder(key, generation, attempt)
        numbers = self._parts(folder)
        wanted = numbers[part:] if part < 0 else [number for number in numbers if number >= part]
        paths = [folder / str(number) for number in wanted]
        for path, data in self.files.read_all(paths):
            if data is not None:
                yield _whole(data, path.name)[0]

    def log_part(self, key: str, generation: int, attempt: int, part: int) -> tuple[bytes, bytes] | None:
        """Read a part and the replies in it; None while it is not there."""
        data = self.files.read(self.log_folder(key, generation, attempt) / str(part))
        return None if data is None else _whole(data, str(part))

    def attempts(self, key: str, generation: int) -> list[int]:
        """Numbers of the attempts that have a log, ascending."""
        names = (name.partition(".") for name in self.files.names(self.files.at("logs", key)))
        return sorted(int(attempt) for number, _, attempt in names if number == str(generation))

    def log_seconds(self, key: str, generation: int, attempt: int) -> float:
        """The time from an attempt's first part of log to its last, by when they were written."""
        folder = self.log_folder(key, generation, attempt)
        numbers = self._parts(folder)
        ends = [self.files.modified(folder / str(number)) for number in (*numbers[:1], *numbers[-1:])]
        return max(0.0, (ends[-1] - ends[0]) / 1e9) if all(ends) and ends else 0.0

    def _parts(self, folder: P) -> list[int]:
        """The numbers of a log's parts, ascending."""
        return sorted(int(name) for name in self.files.names(folder) if name.isdecimal())

    def remove_log(self, folder: P) -> None:
        """Remove the parts of a log, for the garbage collector; files of other names stay.

        The last parts go first: what a collector leaves that is killed has no gap, which `verify` would tell.
        """
        for number in reversed(self._parts(folder)):
            self.files.unlink(folder / str(number))
        self.files.remove_empty(folder)
        self.files.remove_empty(folder.parent)

    def logs(self, without: Container[str] = ()) -> Iterator[tuple[str, int, int]]:
        """(key, generation, attempt) of every log but those of some keys."""
        root = str(self.files.at("logs"))
        for name in sorted(self.files.names(root)):
            if encoding.original(name) in without:
                continue
            for folder in sorted(self.files.names(f"{root}/{name}")):
                generation, _, attempt = folder.partition(".")
                if generation.isdecimal() and attempt.isdecimal():
                    yield encoding.original(name), int(generation), int(attempt)

    def log_folder(self, key: str, generation: int, attempt: int) -> P:
        """Return the folder of a log that is there."""
        return self.files.at("logs", key, f"{generation}.{attempt}")


class Checkpoints(Generic[P]):
    """The part of a store that keeps the files from which an unfinished step continues."""

    files: Medium[P]
    owners: FencedOwners

    def add_checkpoint(self, key: str, generation: int, name: str, folder: Path) -> None:
        """Store a set durably (its manifest goes last) and drop all but the newest two.

        The set's files may become hard links: they must not be written any more. What the set before has
        under the same name is not sent again. A set that is there already is left as it is.
        """
        target = self._own_sets(key, generation) / encoding.safe(name)
        if self.files.size(target / SET_MANIFEST) is not None:
            return
        self.files.remove(target)
        files = _plain_files(folder)
        earlier = self._newest_files(key, generation)
        saved = {
            name: self._save(path, target / "files" / name, earlier.get(name)) for name, path in files.items()
        }
        for parent in {(target / "files" / relative).parent for relative in files}:
            self.files.sync(parent)
        self._own_sets(key, generation)  # StoreError when the step was lost meanwhile
        described = {relative: _described(digests) for relative, digests in saved.items()}
        self.files.create(target / SET_MANIFEST, encoding.seal({"name": name, "files": described}))
        self._drop_old_sets(key, generation)

    def place_checkpoints(self, key: str, generation: int, target: Path) -> list[str]:
        """Put the newest two whole sets under a folder, as writable copies; their names, oldest first.

        What both have is fetched once.

        >>> for name in ("update-1000", "update-2000", "update-3000"):
        ...     store.add_checkpoint(key, 1, name, saved)
        >>> store.place_checkpoints(key, 1, resumed)
        ['update-2000', 'update-3000']
        """
        placed: dict[str, dict[Blob, Path]] = {}
        for stored, whole in reversed(self._stored_sets(key, generation).items()):
            name = encoding.original(stored.name)
            if whole and len(placed) < KEPT and name not in placed:
                files = self._place_set(stored, target, next(iter(placed.values()), {}))
                placed |= {} if files is None else {name: files}
        return [*placed][::-1]

    def checkpoints(self, key: str, generation: int) -> list[str]:
        """The names of the sets whose manifest is there, oldest first."""
        stored = self._stored_sets(key, generation).items()
        return list(dict.fromkeys(encoding.original(folder.name) for folder, whole in stored if whole))

    def drop_checkpoints(self, key: str, generation: int) -> None:
        """Remove the sets of a step that has finished."""
        self.remove_sets(self._sets(key, generation))

    def remove_sets(self, folder: P) -> None:
        """Remove a folder of checkpoint sets; what an interrupted removal leaves of one is no damage."""
        for stored in self._sets_below(folder):
            self._discount(stored)
        self.files.remove(folder)

    def _discount(self, stored: P) -> None:
        """Let a set count no more, before its files go: else it would look damaged meanwhile."""
        self.files.unlink(stored / SET_MANIFEST)

    def checkpoint_sets(self) -> Iterator[tuple[str, int, P]]:
        """(key, generation, folder) of every checkpoint set, whole or not."""
        root = self.files.at("checkpoints")
        for stored in self._sets_below(root):
            key, number = stored.relative_to(root).parts[:2]
            yield encoding.original(key), int(number), stored

    def wrong_in_set(self, stored: P) -> str:
        """Describe the damage of a stored set; empty if its writer was killed, as it does not count."""
        try:
            for relative, digests in (self._read_set(stored) or {}).items():
                whole = self.files.is_whole(inside(stored, f"files/{relative}"), digests)
                if whole is None:  # its owner may have dropped the set meanwhile
                    return f"{relative} is missing" if self.files.size(stored / SET_MANIFEST) else ""
                if not whole:
                    return f"{relative} differs from its digest"
        except encoding.MALFORMED as error:
            return str(error)
        return ""

    def _read_set(self, stored: P) -> dict[str, Digests] | None:
        """Return the digests of a set's files by their names, None without a manifest.

        Raises one of `MALFORMED`.
        """
        data = self.files.read(stored / SET_MANIFEST)
        if data is None:
            return None
        name = encoding.original(inside(stored.parent, stored.name).name)
        if "/" in name:
            raise ValueError(f"the name {name!r} leads out of its folder")
        value = encoding.unseal(data)
        if value["name"] != check_name(name):
            raise ValueError(f"its manifest is that of a set {value['name']!a:.80}")
        files: dict[str, dict[str, Any]] = value["files"]
        return {
            check_name(relative): Digests(Blob.from_dict(known), str(known.get("crc32c", "")))
            for relative, known in files.items()
        }

    def _newest_files(self, key: str, generation: int) -> dict[str, tuple[P, Digests]]:
        """Locate the files of the newest set, as far as its manifest can be read."""
        whole = [stored for stored, whole in self._stored_sets(key, generation).items() if whole]
        with suppress(*encoding.MALFORMED):
            for stored in whole[-1:]:
                files = self._read_set(stored) or {}
                return {name: (stored / "files" / name, digests) for name, digests in files.items()}
        return {}

    def _save(self, source: Path, path: P, earlier: tuple[P, Digests] | None) -> Digests:
        """Save a file; if an earlier set has the same contents, as a second name for them."""
        if earlier:
            stored, digests = earlier
            if self.files.measure(source) == digests and self.files.adopt(stored, path):
                return digests
        return self.files.save(source, path)

    def _sets(self, key: str, generation: int) -> P:
        return self.files.at("checkpoints", key, str(generation))

    def _own_sets(self, key: str, generation: int) -> P:
        """The folder of the sets that this owner saves. Raises StoreError when the step was lost."""
        token, sets = self.owners.token(key, generation), self._sets(key, generation)
        return sets / str(token) if self.owners.fenced else sets

    def _stored_sets(self, key: str, generation: int) -> dict[P, bool]:
        """The folders of all sets of a step, the newest last, and whether their manifest is there."""
        found = self._sets_below(self._sets(key, generation))
        return {folder: found[folder] for folder in sorted(found, key=_age)}

    def _sets_below(self, folder: P) -> dict[P, bool]:
        """The folders of all sets below a folder, and whether their manifest is there."""
        root = self.files.at("checkpoints")
        depth = 4 if self.owners.fenced else 3  # key, generation, token, set
        found: dict[P, bool] = {}
        for path in self.files.walk(folder):
            parts = path.relative_to(root).parts
            if len(parts) > depth and all(map(str.isdecimal, parts[1 : depth - 1])):
                stored = root.joinpath(*parts[:depth])
                found[stored] = found.get(stored, False) or parts[depth:] == (SET_MANIFEST,)
        return found

    def _drop_old_sets(self, key: str, generation: int) -> None:
        stored = self._stored_sets(key, generation)
        newest = [folder for folder, whole in stored.items() if whole][-KEPT:]
        for folder in stored:
            if folder not in newest:
                self._discount(folder)
                self.files.remove(folder)

    def _place_set(self, stored: P, target: Path, near: Mapping[Blob, Path]) -> dict[Blob, Path] | None:
        """Copy one set to its folder below a target; None, with a warning, when it is not whole.

        near  contents that are on this machine already
        """
        folder, files = None, {}
        try:
            described = self._read_set(stored)
            if described is None:  # dropped meanwhile
                return None
            folder = inside(target, encoding.original(stored.name))
            for relative, digests in described.items():
                path = files[digests.blob] = inside(folder, relative)
                source = inside(stored, f"files/{relative}")
                if digests.blob in near:
                    _copy(near[digests.blob], path)
                    continue
                placed = self.files.fetch(source, digests.blob, path, writable=True)
                if placed != digests.blob:
                    wrong = "is missing" if placed is None else "differs from its digest"
                    raise ValueError(f"{source} {wrong}")
        except encoding.MALFORMED as error:
            warn(f"The checkpoint set {stored} is damaged, {aside(self.files)} and not used: {error}")
            if folder:
                shutil.rmtree(folder, ignore_errors=True)
            self.files.set_aside(stored, str(error))
            return None
        return files


def _copy(source: Path, target: Path) -> None:
    """Copy a file, sharing its extents where the file system can."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        clone(source, target, link=False)
    except OSError as error:
        raise StoreError(f"Could not write {target}: {error.strerror or error}.") from error


def _age(stored: PurePath) -> tuple[str, int]:
    """Return the order of sets: their names, which count the work done, then their owners' tokens."""
    return encoding.original(stored.name), int(stored.parent.name)


def _described(digests: Digests) -> dict[str, Any]:
    """Describe a file in the manifest of a set."""
    return {**vars(digests.blob), **({"crc32c": digests.crc32c} if digests.crc32c else {})}


def _whole(data: bytes, number: str) -> tuple[bytes, bytes]:
    """The text of a part, and the replies in it."""
    try:
        whole = encoding.unseal_bytes(data)
    except ValueError:
        return f"[store] part {number} of this log is damaged and left out\n".encode(), b""
    text, mark, replies = whole.rpartition(_REPLIES)
    return (text, replies) if mark else (whole, b"")


def _plain_files(folder: Path) -> dict[str, Path]:
    """The files below a folder, by their relative names, without symbolic links."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): path for path in found}
