"""A pod's log while it grows, over connections that break."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

from translations_assets.runners.kubernetes.cluster import (
    REFUSED_SECONDS,
    Cluster,
    ClusterAway,
    ClusterError,
    Missing,
    Refused,
    Unavailable,
)

LONGEST = 1 << 20  # bytes of a line; what is longer comes in pieces, so that memory stays flat
_FIRST_PAUSE, _LAST_PAUSE = 0.2, 5.0
_LONG_SECONDS = 10.0  # a connection that lasted so long was a good one
_TRIES = 4  # to read the log of a pod that has ended, while the API server does answer
# The kubelet throws old parts of a log away, by default of 10 MiB; the worker stores all of it
_GAP = b"[lines from %s to %s are missing here: the node does not keep them; the step's whole log is stored]"
_NOT_SHOWN = "[the log cannot be shown: {} The step goes on, and its whole log is stored]"
_FRACTION = re.compile(r"\.\d+")


class PodLog:
    """The log of one pod.

    ended  whether its worker has ended: then what stands in the log is all that comes. May raise
    wait   pauses for so many seconds, less when the pod changes
    """

    def __init__(
        self, cluster: Cluster, pod: str, ended: Callable[[], bool], wait: Callable[[float], object]
    ) -> None:
        self._cluster, self._pod, self._ended, self._wait = cluster, pod, ended, wait
        self._last, self._same = b"", 0  # the last line's time, and how many lines had it
        self._rest = b""
        self._refused_since: float | None = None
        self._refusal_is_told = False

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
                if self._is_refused(error, gone):
                    yield _NOT_SHOWN.format(error).encode()
                if gone:
                    break
                asked = error.after if isinstance(error, ClusterAway) else 0.0
            self._rest = b""  # comes again, as the begin of its line
            if time.monotonic() - began > _LONG_SECONDS:
                pause = _FIRST_PAUSE
            self._wait(max(pause, asked))
            pause = min(2 * pause, _LAST_PAUSE)
        if self._rest:
            yield _text(self._rest)

    def _is_refused(self, error: ClusterError, at_last: bool) -> bool:
        """Whether it is to be told that the log may not be read: once, when that does not pass."""
        now = time.monotonic()
        if not isinstance(error, Refused):
            self._refused_since = None
            return False
        if self._refused_since is None:
            self._refused_since = now
        is_due = at_last or now - self._refused_since >= REFUSED_SECONDS
        is_news, self._refusal_is_told = is_due and not self._refusal_is_told, self._refusal_is_told or is_due
        return is_news

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
            *whole, self._rest = (self._rest + piece).split(b"\n")
            yield from whole
            if len(self._rest) > LONGEST:
                yield self._rest
                self._rest = b" "  # the next piece has no time before it


def _text(line: bytes) -> bytes:
    return line.partition(b" ")[2]
