"""Large contents on their way to a bucket; an upload that breaks goes on where it was.

It is one request that sends the file from end to end: parts that are sent at once would be objects of their
own until they are put together, left lying by who is killed, and paid for after they are deleted. When it
breaks, the service is asked how much it has kept, and the next request sends the rest (decision 24 tells why
not by the client's own upload in chunks).
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from google.api_core.exceptions import from_http_response
from requests import Response

from translations_assets.store.bucket.transfer import whole
from translations_assets.store.contents import READ_BYTES, Digests, changed
from translations_assets.store.gcs.client import client
from translations_assets.store.gcs.errors import asked_pause, passes

SESSIONS = 3
_KEPT = re.compile(r"bytes=0-(\d+)")
_UNIT = 256 << 10  # of an upload that broke, the service keeps multiples of this


class SessionGone(Exception):
    """The service does not know the upload that was begun, or has finished it."""


@dataclass
class Upload:
    """A file that is sent to a session; what limits it is as in `GcsObjects`."""

    file: BinaryIO
    path: Path
    session: str
    digests: Digests
    patience: float
    timeout: tuple[float, float]
    pauses: tuple[float, float]
    _kept: int = 0  # bytes that the service has, or should have

    def run(self) -> bool:
        """Send all; after a break the rest, until that has got no further for the time of patience."""
        first, longest = self.pauses
        pause, since, reached = first, 0.0, -1  # reached: what was kept when it broke, no more since then
        while True:
            try:
                answer = (self._ask() if reached >= 0 else None) or self._send()
                if answer.status_code == 308:
                    raise ConnectionError("the service has not received all that was sent")
                self._check(answer)
                return True
            except Exception as error:
                if not passes(error):
                    raise
                now = time.monotonic()
                if self._kept > reached:
                    pause, since, reached = first, now, self._kept
                elif now - since > self.patience:
                    raise
                asked = min(asked_pause(error), self.patience)
            time.sleep(max(asked, random.uniform(0, pause)))
            pause = min(2 * pause, longest)

    def _ask(self) -> Response | None:
        """Ask how much the service has kept; an answer that ends the upload, None when more is to be sent."""
        answer = self._put(f"bytes */{self.digests.blob.size}", b"")
        if answer.status_code != 308:
            return answer
        kept = _KEPT.match(answer.headers.get("Range", ""))
        self._kept = (int(kept[1]) + 1) // _UNIT * _UNIT if kept else 0
        return None

    def _send(self) -> Response:
        rest = _Rest(self.file, self.path, self._kept, self.digests.blob.size)
        return self._put(f"bytes {self._kept}-{self.digests.blob.size - 1}/{self.digests.blob.size}", rest)

    def _put(self, content_range: str, data: _Rest | bytes) -> Response:
        headers = {"Content-Range": content_range}
        if data:
            headers["X-Goog-Hash"] = f"crc32c={self.digests.crc32c}"
        answer: Response = client()._http.put(self.session, data=data, headers=headers, timeout=self.timeout)
        if answer.status_code in (404, 410):
            raise SessionGone
        if answer.status_code not in (200, 201, 308):
            raise from_http_response(answer)
        return answer

    def _check(self, answer: Response) -> None:
        """Compare what the service has received with what was to be sent."""
        if answer.json()["crc32c"] != self.digests.crc32c:
            raise changed(self.path)


@dataclass
class _Rest:
    """The end of a file as the body of a request, in pieces."""

    file: BinaryIO
    path: Path
    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def __iter__(self) -> Iterator[bytes]:
        self.file.seek(self.start)
        while (at := self.file.tell()) < self.end:
            yield whole(self.file, self.path, min(READ_BYTES, self.end - at))
