"""The kubelets of all nodes: they run bound pods as processes and tell what becomes of them."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import urllib3

from tests.kube.container import ConfigError, Container
from tests.kube.logs import LogQuery
from tests.kube.objects import ApiError, Object, timestamp
from tests.kube.rest import Rest

Disruption: TypeAlias = Literal["EvictionByEvictionAPI", "PreemptionByScheduler", "TerminationByKubelet"]

NOT_FOUND = "not found"
_END_SECONDS = 10.0  # to tell how a pod ended before it is gone
_SIDECAR_SECONDS = 5.0  # from SIGTERM to SIGKILL


@dataclass
class Running:
    """A pod of ours.

    containers  those that were started, by name; the pod's first one is what it is for
    states      of each that was started
    reason      why its first container ended, instead of `Error`
    pod_reason  why the pod failed, and the message with it
    is_lost     its machine is gone: nothing is told of it any more
    """

    pod: Object
    containers: dict[str, Container] = field(default_factory=dict)
    states: dict[str, Object] = field(default_factory=dict)
    reason: str = ""
    pod_reason: tuple[str, str] = ("", "")
    conditions: list[Object] = field(default_factory=list)
    is_lost: bool = False
    settled: threading.Event = field(default_factory=threading.Event)

    @property
    def path(self) -> str:
        """The pod's path in the API."""
        return path_of(self.pod)

    @property
    def first(self) -> Container | None:
        """The first container, once it was started."""
        return self.containers.get(self.pod["spec"]["containers"][0]["name"])

    def each(self, act: Callable[[Container], None]) -> None:
        """Do something to all containers at once."""
        threads = [threading.Thread(target=act, args=(one,)) for one in self.containers.values()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


class Kubelet:
    """Runs pods.

    folder          for the pods' files
    missing_images  parts of names of images that no registry has
    pull_error      why they are not to be had
    broken          node → why its runtime starts no container
    """

    def __init__(self, rest: Rest, folder: Path) -> None:
        self._rest, self._folder = rest, folder
        self._pods: dict[str, Running] = {}
        self._lock = threading.Lock()
        self._closed = False
        self.missing_images: set[str] = set()
        self.pull_error = NOT_FOUND
        self.broken: dict[str, str] = {}

    # Called for what the API server tells

    def start(self, pod: Object) -> None:
        """Run a pod that was bound to one of our nodes; nothing when it runs."""
        with self._lock:
            uid = pod["metadata"]["uid"]
            if uid in self._pods or self._closed:
                return
            running = self._pods[uid] = Running(pod)
        threading.Thread(target=self._run, args=(running,), name=_name(pod), daemon=True).start()

    def stop(self, pod: Object) -> None:
        """End a pod that is being deleted, within its grace period, and remove it."""
        running = self._pods.get(pod["metadata"]["uid"])
        grace = pod["metadata"].get("deletionGracePeriodSeconds", 0)
        if running and running.pod["metadata"].get("deletionTimestamp"):
            return
        if running:
            running.pod = pod
        threading.Thread(target=self._stop, args=(pod, running, grace), daemon=True).start()

    def forget(self, uid: str) -> None:
        """End a pod that is gone from the API server."""
        with self._lock:
            running = self._pods.pop(uid, None)
        if running:
            threading.Thread(target=self._clean, args=(running,), daemon=True).start()

    def uids(self) -> set[str]:
        """The pods that are known here."""
        return set(self._pods)

    def live(self) -> list[str]:
        """Names of the pods whose container runs, as namespace/name."""
        return sorted(_name(running.pod) for running in list(self._pods.values()) if _is_live(running))

    def close(self) -> None:
        """Kill all, and start nothing more."""
        with self._lock:
            self._closed, left = True, list(self._pods.values())
        for running in left:
            running.is_lost = True
            self._clean(running)

    # What happens to pods in a cluster

    def kill(self, pod: str, reason: str = "", name: str = "") -> None:
        """Kill a container of a pod, the first by default (exit code 137), for a reason like `OOMKilled`."""
        running = self._find(pod)
        running.reason = reason
        container = running.containers.get(name) if name else running.first
        if container:
            container.kill()
        running.settled.wait(_END_SECONDS)

    def evict(self, pod: str, message: str) -> None:
        """End a pod because its node is short of something; the pod stays, failed."""
        running = self._find(pod)
        running.pod_reason = ("Evicted", message)
        self._disrupt(running, "TerminationByKubelet")
        running.each(Container.kill)
        running.settled.wait(_END_SECONDS)

    def disrupt(self, pod: str, reason: Disruption) -> None:
        """Mark a pod as one that is about to be ended for no fault of its own."""
        running = self._find(pod)
        self._disrupt(running, reason)
        self._report(running, {"conditions": running.conditions})

    def shut_down(self, node: str, notice: float) -> None:
        """A machine goes away: its pods get SIGTERM; without notice nothing more is heard of them."""
        threads = []
        pods = [item for item in list(self._pods.values()) if item.pod["spec"]["nodeName"] == node]
        for running in pods:
            running.is_lost = not notice
            running.pod_reason = ("Terminated", "Pod was terminated in response to imminent node shutdown.")
            self._disrupt(running, "TerminationByKubelet")
            threads.append(threading.Thread(target=running.each, args=(lambda one: one.stop(notice),)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for running in pods:  # their ends are reported before they are deleted with the node
            running.settled.wait(_END_SECONDS)

    def read_log(self, namespace: str, pod: str, query: LogQuery) -> Iterator[bytes]:
        """A pod's log."""
        try:
            running = self._find(f"{namespace}/{pod}")
        except KeyError:
            raise ApiError(404, "NotFound", f'pods "{pod}" not found') from None
        names = [container["name"] for container in running.pod["spec"]["containers"]]
        if len(names) > 1 and not query.container:
            message = f"a container name must be specified for pod {pod}, choose one of: [{' '.join(names)}]"
            raise ApiError(400, "BadRequest", message)
        name = query.container or names[0]
        if name not in running.containers:
            message = f'container "{name}" in pod "{pod}" is waiting to start: ContainerCreating'
            raise ApiError(400, "BadRequest", message)
        return running.containers[name].log.read(query)

    def _find(self, name: str) -> Running:
        for running in list(self._pods.values()):
            if _name(running.pod) == name:
                return running
        raise KeyError(f"no pod {name}")

    def _run(self, running: Running) -> None:
        began = timestamp()
        try:
            if not self._begin(running):
                return
            running.states |= {name: {"running": {"startedAt": began}} for name in running.containers}
            addresses = {"podIP": "127.0.0.1", "hostIP": "127.0.0.1"}
            self._report(running, {"phase": "Running", "startTime": began, **_statuses(running), **addresses})
            self._see_end(running, began)
        finally:
            running.settled.set()

    def _begin(self, running: Running) -> bool:
        """Start a pod's containers; whether they could be, else it was told why not."""
        pod = running.pod
        worker = pod["spec"]["containers"][0]["name"]
        if self._lacks_image(running):
            return False
        if broken := self.broken.get(pod["spec"]["nodeName"]):
            ended = {"exitCode": 128, "reason": "StartError", "message": broken}
            running.states[worker] = {"terminated": ended}
            self._report(running, {"phase": "Failed", **_statuses(running)})
            return False
        node = self._folder / "nodes" / pod["spec"]["nodeName"]
        try:
            for container in [*_sidecars(pod), *pod["spec"]["containers"]]:
                folder = self._pod_folder(pod) / container["name"]
                made = Container(pod, container, folder, node, self._secret_reader(pod))
                running.containers[container["name"]] = made
        except ConfigError as error:
            reason = {"reason": "CreateContainerConfigError", "message": str(error)}
            running.states[worker] = {"waiting": reason}
            self._report(running, {"phase": "Pending", **_statuses(running)})
            return False
        return True

    def _lacks_image(self, running: Running) -> bool:
        """True if a container's image cannot be pulled: those after it wait for the ones that run before."""
        before = _sidecars(running.pod)
        for container in [*before, *running.pod["spec"]["containers"]]:
            image, name = container.get("image", ""), container["name"]
            if not any(missing in image for missing in self.missing_images):
                continue
            if container in before:
                for other in running.pod["spec"]["containers"]:
                    running.states[other["name"]] = {"waiting": {"reason": "PodInitializing"}}
            missing = f'failed to pull and unpack image "{image}": {self.pull_error}'
            for reason, message in (
                ("ErrImagePull", missing),
                ("ImagePullBackOff", f'Back-off pulling image "{image}": {missing}'),
            ):
                running.states[name] = {"waiting": {"reason": reason, "message": message}}
                self._report(running, {"phase": "Pending", **_statuses(running)})
            return True
        return False

    def _see_end(self, running: Running, began: str) -> None:
        """Tell of each container's end; sidecars are ended after the others, as a kubelet does."""
        sidecars = [container["name"] for container in _sidecars(running.pod)]
        threads = {
            name: threading.Thread(target=self._follow, args=(running, name, began), daemon=True)
            for name in running.containers
        }
        for thread in threads.values():
            thread.start()
        for name in running.containers.keys() - sidecars:
            threads[name].join()
        for name in sidecars:
            running.containers[name].stop(_SIDECAR_SECONDS)
            threads[name].join()
        self._report(running, self._end(running, sidecars))

    def _follow(self, running: Running, name: str, began: str) -> None:
        container = running.containers[name]
        code = container.follow()
        is_first = container is running.first
        ended: dict[str, Any] = {
            "exitCode": code,
            "reason": (running.reason if is_first else "") or ("Error" if code else "Completed"),
            "startedAt": began,
            "finishedAt": timestamp(),
        }
        if said := container.last_words(code, _spec(running.pod, name).get("terminationMessagePolicy", "")):
            ended["message"] = said
        running.states[name] = {"terminated": ended}
        if any("running" in state for state in list(running.states.values())):
            self._report(running, {"phase": "Running", **_statuses(running)})

    def _end(self, running: Running, sidecars: list[str]) -> Object:
        regular = [state for name, state in running.states.items() if name not in sidecars]
        failed = any(state["terminated"]["exitCode"] for state in regular)
        pod_reason, message = running.pod_reason
        return {
            "phase": "Failed" if failed or pod_reason == "Evicted" else "Succeeded",
            **({"reason": pod_reason, "message": message} if pod_reason else {}),
            **_statuses(running),
        }

    def _stop(self, pod: Object, running: Running | None, grace: float) -> None:
        if running:
            running.each(lambda container: container.stop(grace))
            running.settled.wait(_END_SECONDS)
        options = {"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}}
        self._rest.insist("DELETE", path_of(pod), options)

    def _clean(self, running: Running) -> None:
        running.each(Container.kill)
        running.settled.wait(_END_SECONDS)
        shutil.rmtree(self._pod_folder(running.pod), ignore_errors=True)

    def _disrupt(self, running: Running, reason: Disruption) -> None:
        now = timestamp()
        condition = {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": "disrupted"}
        running.conditions.append({**condition, "lastTransitionTime": now})

    def _report(self, running: Running, status: Object) -> None:
        if running.is_lost:
            return
        conditions = [{"type": "PodScheduled", "status": "True", "lastTransitionTime": timestamp()}]
        body = {"status": {**status, "conditions": [*conditions, *running.conditions]}}
        # 404 means that the pod is gone, or that the kubelet stops: nobody is left who could be told
        with suppress(ApiError, urllib3.exceptions.HTTPError):
            self._rest.insist("PATCH", f"{running.path}/status", body)

    def _pod_folder(self, pod: Object) -> Path:
        return self._folder / "pods" / str(pod["metadata"]["uid"])

    def _secret_reader(self, pod: Object) -> Callable[[str], dict[str, str] | None]:
        def read(name: str) -> dict[str, str] | None:
            path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/secrets/{name}"
            secret = self._rest.insist("GET", path)
            return None if secret is None else dict(secret.get("data") or {})

        return read


def path_of(pod: Object) -> str:
    """A pod's path in the API."""
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def _name(pod: Object) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _is_live(running: Running) -> bool:
    return bool(running.containers) and not running.settled.is_set()


def _sidecars(pod: Object) -> list[Object]:
    """The init containers that run as long as the others do."""
    given = pod["spec"].get("initContainers") or ()
    return [container for container in given if container.get("restartPolicy") == "Always"]


def _spec(pod: Object, name: str) -> Object:
    """A container as its pod describes it."""
    return next(item for item in [*_sidecars(pod), *pod["spec"]["containers"]] if item["name"] == name)


def _statuses(running: Running) -> Object:
    """The statuses of all containers, by name, as a kubelet sorts them."""
    sidecars = [container["name"] for container in _sidecars(running.pod)]
    statuses = [_status(running, name) for name in sorted(running.states)]
    return {
        "containerStatuses": [status for status in statuses if status["name"] not in sidecars],
        "initContainerStatuses": [status for status in statuses if status["name"] in sidecars],
    }


def _status(running: Running, name: str) -> Object:
    state = running.states[name]
    return {
        "name": name,
        "image": _spec(running.pod, name).get("image", ""),
        "imageID": "",
        "restartCount": 0,
        "ready": "running" in state,
        "started": "running" in state,
        "state": state,
    }
