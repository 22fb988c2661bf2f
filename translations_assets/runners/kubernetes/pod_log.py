"""A pod's log while it grows, over connections that break."""

from __future__ import annotations

import queue
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice

from translations_assets.runners.kubernetes.cluster import (
    Cluster,
    ClusterAway,
    ClusterError,
    Missing,
    Unavailable,
)

LONGEST = 1 << 20  # bytes of a line; what is longer comes in pieces, so that memory stays flat
_FIRST_PAUSE, _LAST_PAUSE = 0.2, 5.0
_LONG_SECONDS = 10.0  # a connection that lasted so long was a good one
_AHEAD = 256  # lines that are read before they are taken
_TRIES = 4  # to read the log of a pod that has ended, while the API server does answer
# The kubelet throws old parts of a log away, by default of 10 MiB; the worker stores all of it
_GAP = b"[lines from %s to %s are missing here: the node does not keep them; the step's whole log is stored]"
_FRACTION = re.compile(r"\.\d+")


class PodLog:
    """The log of one pod.

    ended    whether its worker has ended: then what stands in the log is all that comes
    wait     pauses for so many seconds, less when the pod has ended; whether nobody reads any more

    trouble  why it could not be read when that was tried last; empty where it can
    """

    def __init__(
        self, cluster: Cluster, pod: str, ended: Callable[[], bool], wait: Callable[[float], object]
    ) -> None:
        self._cluster, self._pod, self._ended, self._wait = cluster, pod, ended, wait
        self._last, self._same = b"", 0  # the last line's time, and how many lines had it
        self._rest = b""
        self.trouble = ""

    def lines(self) -> Iterator[bytes]:
        """The lines, without line feed, until the pod has ended or was deleted.

        While the cluster is away and the pod is not known to have ended, waits.
        """
        pause, failures = _FIRST_PAUSE, 0
        while True:
            ended = self._ended()  # asked before the log is read: what is read then is whole
            began, asked = time.monotonic(), 0.0
            try:
                yield from self._read(follow=not ended)
                if ended:
                    break
            except ClusterError as error:
                failures += ended and (isinstance(error, Unavailable) or not isinstance(error, ClusterAway))
                gone = isinstance(error, Missing) or failures > _TRIES  # with its pod, or with its node
                self.trouble = str(error)
                if gone:
                    break
                asked = error.after if isinstance(error, ClusterAway) else 0.0
            self._rest = b""  # comes again, as the begin of its line
            if time.monotonic() - began > _LONG_SECONDS:
                pause = _FIRST_PAUSE
            if self._wait(max(pause, asked)):
                return
            pause = min(2 * pause, _LAST_PAUSE)
        if self._rest:
            yield _text(self._rest)

    def _read(self, *, follow: bool) -> Iterator[bytes]:
        """The lines that one connection brings, without those that came before."""
        last, to_skip = self._last, self._same
        since = _FRACTION.sub("", last.decode())  # servers know whole seconds
        again = bool(last)
        for line in self._split(self._cluster.log(self._pod, since, follow=follow)):
            moment = line.partition(b" ")[0]
            if again and moment <= last:
                if moment < last:
                    continue
                if to_skip:
                    to_skip -= 1
                    continue
            elif moment:
                if again and to_skip == self._same:  # not even the last line that was seen is there any more
                    yield _GAP % (last, moment)
                again = False
            self._same = self._same + 1 if moment == self._last else 1
            self._last = moment or self._last
            yield _text(line)

    def _split(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self.trouble = ""
            *whole, self._rest = (self._rest + piece).split(b"\n")
            yield from whole
            if len(self._rest) > LONGEST:
                yield self._rest
                self._rest = b" "  # the next piece has no time before it


def _text(line: bytes) -> bytes:
    return line.partition(b" ")[2]


class LogReader:
    """Reads a pod's log in a thread of its own: a connection may hang, and what waits for lines must not.

    changed  called when there are lines, or no more will come
    """

    def __init__(self, cluster: Cluster, pod: str, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._lines = queue.Queue[bytes](_AHEAD)
        self._ended, self._stopped, self._wake = threading.Event(), threading.Event(), threading.Event()
        self._log = PodLog(cluster, pod, self._ended.is_set, self._wait)
        self._thread = threading.Thread(target=self._read, name="pod-log", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """True if no more lines will come than `take` gives now."""
        return not self._thread.is_alive()

    @property
    def trouble(self) -> str:
        """The reason that the log could not be read at the last try; empty where it could."""
        return self._log.trouble

    def take(self) -> Iterator[bytes]:
        """The lines that have come."""
        with suppress(queue.Empty):
            while True:
                yield self._lines.get_nowait()

    def end(self) -> None:
        """The worker has ended: what stands in the log is all that comes."""
        if not self._ended.is_set():
            self._ended.set()
            self._wake.set()

    def stop(self) -> None:
        """Read no more; the thread ends when its connection brings something, or breaks."""
        self._stopped.set()
        self._wake.set()

    def _wait(self, seconds: float) -> bool:
        self._wake.wait(seconds)
        self._wake.clear()
        return self._stopped.is_set()

    def _read(self) -> None:
        try:
            for line in self._log.lines():
                while not self._stopped.is_set() and not self._put(line):
                    pass
                if self._stopped.is_set():
                    return
                self._changed()
        finally:
            self._changed()

    def _put(self, line: bytes) -> bool:
        with suppress(queue.Full):
            self._lines.put(line, timeout=1.0)
            return True
        return False


def lines_after(parts: Callable[[], Iterator[bytes]], seen: int, last: bytes) -> Iterator[bytes]:
    """The lines of a stored log after those that were seen, given their number and the last of them.

    None where it has no more than were seen. There may be lines among them that only the pod had: then it
    goes on after the last line before with that text. Rather is a line shown twice than left out.

    >>> list(lines_after(lambda: iter([b"a\nb\n", b"c\nd"]), 2, b"b"))
    [b'c', b'd']
    """
    after = total = 0
    for total, line in enumerate(whole_lines(parts()), 1):
        if total <= seen and line == last:
            after = total
    return islice(whole_lines(parts()), after, None) if total > seen else iter(())


def whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a text that comes in pieces; the last one may have no end."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
    if rest:
        yield rest
