"""A cluster that simulates its pods: a step takes its time, leaves a log and a result, and runs nothing."""

from __future__ import annotations

import heapq
import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from tests.kube.api import FakeApi, Request
from tests.kube.gate import Gate
from tests.kube.logs import LogQuery
from tests.kube.objects import Object, Objects, timestamp
from tests.kube.resources import KINDS, create
from tests.kube.rest import Access
from translations_assets.records.manifest import Blob, Manifest, Provenance
from translations_assets.runners.batch.member import Member
from translations_assets.runners.kubernetes.state import CONTAINER, Annotation
from translations_assets.runners.publisher import FIRST_SECONDS
from translations_assets.runners.wire import pack_reply
from translations_assets.running.events import Started
from translations_assets.running.protocols import Store

NAMESPACE = "default"
OUTPUT = "out"
_LOG_LINES = 5  # of each step's script


class Made(NamedTuple):
    """The log of a member, which has run for a second, or its result."""

    pod: str
    member: Member
    is_done: bool


class SimulatedCluster(FakeApi):
    """An API server whose Jobs are done by nothing but the clock.

    made           gets what pods make
    step_seconds   what a step takes
    start_seconds  what it takes until a pod runs
    requests       how many there were, by method and kind
    most, pods     how many pods there were at once, and in all
    """

    def __init__(self, made: Callable[[Made], None], step_seconds: float, start_seconds: float = 0.0) -> None:
        self.made, self.step_seconds, self.start_seconds = made, step_seconds, start_seconds
        self.requests: Counter[str] = Counter()
        self.most = self.pods = self._live = 0
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._changed, self._numbers = threading.Condition(), itertools.count()
        self.objects, self.gate, self.read_log, self.held = Objects(), Gate(), self._read_log, set()
        self._port, self._server = 0, None
        self.start()
        create(self.objects, KINDS["namespaces"], "", {"metadata": {"name": NAMESPACE}})
        threading.Thread(target=self._run, name="simulated pods", daemon=True).start()

    @property
    def kubeconfig(self) -> str:
        """By which it is found."""
        return Access(self.url).kubeconfig()

    def close(self) -> None:
        """End for good."""
        self.stop()

    def answer(self, request: Request) -> Object:
        """Answer, and have a new Job's pod run."""
        self.requests[f"{request.method} {request.kind.plural}"] += 1
        answer = super().answer(request)
        if request.method == "POST" and request.kind.plural == "jobs":
            self._begin(answer)
        return answer

    def watch(self, request: Request, is_up: Callable[[], bool]) -> Iterator[Object]:
        """Count, and watch."""
        self.requests[f"WATCH {request.kind.plural}"] += 1
        return super().watch(request, is_up)

    def _read_log(self, namespace: str, pod: str, query: LogQuery) -> Iterator[bytes]:
        raise NotImplementedError

    def _begin(self, job: Object) -> None:
        """A pod for a new Job, and all that happens to it, each thing at its time."""
        body = json.loads(json.dumps(job["spec"]["template"]))
        body["metadata"]["generateName"] = f"{job['metadata']['name']}-"
        pod = create(self.objects, KINDS["pods"], NAMESPACE, body)["metadata"]["name"]
        members = [Member(*item) for item in json.loads(job["metadata"]["annotations"][Annotation.MEMBERS])]
        self.pods += 1
        moment = time.monotonic() + self.start_seconds
        self._at(moment, partial(self._change_pod, pod, "Running", {"running": {"startedAt": timestamp()}}))
        for member in members:
            first = moment + min(FIRST_SECONDS, self.step_seconds)
            moment += self.step_seconds
            self._at(first, partial(self.made, Made(pod, member, False)))
            self._at(moment, partial(self.made, Made(pod, member, True)))
        self._at(moment, partial(self._end, job["metadata"]["name"], pod))

    def _change_pod(self, pod: str, phase: str, state: Object) -> None:
        with self._changed:
            self._live += 1 if phase == "Running" else -1
            self.most = max(self.most, self._live)
        status = {"phase": phase, "containerStatuses": [{"name": CONTAINER, "state": state}]}
        self.objects.change(("pods", NAMESPACE, pod), lambda value: value.update(status=status))

    def _end(self, job: str, pod: str) -> None:
        self._change_pod(pod, "Succeeded", {"terminated": {"exitCode": 0, "reason": "Completed"}})
        condition = {"type": "Complete", "status": "True", "lastTransitionTime": timestamp()}
        self.objects.change(
            ("jobs", NAMESPACE, job), lambda value: value.update(status={"conditions": [condition]})
        )

    def _at(self, moment: float, action: Callable[[], None]) -> None:
        with self._changed:
            heapq.heappush(self._due, (moment, next(self._numbers), action))
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                pause = self._due[0][0] - time.monotonic() if self._due else 60.0
                if pause > 0:
                    self._changed.wait(pause)
                    continue
                _, _, action = heapq.heappop(self._due)
            action()


def keep(store: Store, made: Made) -> None:
    """Store a part of a step's log, or its result."""
    member, step = made.member, (made.member.key, made.member.generation)
    if made.is_done:
        store.commit(_manifest(member, store.add_bytes(b"made")))
    else:
        said = made.pod.encode() + b"\n" + pack_reply(Started(pid=1, threads=4))
        store.append_log(*step, member.attempt, 0, b"a line of the script's log\n" * _LOG_LINES, said)


def _manifest(member: Member, made: Blob) -> Manifest:
    return Manifest(
        key=member.key,
        generation=member.generation,
        outputs={OUTPUT: made},
        label=member.label,
        bundle=made,
        provenance=Provenance(),
        attempt=member.attempt,
        host="",
        started=0.0,
        ended=1.0,
    )
