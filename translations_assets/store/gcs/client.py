"""Google's client: one per process, made when it is first needed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from translations_assets.common.errors import StoreError

if TYPE_CHECKING:
    from google.cloud.storage import Client

_CONNECTIONS = 128  # kept open; with the default of 10, more threads than that open one for each request
_guard = threading.Lock()
_make: Callable[[], Client] | None = None


def supply_client(make: Callable[[], Client]) -> None:
    """Have this process's client made by a function, as of a Dagster resource."""
    global _make
    _make = make


def client() -> Client:
    """The process's client; safe for use by several threads. Raises StoreError without credentials.

    With STORAGE_EMULATOR_HOST set it speaks to an emulator, anonymously.
    """
    with _guard:
        # Made again for a process that was forked: it must not share connections with the one before.
        return _client(os.getpid(), os.environ.get("STORAGE_EMULATOR_HOST"))


@cache
def _client(process: int, emulator: str | None) -> Client:
    from google.auth.exceptions import DefaultCredentialsError
    from google.cloud.storage import Client
    from requests.adapters import HTTPAdapter

    try:
        made = _make() if _make else Client(project=None)  # the store needs no project: it makes no bucket
    except DefaultCredentialsError as error:
        raise StoreError(f"There are no credentials for Google Cloud Storage. {LOGIN}") from error
    for scheme in ("https://", "http://"):
        made._http.mount(scheme, HTTPAdapter(pool_connections=4, pool_maxsize=_CONNECTIONS))
    # It would ask for the bucket, in a thread of its own, after each object that is not there: for tracing,
    # and with a right that nothing else here needs.
    made._bucket_metadata_cache = None
    return made


LOGIN = (
    "On your own machine: gcloud auth application-default login. In a pod: let its service account use the "
    "bucket (workload identity, see docs/deployment.md)."
)
