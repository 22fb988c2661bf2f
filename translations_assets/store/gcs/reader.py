"""Reads an object of a store before any code of the project is there (`runners.pod.bootstrap`)."""

from __future__ import annotations

from urllib.parse import urlsplit

TIMEOUT = 60  # seconds without an answer


def read(store: str, name: str) -> bytes:
    """An object of the store, asked for once. Raises FileNotFoundError, and the client's own errors."""
    from google.api_core.exceptions import NotFound
    from google.cloud import storage  # honours STORAGE_EMULATOR_HOST, then without credentials

    url = urlsplit(store)
    path = "/".join(filter(None, (url.path.strip("/"), name)))
    blob = storage.Client(project=None).bucket(url.netloc).blob(path)
    try:
        data: bytes = blob.download_as_bytes(timeout=TIMEOUT, retry=None)
    except NotFound as error:
        raise FileNotFoundError(path) from error
    return data
