"""The beginning of a file that takes long to come, kept in checkpoint sets: another attempt fetches the rest.

A set is a folder `NUMBER-TURN-SIZE`, of the NUMBER-th file that the script fetches: its first SIZE bytes, in
pieces `first-end`, and source.json with their digests. Each attempt, and each version of the file, has a turn
of its own, for the last name in order counts, here and where a worker stores sets. Of a large file no more
than MOST_BYTES are kept, for the disk holds them twice: what comes at such speed is soon there again.
"""

import hashlib
import json
import logging
import os
import re
import shutil
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

from pipeline.common.resources import checkpoints
from pipeline.common.web import CHUNK, Progress

SAVE_SECONDS = 300.0  # between two sets: few files take that long
MOST_BYTES = 8 << 30
_SOURCE = "source.json"
_SET = re.compile(r"\d{4}-(\d{4})-\d{15}")

log = logging.getLogger(__name__)


class KeptBytes:
    """What is kept of a file; nothing where nobody keeps it, or the server names no version of it."""

    numbers: ClassVar = count(1)

    def __init__(self, url: str) -> None:
        self._folder = checkpoints()
        self._url = hashlib.sha256(url.encode()).hexdigest()  # which may hold a login
        self._number = next(self.numbers)
        self._turn = 1 + max((_turn_of(kept) for kept in self._sets()), default=0)
        self._pieces: list[Path] = []
        self._digests: dict[str, str] = {}
        self._size = 0
        self._due = time.monotonic() + SAVE_SECONDS

    def hand_on(self, progress: Progress) -> None:
        """Let the progress take what an earlier attempt has kept."""
        for kept in reversed(self._sets()):
            source = _source_of(kept)
            if source.get("url") == self._url and (pieces := _whole_pieces(kept, source["pieces"])):
                progress.validator, progress.declared = source["validator"], source["declared"]
                for piece in pieces:
                    _take(piece, progress)
                self._pieces, self._digests, self._size = pieces, source["pieces"], progress.size
                log.info("Going on after %s bytes that an earlier attempt has fetched", f"{self._size:,}")
                return

    def forget(self) -> None:
        """The file begins anew: what is kept of it is of another version, or cannot be continued."""
        for kept in self._sets():
            if _source_of(kept).get("url") == self._url:
                shutil.rmtree(kept, ignore_errors=True)
        self._turn += 1
        self._pieces, self._digests, self._size = [], {}, 0

    def _sets(self) -> list[Path]:
        sets = self._folder.iterdir() if self._folder and self._folder.is_dir() else ()
        return sorted(path for path in sets if not path.name.startswith("."))

    def is_due(self) -> bool:
        """Whether it is time to save a set."""
        return self._folder is not None and time.monotonic() >= self._due

    def save(self, file: Path, progress: Progress) -> None:
        """Keep what a file has come to."""
        self._due = time.monotonic() + SAVE_SECONDS
        if self._folder is None or not progress.validator or not self._size < progress.size <= MOST_BYTES:
            return
        name = f"{self._number:04d}-{self._turn:04d}-{progress.size:015d}"
        hidden = self._folder / f".{name}"
        shutil.rmtree(hidden, ignore_errors=True)
        hidden.mkdir(parents=True)
        self._pieces = [_linked(piece, hidden / piece.name) for piece in self._pieces]
        self._pieces.append(hidden / f"{self._size:015d}-{progress.size:015d}")
        self._digests[self._pieces[-1].name] = _copy(file, self._size, self._pieces[-1])
        told = {
            "url": self._url,
            "validator": progress.validator,
            "declared": progress.declared,
            "pieces": self._digests,
        }
        (hidden / _SOURCE).write_text(json.dumps(told), encoding="utf-8")
        hidden.rename(self._folder / name)
        self._pieces = [self._folder / name / piece.name for piece in self._pieces]
        self._size = progress.size


def _turn_of(kept: Path) -> int:
    match = _SET.fullmatch(kept.name)
    return int(match[1]) if match else 0


def _source_of(kept: Path) -> dict[str, Any]:
    try:
        told: dict[str, Any] = json.loads((kept / _SOURCE).read_bytes())
    except (OSError, ValueError):  # of lines, not of bytes; or damaged
        return {}
    return told


def _whole_pieces(kept: Path, digests: Mapping[str, str]) -> list[Path]:
    """The pieces of a set, from the first byte on; none when one is not whole."""
    pieces = [kept / name for name in sorted(digests)]
    return pieces if all(path.is_file() and _digest(path) == digests[path.name] for path in pieces) else []


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _take(piece: Path, progress: Progress) -> None:
    with piece.open("rb") as file:
        while chunk := file.read(CHUNK):
            progress.take(chunk)


def _copy(file: Path, start: int, target: Path) -> str:
    """Copy a file from a byte on; the digest of that."""
    with file.open("rb") as source, target.open("wb") as copy:
        source.seek(start)
        shutil.copyfileobj(source, copy, CHUNK)
    return _digest(target)


def _linked(piece: Path, target: Path) -> Path:
    try:
        os.link(piece, target)
    except OSError:  # a file system without hard links
        shutil.copyfile(piece, target)
    return target
