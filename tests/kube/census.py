"""Counts the jobs of a namespace while they come and go."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

import urllib3

from tests.kube.cluster import Cluster
from tests.kube.objects import ApiError, Object
from tests.kube.rest import Rest

_PAUSE_SECONDS = 0.1


class Census(threading.Thread):
    """Watches the jobs of a namespace until it is closed, as a context manager.

    names  of all jobs that were made meanwhile
    most   live ones at once
    """

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        super().__init__(name="census", daemon=True)
        self._rest = Rest(cluster.access)
        self._path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
        self._live: set[str] = set()
        self._before: set[str] | None = None
        self._ready, self._closed = threading.Event(), threading.Event()
        self.names: list[str] = []
        self.most = 0

    def __enter__(self) -> Census:
        self.start()
        assert self._ready.wait(60)
        return self

    def __exit__(self, *_: Any) -> None:
        self._closed.set()
        self._rest.close()

    def run(self) -> None:
        """The thread."""
        while not self._closed.is_set():
            with suppress(ApiError, urllib3.exceptions.HTTPError):
                found = self._rest.call("GET", self._path)
                self._live.clear()
                if self._before is None:
                    self._before = {job["metadata"]["name"] for job in found["items"]}
                for job in found["items"]:
                    self._see("ADDED", job)
                self._ready.set()
                for type_, job in self._rest.watch(self._path, found["metadata"]["resourceVersion"]):
                    self._see(type_, job)
            self._closed.wait(_PAUSE_SECONDS)

    def _see(self, type_: str, job: Object) -> None:
        name, status = job["metadata"]["name"], job.get("status", {})
        if name not in self.names and name not in (self._before or ()):
            self.names.append(name)
        if type_ == "DELETED" or status.get("conditions"):
            self._live.discard(name)
        else:
            self._live.add(name)
        self.most = max(self.most, len(self._live))
