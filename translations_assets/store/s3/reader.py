"""Reads an object of a store before any code of the project is there (`runners.pod.bootstrap`)."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

TIMEOUT = 60  # seconds without an answer


def read(store: str, name: str) -> bytes:
    """An object of the store, asked for once. Raises FileNotFoundError, and the client's own errors."""
    import boto3
    from botocore.config import Config
    from botocore.exceptions import ClientError

    url = urlsplit(store)
    path = "/".join(filter(None, (url.path.strip("/"), name)))
    own = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    addressing = os.environ.get("TRANSLATIONS_S3_ADDRESSING") or ("path" if own else "auto")
    config = Config(
        read_timeout=TIMEOUT, retries={"total_max_attempts": 1}, s3={"addressing_style": addressing}
    )
    try:
        answer = boto3.client("s3", config=config).get_object(Bucket=url.netloc, Key=path)
    except ClientError as error:
        if error.response["Error"]["Code"] == "NoSuchKey":
            raise FileNotFoundError(path) from error
        raise
    data: bytes = answer["Body"].read()
    return data
