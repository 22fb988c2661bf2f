"""Logs: `logs/<key>/<n>.<attempt>/<part>`, parts that are written once, in order.

Each part begins with a line that holds its SHA-256.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Generic

from translations_assets.errors import StoreError
from translations_assets.store.medium import Medium, P
from translations_assets.store.names import original
from translations_assets.store.sealed import seal_bytes, unseal_bytes


class Logs(Generic[P]):
    """The part of a store that keeps what scripts print."""

    files: Medium[P]

    def append_log(self, key: str, generation: int, attempt: int, part: int, data: bytes) -> None:
        """Store one part (at most 5 s or 1 MB of log). Raises StoreError when the part is there already."""
        path = self.log_folder(key, generation, attempt) / str(part)
        # Not durable: a power cut may take the last seconds of a log, and a step pays no fsync for it.
        if not self.files.create(path, seal_bytes(data), durable=False):
            raise StoreError(f"{path} is there already: another worker writes the log of this attempt.")

    def read_log(self, key: str, generation: int, attempt: int, part: int = 0) -> Iterator[bytes]:
        """The parts from number `part` on that are there now; a damaged one as a line that says so."""
        folder = self.log_folder(key, generation, attempt)
        numbers = sorted(int(name) for name in self.files.names(folder) if name.isdecimal())
        paths = [folder / str(number) for number in numbers if number >= part]
        for path, data in self.files.read_all(paths):
            if data is not None:
                yield _whole(data, path.name)

    def attempts(self, key: str, generation: int) -> list[int]:
        """Numbers of the attempts that have a log, ascending."""
        names = (name.partition(".") for name in self.files.names(self.files.at("logs", key)))
        return sorted(int(attempt) for number, _, attempt in names if number == str(generation))

    def remove_log(self, folder: P) -> None:
        """Remove the parts of a log, for the garbage collector."""
        for name in self.files.names(folder):
            self.files.unlink(folder / name)
        self.files.remove_empty(folder)
        self.files.remove_empty(folder.parent)

    def logs(self, without: Container[str] = ()) -> Iterator[tuple[str, int, int]]:
        """(key, generation, attempt) of every log but those of some keys."""
        root = str(self.files.at("logs"))
        for name in sorted(self.files.names(root)):
            if original(name) in without:
                continue
            for folder in sorted(self.files.names(f"{root}/{name}")):
                generation, _, attempt = folder.partition(".")
                if generation.isdecimal() and attempt.isdecimal():
                    yield original(name), int(generation), int(attempt)

    def log_folder(self, key: str, generation: int, attempt: int) -> P:
        """Where a log stands, when there is one."""
        return self.files.at("logs", key, f"{generation}.{attempt}")


def _whole(data: bytes, number: str) -> bytes:
    try:
        return unseal_bytes(data)
    except ValueError:
        return f"[store] part {number} of this log is damaged and left out\n".encode()
