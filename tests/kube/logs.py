"""A container's log as a kubelet keeps and serves it."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

_STAMP = "%Y-%m-%dT%H:%M:%S.%f"
_SECOND = 19  # characters of a time stamp up to its seconds
_PREFIX = 31  # a stamp with nine digits of a second, Z and a space
_CHUNK = 1 << 18


@dataclass(frozen=True)
class LogQuery:
    """Requested part of a log.

    container  whose log; "" for a pod that has only one
    since  from this second on; a server passes it to the kubelet in whole seconds
    tail   so many last lines, None for all
    """

    container: str = ""
    follow: bool = False
    timestamps: bool = False
    since: str = ""
    tail: int | None = None

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> LogQuery:
        """The query of a request for a log, to the API server or to the kubelet."""
        since = query.get("sinceTime", "")
        if "sinceSeconds" in query:
            moment = datetime.now(UTC) - timedelta(seconds=int(query["sinceSeconds"]))
            since = moment.strftime(_STAMP)
        return cls(
            container=query.get("container", ""),
            follow=query.get("follow", "").lower() == "true",
            timestamps=query.get("timestamps", "").lower() == "true",
            since=since[:_SECOND],
            tail=int(query["tailLines"]) if "tailLines" in query else None,
        )


class ContainerLog:
    """A log that one writes, line by line, and many read meanwhile."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("wb", buffering=0)
        self._size = 0
        self._ended = False
        self._grown = threading.Condition()

    def write(self, line: bytes) -> None:
        """Add a line, with its time stamp."""
        stamp = datetime.now(UTC).strftime(_STAMP).encode() + b"000Z "
        whole = stamp + line if line.endswith(b"\n") else stamp + line + b"\n"
        self._file.write(whole)
        with self._grown:
            self._size += len(whole)
            self._grown.notify_all()

    def end(self) -> None:
        """Nothing will be added any more."""
        with self._grown:
            self._ended = True
            self._grown.notify_all()
        self._file.close()

    def read(self, query: LogQuery) -> Iterator[bytes]:
        """Yield the requested part in pieces of whole lines; with `follow` until the container has ended."""
        with self._path.open("rb") as file:
            lines = self._lines(file.fileno(), query)
            if query.tail is not None and not query.follow:
                lines = iter([line for chunk in lines for line in _split(chunk)][-query.tail :])
            for chunk in lines:
                yield _shown(chunk, query)

    def _lines(self, descriptor: int, query: LogQuery) -> Iterator[bytes]:
        position, rest = 0, b""
        while True:
            with self._grown:
                while query.follow and self._size <= position and not self._ended:
                    self._grown.wait()
                size = self._size
            while position < size:
                data = os.pread(descriptor, min(_CHUNK, size - position), position)
                position += len(data)
                whole, newline, rest = (rest + data).rpartition(b"\n")
                yield whole + newline
            with self._grown:
                if not query.follow or (self._ended and self._size <= position):
                    return

    def last(self, size: int, lines: int) -> str:
        """The end of the log without time stamps, for a termination message."""
        text = b"".join(self.read(LogQuery(tail=lines)))
        return text[-size:].decode(errors="replace")


def _split(chunk: bytes) -> list[bytes]:
    """Lines with their ends; `splitlines` would also cut at carriage returns."""
    return io.BytesIO(chunk).readlines()


def _shown(chunk: bytes, query: LogQuery) -> bytes:
    if query.timestamps and not query.since:
        return chunk
    since = query.since.encode()
    cut = 0 if query.timestamps else _PREFIX
    return b"".join(line[cut:] for line in _split(chunk) if line[:_SECOND] >= since)
