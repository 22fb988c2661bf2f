"""The client of S3: one per process and limit of time, made when it is first needed."""

from __future__ import annotations

import os
import threading
from functools import cache
from typing import Any

from translations_assets.common.errors import StoreError
from translations_assets.common.settings import s3_addressing

_CONNECTIONS = 128  # kept open; with the default of 10, more threads than that open one for each request
_guard = threading.Lock()


def client(timeout: tuple[float, float]) -> Any:
    """The process's client; safe for use by several threads. Raises StoreError for a wrong setting.

    Credentials, region and endpoint come from where the whole ecosystem looks for them: AWS_… variables, the
    files in ~/.aws, the role of a pod or of a machine.

    timeout  seconds to connect, and between two pieces of an answer
    """
    with _guard:
        # Made again for a process that was forked: it must not share connections with the one before.
        return _client(os.getpid(), timeout, _addressing(), os.environ.get("AWS_ENDPOINT_URL_S3"))


@cache
def _client(process: int, timeout: tuple[float, float], addressing: str, endpoint: str | None) -> Any:
    from boto3.session import Session
    from botocore.config import Config

    connect, read = timeout
    config = Config(
        connect_timeout=connect,
        read_timeout=read,
        max_pool_connections=_CONNECTIONS,
        retries={"total_max_attempts": 1},  # ours are bounded by time, and know of conditions
        s3={"addressing_style": addressing},
        # Contents carry checksums of our own; services before 2025 refuse requests with those of the client
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    return Session().client("s3", config=config)


def _addressing() -> str:
    try:
        return s3_addressing()
    except ValueError as error:
        raise StoreError(f"The bucket cannot be reached: {error}.") from error


LOGIN = (
    "On your own machine: aws configure, or aws sso login. In a pod: let its service account take a role "
    "that may use the bucket. On premises: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (see "
    "docs/deployment.md)."
)
