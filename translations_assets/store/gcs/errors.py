"""Errors of Google's client, in words for people: the operation that failed, its cause, the next step."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import contextmanager

import requests
import urllib3
from google.api_core import exceptions as api
from google.auth import exceptions as auth
from google.cloud.storage.exceptions import DataCorruption, InvalidResponse

from translations_assets.common import retry_after
from translations_assets.common.errors import StoreError, StoreUnreachable
from translations_assets.store.gcs.client import LOGIN

_PASSES = frozenset((408, 429, 500, 502, 503, 504))
_LOST = (
    *(ConnectionError, requests.ConnectionError, requests.Timeout, http.client.HTTPException),
    *(requests.exceptions.ChunkedEncodingError, urllib3.exceptions.HTTPError, DataCorruption),
)
ROLE = "roles/storage.objectUser"


def passes(error: Exception) -> bool:
    """True if the same request may succeed later: the service is busy or away, the connection was lost."""
    if isinstance(error, api.RetryError):
        return True
    if isinstance(error, auth.TransportError):  # of the server that gives out credentials
        return True
    if isinstance(error, auth.RefreshError):
        return bool(error.retryable)
    if isinstance(error, api.GoogleAPICallError):
        return error.code in _PASSES
    if isinstance(error, InvalidResponse):
        return error.response.status_code in _PASSES
    return isinstance(error, _LOST)


def asked_pause(error: Exception) -> float:
    """The seconds for which the service wants to be left alone (Retry-After); 0 where it does not say."""
    response = getattr(error, "response", None)  # of both of the client's families of errors
    return retry_after.asked_pause(getattr(response, "headers", {}).get("Retry-After", "")) or 0.0


@contextmanager
def store_errors(bucket: str, doing: str) -> Iterator[None]:
    """Turn an error of Google's client into a StoreError, StoreUnreachable when it may pass."""
    try:
        yield
    except _KNOWN as error:
        kind = StoreUnreachable if passes(error) else StoreError
        raise kind(_explain(bucket, doing, error)) from error


def is_bucket_missing(error: api.NotFound) -> bool:
    """True if the bucket is missing, not the object."""
    return "bucket does not exist" in str(error)


def _explain(bucket: str, doing: str, error: Exception) -> str:
    problem = f"The store gs://{bucket} could not {doing}: {_reason(error)}."
    if passes(error):
        return f"{problem} The service or the network is away."
    if isinstance(error, (api.Unauthorized, auth.GoogleAuthError)):
        return f"{problem} The credentials are not accepted. {LOGIN}"
    if isinstance(error, api.Forbidden):
        return (
            f"{problem} The account that runs this needs the role {ROLE} on the bucket: gcloud storage "
            f"buckets add-iam-policy-binding gs://{bucket} --member=… --role={ROLE}"
        )
    if isinstance(error, api.NotFound):
        return (
            f"{problem} Check the bucket's name in TRANSLATIONS_STORE, or make it: "
            f"gcloud storage buckets create gs://{bucket}"
        )
    return problem


def _reason(error: Exception) -> str:
    """Return the service's message; after many attempts, that of the last."""
    if isinstance(error, api.RetryError) and isinstance(error.cause, Exception):
        return f"{_reason(error.cause)}, many times"
    if isinstance(error, api.GoogleAPICallError):
        return f"{error.code} {error.message}".rstrip(". ")
    if isinstance(error, InvalidResponse):
        return f"{error.response.status_code} {error.response.reason}"
    if isinstance(error, DataCorruption):
        return "the checksum of the download differs from that of the upload"
    return f"{type(error).__name__}: {error}".rstrip(". ")


_KNOWN = (api.GoogleAPIError, auth.GoogleAuthError, InvalidResponse, OSError, *_LOST)
