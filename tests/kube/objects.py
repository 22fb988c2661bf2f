"""The fake API server's memory: objects with versions, and what changed since a version."""

from __future__ import annotations

import copy
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

Object: TypeAlias = dict[str, Any]
Name: TypeAlias = tuple[str, str, str]  # plural of the kind, namespace (empty: of the cluster), name


class ApiError(Exception):
    """An answer other than success, as the API gives it."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(f"{code} {reason}: {message}")
        self.code, self.reason, self.message = code, reason, message

    def status(self) -> Object:
        """The error as an object of kind Status."""
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "reason": self.reason,
            "message": self.message,
            "code": self.code,
        }


@dataclass(frozen=True)
class Change:
    """A change of an object: type is ADDED, MODIFIED or DELETED."""

    version: int
    type: str
    name: Name
    object: Object


class Objects:
    """Objects by name. What is given out is never changed again; a change makes a new object."""

    def __init__(self) -> None:
        self._objects: dict[Name, Object] = {}
        self._history: list[Change] = []
        self._version = self._forgotten = 100
        self._changed = threading.Condition(threading.RLock())

    @property
    def version(self) -> int:
        """The version of the newest change."""
        return self._version

    def add(self, name: Name, value: Object, complete: Callable[[Object], None]) -> Object:
        """Create an object, with what `complete` adds to it; 409 when there is one of that name."""
        with self._changed:
            if name in self._objects:
                raise ApiError(409, "AlreadyExists", f'{name[0]} "{name[2]}" already exists')
            value = copy.deepcopy(value)
            value["metadata"] |= {"uid": str(uuid.uuid4()), "creationTimestamp": timestamp()}
            complete(value)
            return self._put("ADDED", name, value)

    def get(self, name: Name) -> Object:
        """An object; 404 when there is none."""
        with self._changed:
            if name not in self._objects:
                raise ApiError(404, "NotFound", f'{name[0]} "{name[2]}" not found')
            return self._objects[name]

    def all(self, kind: str, namespace: str = "") -> dict[Name, Object]:
        """The objects of a kind, of one namespace or of all."""
        with self._changed:
            return {
                name: value
                for name, value in self._objects.items()
                if name[0] == kind and namespace in ("", name[1])
            }

    def change(self, name: Name, mutate: Callable[[Object], None]) -> Object:
        """Change a copy of an object and keep it, unless nothing differs; 404 when there is none."""
        with self._changed:
            value = copy.deepcopy(self.get(name))
            mutate(value)
            return self._put("MODIFIED", name, value) if value != self._objects[name] else value

    def remove(self, name: Name) -> Object:
        """Remove an object for good."""
        with self._changed:
            value = self.get(name)
            gone = self._put("DELETED", name, copy.deepcopy(value))
            del self._objects[name]
            return gone

    def _put(self, type_: str, name: Name, value: Object) -> Object:
        self._version += 1
        value["metadata"]["resourceVersion"] = str(self._version)
        self._objects[name] = value
        self._history.append(Change(self._version, type_, name, value))
        self._changed.notify_all()
        return value

    def changes(self, after: int, seconds: float) -> list[Change]:
        """Changes after a version; waits so long for the first. 410 when the version is no longer known."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while True:
                if after < self._forgotten:
                    message = f"too old resource version: {after} ({self._forgotten})"
                    raise ApiError(410, "Expired", message)
                if self._version > after or (left := deadline - time.monotonic()) <= 0:
                    return self._history[after - self._forgotten :]  # every version has its change
                self._changed.wait(left)

    def forget(self) -> None:
        """Forget what changed up to now, as a server does that starts again."""
        with self._changed:
            self._history.clear()
            self._forgotten = self._version
            self._changed.notify_all()


def timestamp() -> str:
    """Now, as the API writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
