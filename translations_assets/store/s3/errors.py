"""Errors of the client of S3, in words for people: the operation that failed, its cause, the next step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore import exceptions as boto
from botocore.exceptions import ClientError

from translations_assets.common import retry_after
from translations_assets.common.errors import StoreError, StoreUnreachable
from translations_assets.store.s3.client import LOGIN

_PASSES = frozenset((408, 429, 500, 502, 503, 504))
# Of other statuses: of two conditional writes at a time one is told to come again
_BUSY = frozenset(("ConditionalRequestConflict", "OperationAborted", "RequestTimeout", "Throttling"))
_LOST = (
    *(boto.HTTPClientError, boto.ConnectionError, boto.IncompleteReadError, boto.MetadataRetrievalError),
    ConnectionError,
)
_UNKNOWN = frozenset(("InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken"))
_ELSEWHERE = frozenset(
    ("PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException")
)
_NO_LOGIN = (
    *(boto.NoCredentialsError, boto.PartialCredentialsError, boto.CredentialRetrievalError),
    *(boto.TokenRetrievalError, boto.SSOError),
)


def passes(error: Exception) -> bool:
    """True if the same request may succeed later: the service is busy or away, the connection was lost."""
    if isinstance(error, ClientError):
        return status(error) in _PASSES or code(error) in _BUSY
    return isinstance(error, _LOST) and not isinstance(error, boto.SSLError)


def asked_pause(error: Exception) -> float:
    """The seconds for which the service wants to be left alone (Retry-After); 0 where it does not say."""
    if not isinstance(error, ClientError):
        return 0.0
    headers = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    return retry_after.asked_pause(headers.get("retry-after", "")) or 0.0


def status(error: ClientError) -> int:
    """The status of the service's answer."""
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def code(error: ClientError) -> str:
    """The service's word for what is wrong; of answers without a body their status."""
    return str(error.response.get("Error", {}).get("Code", ""))


def is_missing(error: ClientError) -> bool:
    """True if the object, or its version, is missing; see `is_bare`."""
    return status(error) == 404 and code(error) != "NoSuchBucket"


def is_bare(error: ClientError) -> bool:
    """True if the answer had no body, and does not say whether the object or the bucket is missing."""
    return code(error) in ("404", "NotFound")


def is_refused(error: ClientError) -> bool:
    """True if a condition did not hold."""
    return status(error) == 412


@contextmanager
def store_errors(bucket: str, doing: str) -> Iterator[None]:
    """Turn an error of the client into a StoreError, StoreUnreachable when it may pass."""
    try:
        yield
    except RecursionError as error:  # the client asks where the bucket is, is redirected, asks …
        raise StoreError(
            f"The store s3://{bucket} could not {doing}: the service's address redirects. Name in "
            "AWS_ENDPOINT_URL_S3 the one that it redirects to, such as https:// in place of http://."
        ) from error
    except (boto.BotoCoreError, ClientError, OSError) as error:
        kind = StoreUnreachable if passes(error) else StoreError
        raise kind(_explain(bucket, doing, error)) from error


def _explain(bucket: str, doing: str, error: Exception) -> str:
    problem = f"The store s3://{bucket} could not {doing}: {_reason(error)}."
    if passes(error):
        return f"{problem} The service or the network is away."
    if isinstance(error, _NO_LOGIN):
        return f"{problem} {LOGIN}"
    if isinstance(error, boto.SSLError):
        return f"{problem} If the service has a certificate of your own, name its authority in AWS_CA_BUNDLE."
    if not isinstance(error, ClientError):
        return problem
    if code(error) in _UNKNOWN:
        return f"{problem} The credentials are not accepted, or have expired. {LOGIN}"
    if code(error) in _ELSEWHERE:
        return (
            f"{problem} The bucket is in another region. Set AWS_REGION to the bucket's: "
            f"aws s3api get-bucket-location --bucket {bucket}"
        )
    if code(error) == "RequestTimeTooSkewed":
        return f"{problem} The clock of this machine is wrong by more than 15 minutes. Set it."
    if status(error) == 403:
        return (
            f"{problem} Who runs this needs the rights s3:ListBucket and s3:ListBucketVersions on the "
            "bucket, and s3:GetObject, s3:GetObjectVersion, s3:PutObject, s3:DeleteObjectVersion and "
            "s3:AbortMultipartUpload on its objects."
        )
    if status(error) == 404:
        return (
            f"{problem} Check the bucket's name in TRANSLATIONS_STORE, and the service's address in "
            f"AWS_ENDPOINT_URL_S3, or make it: aws s3 mb s3://{bucket}"
        )
    return problem


def _reason(error: Exception) -> str:
    """Return the service's message."""
    if isinstance(error, ClientError):
        message = str(error.response.get("Error", {}).get("Message", ""))
        words = [str(status(error)), *([] if is_bare(error) else [code(error)]), message]
        return " ".join(filter(None, words)).rstrip(". ")
    return f"{type(error).__name__}: {error}".rstrip(". ")
