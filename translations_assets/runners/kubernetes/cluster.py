"""The API of a cluster: jobs, pods, events and watches."""

from __future__ import annotations

import http.client
import json
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from translations_assets.common.errors import TemporaryError, TranslationsError
from translations_assets.common.retry_after import asked_pause
from translations_assets.runners.kubernetes.access import Access, access_to
from translations_assets.runners.kubernetes.kueue import GROUP
from translations_assets.runners.kubernetes.state import JobState, Object
from translations_assets.running.tasks import Work, finish, pause

if TYPE_CHECKING:
    from translations_assets.config.deployment import Kubernetes

AWAY_SECONDS = 900.0  # an API server that is away so long is given up
COMPONENT = "translations-worker"
DENIED = "denied (?:the )?request"  # in the words of webhooks, and of policies
_FORBIDDEN = re.compile(r'^jobs\.batch "[^"]*" is forbidden: ')
# A server that has just started refuses for a moment, as it does who has just been given a right
REFUSED_SECONDS = 30.0
_LONGEST_ASKED = (
    300.0  # of what servers want to be left alone for: they ask for seconds, proxies for anything
)
_FIRST_PAUSE, _LAST_PAUSE = 0.5, 10.0
_TIMEOUT = (10, 60)  # seconds to connect, and without a byte of the answer
# A watch is begun again so often: a connection that died unseen does not last, and it is soon known that the
# server does not answer
_WATCH_SECONDS = 20
_SELECTOR = f"app.kubernetes.io/component={COMPONENT}"
_CONNECTIONS = 200  # that are kept for the next request; more may be open
_EVENTS = 100

Kind: TypeAlias = Literal["jobs", "pods"]
T = TypeVar("T")

_log = logging.getLogger(__name__)
_RAW = {"_preload_content": False, "_request_timeout": _TIMEOUT}


class ClusterError(TranslationsError):
    """The cluster refuses what it was asked for."""


class ClusterAway(ClusterError, TemporaryError):
    """The cluster cannot be reached, or cannot answer; that may pass.

    after  seconds in which the server wants to be asked nothing
    """

    def __init__(self, message: str, after: float = 0.0) -> None:
        super().__init__(message)
        self.after = after


class Refused(ClusterAway):
    """The cluster does not allow it; a server that has just started refuses every request."""


class Unauthorized(Refused):
    """The server does not know who asks: what was read for that is out of date."""


class Ahead(ClusterAway):
    """The server knows no version as new as that from which to watch, as one with a restored memory."""


class NotAdmitted(ClusterError):
    """A Job is not let in.

    text      in the API server's words
    by_quota  whether there are too many Jobs; else a webhook or a policy refuses it
    """

    def __init__(self, text: str, by_quota: bool) -> None:
        super().__init__(
            f"the cluster refuses the job: {text}. A webhook or a policy of the cluster forbids it: change "
            f"the deployment file (kubernetes.pod, worker-classes), or have the policy changed"
        )
        self.text, self.by_quota = text, by_quota


class Conflict(ClusterError):
    """There is an object of that name already."""


class Missing(ClusterError):
    """There is no such object."""


class Expired(ClusterError):
    """Changes since so long ago are not known any more: list again."""


@dataclass
class Trouble:
    """The reason that the API server gave no answer to the last request; empty where it did."""

    text: str = ""


class Cluster:
    """One namespace of a cluster. Every call is tried again while the API server is away, for 15 minutes.

    closed   once it is set, nothing is tried again: threads that nothing waits for any more come to an end
    trouble  is told what keeps the API server from answering
    """

    def __init__(
        self,
        access: Access,
        namespace: str,
        closed: threading.Event | None = None,
        trouble: Trouble | None = None,
    ) -> None:
        from kubernetes.client import ApiClient, BatchV1Api, CoreV1Api

        access.settings.retries = False  # those of `_ask` last longer, and are reported
        access.settings.connection_pool_maxsize = _CONNECTIONS
        client = ApiClient(access.settings)
        self.namespace, self.closed = namespace, closed or threading.Event()
        self.trouble = trouble or Trouble()
        self._access, self._client = access, client
        self._batch, self._core = BatchV1Api(client), CoreV1Api(client)
        self._was_known = False  # whether the server has ever accepted who asks
        self._listers: dict[Kind, Callable[..., Any]] = {
            "jobs": self._batch.list_namespaced_job,
            "pods": self._core.list_namespaced_pod,
        }

    @classmethod
    def connect(
        cls, kubernetes: Kubernetes, kubeconfig: Path | None, closed: threading.Event, trouble: Trouble
    ) -> Cluster:
        """The cluster of a kubeconfig's context; in a pod and without either, the pod's own cluster.

        Raises ClusterError when there is no usable kubeconfig.
        """
        from kubernetes.config import ConfigException

        try:
            access = access_to(kubernetes, kubeconfig)
        except (ConfigException, OSError, ValueError) as error:
            raise ClusterError(
                f"There is no usable kubeconfig: {error}. Set KUBECONFIG, and kubernetes.context "
                "in the deployment file."
            ) from error
        return cls(access, kubernetes.namespace, closed, trouble)

    def create_job(self, body: Mapping[str, Any], unneeded: Callable[[], bool]) -> Work[JobState]:
        """Create a job, as work that is given up once the job is not needed any more.

        Raises Conflict when there is one of that name, perhaps by an earlier try; NotAdmitted at once.
        """
        create = self._batch.create_namespaced_job
        asking = self._asking(lambda: create(self.namespace, body, **_RAW), AWAY_SECONDS, unneeded)
        return JobState.of((yield from asking))

    def job(self, name: str, unneeded: Callable[[], bool]) -> Work[JobState | None]:
        """A job as it is now; work as `create_job`."""
        read = self._batch.read_namespaced_job
        try:
            asking = self._asking(lambda: read(name, self.namespace, **_RAW), AWAY_SECONDS, unneeded)
            return JobState.of((yield from asking))
        except Missing:
            return None

    def delete_job(self, job: JobState, patience: float = AWAY_SECONDS) -> None:
        """Delete a job and its pods; one that does not exist, or has a successor of its name, is no error."""
        options = {
            "propagationPolicy": "Background",  # without it the pods stay
            "preconditions": {"uid": job.uid},
        }
        delete = self._batch.delete_namespaced_job
        with suppress(Missing, Conflict):
            self._ask(lambda: delete(job.name, self.namespace, body=options, **_RAW), patience)

    def all(self, kind: Kind, patience: float = AWAY_SECONDS) -> tuple[list[Object], str]:
        """All jobs or pods of steps, and the version from which to watch."""
        listing = self._listers[kind]
        value = self._ask(lambda: listing(self.namespace, label_selector=_SELECTOR, **_RAW), patience)
        return value["items"], value["metadata"]["resourceVersion"]

    def watch(self, kind: Kind, version: str) -> Iterator[tuple[str, Object]]:
        """Changes since a version, for a while: `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK`; and the object.

        Raises ClusterAway when that ends early, Ahead and Expired; nothing is tried again.
        """
        response = self._try(
            lambda: self._listers[kind](
                self.namespace,
                label_selector=_SELECTOR,
                watch=True,
                allow_watch_bookmarks=True,
                resource_version=version,
                timeout_seconds=_WATCH_SECONDS,
                _preload_content=False,
                _request_timeout=(_TIMEOUT[0], 2 * _WATCH_SECONDS),
            )
        )
        for line in _lines(self._stream(response)):
            event = json.loads(line)
            if event["type"] == "ERROR":
                raise _error(event["object"].get("code", 500), event["object"].get("message", ""))
            yield event["type"], event["object"]

    def events(self, name: str) -> list[str]:
        """List the cluster's events on a job or pod, latest last; empty without the right to ask."""
        listing = self._core.list_namespaced_event
        query = {"field_selector": f"involvedObject.name={name}", "limit": _EVENTS, **_RAW}
        try:
            value = self._ask(lambda: listing(self.namespace, **query), patience=0)
        except ClusterError as error:
            _log.debug("The events of %s cannot be read: %s", name, error)
            return []
        events = sorted(value["items"], key=lambda event: event.get("lastTimestamp") or "")
        return [f"{event.get('reason', '')}: {event.get('message', '')}" for event in events]

    def workload(self, job: JobState) -> Object | None:
        """Return Kueue's object for a Job that it queues; None without one, or without the right to ask."""
        try:
            group = self._ask(lambda: self._get(f"/apis/{GROUP}"), patience=0)
            version = group["preferredVersion"]["groupVersion"]
            path = f"/apis/{version}/namespaces/{self.namespace}/workloads"
            query = [("labelSelector", f"{GROUP}/job-uid={job.uid}")]
            found = self._ask(lambda: self._get(path, query), patience=0)
        except ClusterError as error:
            _log.debug("Kueue's messages about %s cannot be read: %s", job.name, error)
            return None
        return next(iter(found["items"]), None)

    def _get(self, path: str, query: Sequence[tuple[str, str]] = ()) -> Any:
        """An answer that the client has no method for."""
        return self._client.call_api(
            path,
            "GET",
            {},
            list(query),
            {"Accept": "*/*"},
            auth_settings=["BearerToken"],
            _return_http_data_only=True,
            **_RAW,
        )

    def _ask(self, action: Callable[[], Any], patience: float = AWAY_SECONDS) -> dict[str, Any]:
        """The JSON that a call gives, tried again so long while that may help."""
        return finish(self._asking(action, patience, self.closed.is_set), self.closed.wait)

    def _asking(
        self, action: Callable[[], Any], patience: float, unneeded: Callable[[], bool]
    ) -> Work[dict[str, Any]]:
        """The same as work; once the answer is not needed any more nothing is tried again."""
        began, seconds = time.monotonic(), _FIRST_PAUSE
        while True:
            try:
                value: dict[str, Any] = json.loads(self._try(lambda: action().data))
                return value
            except ClusterAway as error:
                limit = min(patience, REFUSED_SECONDS) if self._is_refused(error) else patience
                now = max(seconds, error.after)
                if time.monotonic() - began + now > limit:
                    raise
                yield from pause(now, unneeded)
                if unneeded():
                    raise
                if seconds == _FIRST_PAUSE:
                    _log.warning("%s Trying again for %.0f s.", error, limit)
                seconds = min(2 * seconds, _LAST_PAUSE)

    def _is_refused(self, error: ClusterAway) -> bool:
        """True if the refusal counts. Where the server knew the credentials, a new token is awaited first."""
        return isinstance(error, Refused) and not (isinstance(error, Unauthorized) and self._was_known)

    def _try(self, action: Callable[[], T]) -> T:
        """Do it; as whom it is asked is read again, once, when the server does not know that any more."""
        shown = self._access.token
        try:
            return self._try_once(action)
        except Unauthorized:
            if not self._access.renew(shown):
                raise
        return self._try_once(action)

    def _try_once(self, action: Callable[[], T]) -> T:
        from kubernetes.client import ApiException

        try:
            result = action()
        except ApiException as error:
            raise self._noted(_error(error.status or 0, _message(error), _retry_after(error))) from error
        except _broken() as error:
            raise self._noted(_away(error)) from error
        self._was_known, self.trouble.text = True, ""
        return result

    def _noted(self, error: ClusterError) -> ClusterError:
        self.trouble.text = str(error) if isinstance(error, ClusterAway) else ""
        return error

    def _stream(self, response: Any) -> Iterator[bytes]:
        """The pieces of an answer, as they come."""
        try:
            yield from response.stream(1 << 16)
        except _broken() as error:
            raise self._noted(_away(error)) from error
        finally:
            response.close()  # not given back: the server may still write to it


def _broken() -> tuple[type[Exception], ...]:
    """Return the exceptions that a broken connection raises."""
    import urllib3.exceptions

    return urllib3.exceptions.HTTPError, http.client.HTTPException, OSError


def _away(error: Exception) -> ClusterAway:
    return ClusterAway(f"The cluster's API server cannot be reached ({type(error).__name__}: {error}).")


def _retry_after(error: Any) -> float:
    """The seconds of an answer's Retry-After, which servers send that have too much to do; 0 without."""
    return asked_pause((error.headers or {}).get("Retry-After", ""), _LONGEST_ASKED) or 0.0


def _error(status: int, message: str, after: float = 0.0) -> ClusterError:
    """Make the error for a status."""
    said = f"The cluster answers {status}: {message}"
    by_quota = status == 403 and "exceeded quota" in message
    if by_quota or (400 <= status < 500 and re.search(DENIED, message)):
        return NotAdmitted(_FORBIDDEN.sub("", message), by_quota)
    if status == 504 and "Too large resource version" in message:
        return Ahead(said, after)
    if status == 401:
        return Unauthorized(f"{said}. The token was read again, and is not accepted.")
    if status == 403:
        return Refused(f"{said}. See the roles in the deployment's guide.")
    kinds: dict[int, type[ClusterError]] = {404: Missing, 409: Conflict, 410: Expired}
    if status == 0 or status == 429 or status >= 500:
        return ClusterAway(said, after)
    return kinds.get(status, ClusterError)(said)


def _message(error: Any) -> str:
    """The message in the body of an answer that refuses."""
    try:
        return str(json.loads(error.body)["message"])
    except (TypeError, ValueError, KeyError):
        return str(error.reason)


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from filter(None, whole)
