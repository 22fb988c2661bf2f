"""A fake Kubernetes API server: jobs and a few other kinds, listed, watched, refused when wrong."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from tests.kube.controllers import Controllers
from tests.kube.gate import Gate
from tests.kube.kueue import Kueue
from tests.kube.logs import LogQuery
from tests.kube.objects import ApiError, Change, Name, Object, Objects
from tests.kube.resources import KINDS, Kind, create, delete
from tests.kube.selectors import selector
from tests.kube.serving import Handler, Server

ReadLog: TypeAlias = Callable[[str, str, LogQuery], Iterator[bytes]]

_PATH = re.compile(
    r"/(?:api|apis)/(?P<version>v1|batch/v1)(?:/namespaces/(?P<namespace>[^/]+)(?=/[a-z]))?/(?P<kind>[a-z]+)"
    r"(?:/(?P<name>[^/]+))?(?:/(?P<sub>log|status|binding))?$"
)
_LOOK_SECONDS = 0.5
_WATCH_SECONDS = 1800


@dataclass(frozen=True)
class Request:
    """A request, taken apart."""

    method: str
    kind: Kind
    namespace: str
    name: str
    sub: str
    query: Mapping[str, str]
    body: Any

    @classmethod
    def parse(cls, method: str, path: str, body: bytes) -> Request:
        """The request of a path; 404 when there is no such thing."""
        url = urlsplit(path)
        match = _PATH.match(url.path)
        kind = KINDS.get(match["kind"]) if match else None
        if not match or not kind or kind.version != match["version"]:
            raise ApiError(404, "NotFound", "the server could not find the requested resource")
        return cls(
            method=method,
            kind=kind,
            namespace=match["namespace"] or "",
            name=match["name"] or "",
            sub=match["sub"] or "",
            query=dict(parse_qsl(url.query)),
            body=json.loads(body) if body else None,
        )

    @property
    def key(self) -> Name:
        """The name of the object that is asked for."""
        return self.kind.plural, self.namespace, self.name

    @property
    def is_watch(self) -> bool:
        """True if changes are asked for."""
        return self.query.get("watch", "").lower() in ("true", "1")


class FakeApi:
    """The server. Stopped, it keeps its objects, but not what changed before, as a server with etcd does.

    read_log  gives a pod's log: namespace, pod, what is asked for

    gate      what Jobs it does not let in
    tokens    of those it knows; None: it answers everybody
    kueue     what Kueue keeps of Jobs, where it is installed
    held      namespaces whose new Jobs are suspended, as Kueue's webhook does
    """

    gate: Gate
    tokens: frozenset[str] | None = None
    kueue: Kueue | None = None

    def __init__(self, read_log: ReadLog) -> None:
        self.objects, self.gate = Objects(), Gate()
        self.read_log = read_log
        self.held = set[str]()
        self._controllers = Controllers(self.objects)
        self._controllers.start()
        self._port = 0
        self._server: _Server | None = None
        self.start()
        create(self.objects, KINDS["namespaces"], "", {"metadata": {"name": "default"}})

    @property
    def url(self) -> str:
        """Address on which it listens."""
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Listen."""
        self._server = _Server(self, self._port)
        self._port = self._server.port

    @property
    def refusals(self) -> dict[str, str]:
        """Namespace → why no pod is let in there."""
        return self._controllers.refusals

    def know(self, *tokens: str) -> None:
        """Answer those who have one of some tokens, and nobody else."""
        self.tokens = frozenset(tokens)

    def stop(self) -> None:
        """Cut all connections and listen no more."""
        assert self._server is not None
        self._server.end()
        self._server = None
        self.objects.forget()

    def close(self) -> None:
        """End for good."""
        if self._server:
            self.stop()
        self._controllers.stop()

    def answer(self, request: Request) -> Object:
        """The object that answers a request which is no stream."""
        match request.method, bool(request.name), request.sub:
            case "GET", False, "":
                return self._list(request)
            case "GET", True, "" | "status":
                return self.objects.get(request.key)
            case "POST", False, "":
                if request.kind.plural == "jobs":
                    self.gate.check(self.objects, request.namespace, request.body["metadata"].get("name", ""))
                    if request.namespace in self.held:
                        request.body["spec"]["suspend"] = True
                return create(self.objects, request.kind, request.namespace, request.body)
            case "POST", True, "binding":
                return self.objects.change(request.key, lambda pod: _bind(pod, request.body))
            case "PATCH", True, "" | "status":
                return self.objects.change(request.key, lambda value: _patch(value, request))
            case "PUT", True, "" | "status":
                return self.objects.change(request.key, lambda value: _replace(value, request))
            case "DELETE", True, "":
                return self._delete(request)
            case "DELETE", False, "":
                return self._delete_all(request)
        raise ApiError(
            405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
        )

    def _list(self, request: Request) -> Object:
        version, selects = self.objects.version, selector(request.query)
        found = self.objects.all(request.kind.plural, request.namespace).values()
        return {
            "kind": f"{request.kind.name}List",
            "apiVersion": request.kind.version,
            "metadata": {"resourceVersion": str(version)},
            "items": [value for value in found if selects(value)],
        }

    def _delete(self, request: Request) -> Object:
        options = _options(request)
        uid = options.get("preconditions", {}).get("uid")
        if uid not in (None, self.objects.get(request.key)["metadata"]["uid"]):
            raise ApiError(409, "Conflict", "the UID in the precondition does not match")
        grace = options.get("gracePeriodSeconds")
        policy = options.get("propagationPolicy")
        return delete(self.objects, request.key, policy, None if grace is None else int(grace))

    def _delete_all(self, request: Request) -> Object:
        found = self._list(request)
        for value in found["items"]:
            metadata, options = value["metadata"], _options(request)
            name = (request.kind.plural, metadata["namespace"], metadata["name"])
            grace = options.get("gracePeriodSeconds")
            delete(
                self.objects, name, options.get("propagationPolicy"), None if grace is None else int(grace)
            )
        return found

    def watch(self, request: Request, is_up: Callable[[], bool]) -> Iterator[Object]:
        """Changes as the events of a watch, as long as it is asked for and the server is up."""
        selects, plural = selector(request.query), request.kind.plural
        version = int(request.query.get("resourceVersion") or 0)
        if not version:
            version = self.objects.version
            for value in self.objects.all(plural, request.namespace).values():
                if selects(value):
                    yield {"type": "ADDED", "object": value}
        end = time.monotonic() + int(request.query.get("timeoutSeconds", _WATCH_SECONDS))
        while time.monotonic() < end and is_up():
            try:
                changes = self.objects.changes(version, _LOOK_SECONDS)
            except ApiError as error:
                yield {"type": "ERROR", "object": error.status()}
                return
            for change in changes:
                version = change.version
                if _concerns(change, plural, request.namespace) and selects(change.object):
                    yield {"type": change.type, "object": change.object}


def _concerns(change: Change, plural: str, namespace: str) -> bool:
    return change.name[0] == plural and namespace in ("", change.name[1])


def _options(request: Request) -> dict[str, Any]:
    return {**request.query, **(request.body or {})}


def _bind(pod: Object, binding: Object) -> None:
    if pod["spec"].get("nodeName"):
        raise ApiError(409, "Conflict", f"pod {pod['metadata']['name']} is already assigned to a node")
    pod["spec"]["nodeName"] = binding["target"]["name"]


def _patch(value: Object, request: Request) -> None:
    _check_version(value, request.body)
    _merge(value, request.body)


def _merge(value: Object, patch: Object) -> None:
    for key, item in patch.items():
        if item is None:
            value.pop(key, None)
        elif isinstance(item, dict) and isinstance(value.get(key), dict):
            _merge(value[key], item)
        else:
            value[key] = item


def _replace(value: Object, request: Request) -> None:
    _check_version(value, request.body)
    kept = value["metadata"]
    value.clear()
    value |= request.body
    value["metadata"] = {**request.body["metadata"], "uid": kept["uid"]}
    value["metadata"]["creationTimestamp"] = kept["creationTimestamp"]


def _check_version(value: Object, body: Object) -> None:
    asked = (body.get("metadata") or {}).get("resourceVersion")
    if asked not in (None, value["metadata"]["resourceVersion"]):
        message = (
            "the object has been modified; please apply your changes to the latest version and try again"
        )
        raise ApiError(409, "Conflict", message)


class _Handler(Handler):
    server: _Server

    def serve(self, body: bytes) -> None:
        api = self.server.api
        try:
            if api.tokens is not None and self.token not in api.tokens:
                raise ApiError(401, "Unauthorized", "Unauthorized")
            if api.kueue and self.path.startswith("/apis/kueue"):
                self.send_json(200, api.kueue.answer(self.path))
                return
            request = Request.parse(self.command, self.path, body)
            if request.sub == "log":
                query = LogQuery.from_query(request.query)
                self.stream("text/plain", api.read_log(request.namespace, request.name, query))
            elif request.is_watch:
                events = api.watch(request, lambda: self.server.is_up)
                self.stream("application/json", (json.dumps(event).encode() + b"\n" for event in events))
            else:
                self.send_json(201 if self.command == "POST" else 200, api.answer(request))
        except ApiError as error:
            self.send_json(error.code, error.status())


class _Server(Server):
    def __init__(self, api: FakeApi, port: int) -> None:
        self.api = api
        super().__init__(_Handler, port)
