"""Large contents on their way to a bucket of S3, in parts; a part that breaks is sent again.

Several parts are on their way at a time. They are no object before all of them are there and were compared;
those of a killed process are removed by a rule of the bucket (docs/deployment.md).
"""

from __future__ import annotations

import base64
import hashlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from botocore.exceptions import ClientError

from translations_assets.store.bucket.transfer import whole
from translations_assets.store.contents import Digests, changed
from translations_assets.store.s3.errors import is_missing, is_refused

_PART = 16 << 20  # bytes
_MOST_PARTS = 10_000
_THREADS = 4  # parts that are on their way at once, and so in memory

Part = dict[str, Any]


@dataclass(frozen=True)
class S3Upload:
    """A file that is sent.

    ask        makes a request about the object, again while what is wrong may pass
    described  parameters that say what is noted with the object
    """

    client: Any
    ask: Callable[..., Any]
    described: dict[str, Any]
    file: BinaryIO
    path: Path
    digests: Digests

    def run(self) -> bool:
        """Send all; False when the name is taken by now.

        Raises StoreError when the file's contents are not, or no longer, those of the digests.
        """
        upload = self.ask(self.client.create_multipart_upload, **self.described)["UploadId"]
        try:
            return self._complete(upload, list(self._send(upload)))
        except BaseException:
            with suppress(Exception):  # the error that is on its way says more
                self.ask(self.client.abort_multipart_upload, UploadId=upload)
            raise

    def _send(self, upload: str) -> Iterator[Part]:
        sha256 = hashlib.sha256()
        coming: deque[Future[Part]] = deque()
        pool = ThreadPoolExecutor(_THREADS)
        try:
            for number, size in enumerate(_sizes(self.digests.blob.size), 1):
                data = whole(self.file, self.path, size)
                sha256.update(data)
                coming.append(pool.submit(self._send_part, upload, number, data))
                if len(coming) == _THREADS:
                    yield coming.popleft().result()
            if sha256.hexdigest() != self.digests.blob.digest:
                raise changed(self.path)
            for part in coming:
                yield part.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _send_part(self, upload: str, number: int, data: bytes) -> Part:
        answer = self.ask(
            self.client.upload_part, UploadId=upload, PartNumber=number, Body=data, ContentMD5=md5(data)
        )
        return {"PartNumber": number, "ETag": answer["ETag"]}

    def _complete(self, upload: str, parts: list[Part]) -> bool:
        """Make the object of its parts; True, too, when a request whose answer was lost has made it."""
        failures: list[Exception] = []
        try:
            self.ask(
                self.client.complete_multipart_upload,
                failures,
                UploadId=upload,
                MultipartUpload={"Parts": parts},
                IfNoneMatch="*",
            )
        except ClientError as error:
            if is_refused(error):
                self.ask(self.client.abort_multipart_upload, UploadId=upload)
                return False
            if not (failures and is_missing(error)):
                raise
            made = self.ask(self.client.head_object)
            return bool(made["Metadata"] == self.described["Metadata"])
        return True


def md5(data: bytes) -> str:
    """The digest by which every service compares what it has received."""
    return base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()


def _sizes(size: int) -> Iterator[int]:
    """Bytes of each part of so many."""
    part = max(_PART, -(-size // _MOST_PARTS))
    for start in range(0, size, part):
        yield min(part, size - start)
