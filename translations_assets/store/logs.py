"""Logs of a local store: `logs/<key>/<n>.<attempt>/<part>`, parts that are written once, in order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from translations_assets.steps.errors import StoreError
from translations_assets.store.files import Files


class Logs:
    """The part of `LocalStore` that keeps what scripts print."""

    _files: Files

    def append_log(self, key: str, generation: int, attempt: int, part: int, data: bytes) -> None:
        """Store one part (at most 5 s or 1 MB of log). Raises StoreError when the part is there already."""
        path = self._log_folder(key, generation, attempt) / str(part)
        # Not durable: a power cut may take the last seconds of a log, and a step pays no fsync for it.
        if not self._files.create(path, lambda file: file.write(data), durable=False):
            raise StoreError(f"{path} is there already: another worker writes the log of this attempt.")

    def read_log(self, key: str, generation: int, attempt: int, part: int = 0) -> Iterator[bytes]:
        """The parts from number `part` on that are there now."""
        folder = self._log_folder(key, generation, attempt)
        for number in sorted(int(name) for name in self._files.names(folder) if name.isdecimal()):
            if number >= part and (data := self._files.read(folder / str(number))) is not None:
                yield data

    def attempts(self, key: str, generation: int) -> list[int]:
        """Numbers of the attempts that have a log, ascending."""
        names = (name.partition(".") for name in self._files.names(self._files.at("logs", key)))
        return sorted(int(attempt) for number, _, attempt in names if number == str(generation))

    def _log_folder(self, key: str, generation: int, attempt: int) -> Path:
        return self._files.at("logs", key, f"{generation}.{attempt}")
