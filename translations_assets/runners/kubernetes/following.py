"""Following a Job: its pod's start, its log while it runs, and what became of each of its steps."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import replace
from typing import Protocol

from translations_assets.config.deployment import WorkerClassName
from translations_assets.runners.kubernetes.cluster import ClusterError, PodLog
from translations_assets.runners.kubernetes.connection import Tools
from translations_assets.runners.kubernetes.jobs import GRACE_SECONDS
from translations_assets.runners.kubernetes.state import (
    STAGE,
    TOLD_TO_END,
    WORKER_CLASS,
    JobState,
    Member,
    PodState,
    Verdict,
    cannot_start,
    judge,
    never_started,
)
from translations_assets.runners.pod.wire import RECORD, unpack_pod_reply
from translations_assets.runners.wire import Ending
from translations_assets.running.job import JobEvent, Outcome
from translations_assets.running.protocols import Store

PULL_SECONDS = 20.0  # in which the kubelet tries a second time to pull an image
_LOOK_SECONDS = 1.0
_UNSEEN_SECONDS = 30.0  # a Job that the watch has not shown after that time is asked for
_DEAD_NODE_SECONDS = GRACE_SECONDS + 30.0
_LAST_SECONDS = 30.0  # from a worker's last word to the end of its pod and Job
_TAIL_LINES = 20


class Waiting(Protocol):
    """The steps of this process that wait for a Job, as `ClusterJob` knows them."""

    over: bool

    def wait(self, seconds: float) -> None:
        """Wait until something changes. Raises ClusterAway."""

    def is_wanted(self) -> bool:
        """Whether a step that has not ended is still waited for."""

    def unfinished(self) -> list[Member]:
        """The members that have not ended yet."""

    def is_resumable(self, step: tuple[str, int]) -> bool:
        """Whether another attempt of a step goes on from its checkpoint sets."""

    def tell(self, step: tuple[str, int], event: JobEvent) -> None:
        """Pass an event on."""

    def end(self, step: tuple[str, int], ending: Ending) -> None:
        """Pass a step's end on."""


class Following:
    """One Job that is there. Its first pod is the attempt: old clusters make another one in its place."""

    def __init__(self, tools: Tools, store: Store, state: JobState, waiting: Waiting) -> None:
        self._tools, self._store, self._state, self._waiting = tools, store, state, waiting
        self._members = state.members
        self._pod: PodState | None = None
        self._seen = False
        self._began = self._asked = time.monotonic()
        self._deleting_since: float | None = None
        self._current = 0  # number of the member whose log comes now
        self._held: dict[int, Outcome] = {}
        self._tail: deque[bytes] = deque(maxlen=_TAIL_LINES)

    def run(self) -> None:
        """Follow until every step has ended or no step waits, and see that the Job ends."""
        verdict = self._await_start()
        if not verdict and self._pod:
            self._read_log(self._pod.name)
        if self._waiting.unfinished() and self._waiting.is_wanted():
            self._conclude(verdict)
        if not self._waiting.unfinished():
            self._see_end()

    def _look(self) -> JobState | None:
        """The Job as it is now, None when it does not exist; takes notice of its pod."""
        job = self._tools.watch.job(self._state.name)
        if job is None and not self._seen and time.monotonic() - self._asked > _UNSEEN_SECONDS:
            self._asked = time.monotonic()
            self._seen = self._tools.cluster.job(self._state.name) is None
        elif job is not None:
            self._seen = True
        pods = self._tools.watch.pods(self._state.name)
        if self._pod is None:
            live = [pod for pod in pods if not pod.deleting and not pod.ended]
            self._pod = next(reversed(live or pods), None)
        else:
            forgotten = replace(self._pod, deleting=True, phase="Failed")  # as it was when last seen
            self._pod = next((pod for pod in pods if pod.uid == self._pod.uid), forgotten)
        return job if job or self._seen else self._state

    # Its start
    def _await_start(self) -> Verdict | None:
        """Wait until the pod has started or ended, or the Job is deleted; the verdict if it never will."""
        limit = self._tools.kubernetes.pending_minutes
        trouble: Verdict | None = None
        trouble_since, told = 0.0, ""
        while self._waiting.is_wanted():
            job = self._look()
            if not job or job.ended or (self._pod and (self._pod.started or self._pod.ended)):
                return None
            now = time.monotonic()
            if self._pod and (found := cannot_start(self._pod)):
                if not trouble:
                    trouble_since = now
                trouble = max(trouble or found, found, key=lambda verdict: len(verdict.message))
                if now - trouble_since > PULL_SECONDS:
                    return self._give_up(trouble)
            elif self._pod and self._pod.waiting is None:
                trouble = None
            if now - self._began > limit * 60:
                pod = self._pod
                events = self._tools.cluster.events(pod.name if pod else self._state.name)
                return self._give_up(never_started(pod, limit, events))
            if self._pod and self._pod.unscheduled not in ("", told):
                told = self._pod.unscheduled
                self._sink(f"waiting for a machine: {told}".encode())
            self._waiting.wait(_LOOK_SECONDS)
        return None

    def _give_up(self, verdict: Verdict) -> Verdict:
        self._tools.cluster.delete_job(self._state)
        if verdict.cause != "image":
            return verdict
        remedy = self._tools.descriptions.images.remedy(self._state.image)
        return replace(verdict, message=f"{verdict.message}. {remedy}")

    # Its log
    def _read_log(self, pod: str) -> None:
        log = PodLog(self._tools.cluster, pod, self._pod_ended, self._waiting.wait)
        for line in log.lines():
            if line.startswith(RECORD):
                self._reply(line)
                if len(self._held) == len(self._waiting.unfinished()):
                    return
            else:
                self._tail.append(line)
                self._sink(line)
            if self._waiting.over:
                return  # no step of this process waits for the rest

    def _pod_ended(self) -> bool:
        """Whether nothing more comes of the pod."""
        self._look()
        assert self._pod is not None
        if self._pod.deleting and self._deleting_since is None:
            self._deleting_since = time.monotonic()
        since = self._deleting_since
        dead = since is not None and time.monotonic() - since > _DEAD_NODE_SECONDS
        return self._pod.ended or dead or not self._waiting.is_wanted()

    def _sink(self, line: bytes) -> None:
        members = self._members
        label = members[min(self._current, len(members) - 1)].label
        self._tools.sink(label, line)

    def _reply(self, line: bytes) -> None:
        try:
            number, reply = unpack_pod_reply(line)
            step = self._members[number].step
        except (ValueError, KeyError, TypeError, IndexError):
            return  # cut off by the cluster: the store knows what became of the step
        if isinstance(reply, JobEvent):
            self._current = number
            self._waiting.tell(step, reply)
            return
        self._current = number + 1
        self._tail.clear()
        if isinstance(reply, Outcome) and reply.kind == "temporary":
            self._held[number] = reply
            if len(self._held) == len(self._waiting.unfinished()) or TOLD_TO_END in reply.message:
                return  # the pod ends: the cluster may say more
            for held, outcome in self._held.items():
                self._waiting.end(self._members[held].step, outcome)
            self._held.clear()
        else:
            self._waiting.end(step, reply)

    # Its end
    def _conclude(self, verdict: Verdict | None) -> None:
        """Give every step that has none an ending."""
        deadline = time.monotonic() + _LAST_SECONDS
        job = self._look()
        while not verdict and self._goes_on(job) and time.monotonic() < deadline:
            self._waiting.wait(_LOOK_SECONDS)
            job = self._look()
        last_words = self._last_words()
        for number, member in enumerate(self._members):
            if member not in self._waiting.unfinished():
                continue
            word = self._held.get(number) or last_words.get(number)
            found = verdict or judge(job, self._pod, word.message if word else "")
            self._waiting.end(member.step, self._ending(member, word, found))

    def _goes_on(self, job: JobState | None) -> bool:
        """Whether the cluster may still say more: the pod's end, and the reason that its Job gives for it."""
        if self._pod and not self._pod.ended:
            return True
        return job is not None and job.live and not self._is_replaced()

    def _is_replaced(self) -> bool:
        """Whether the cluster has made another pod in place of ours."""
        pods = self._tools.watch.pods(self._state.name)
        return any(not self._pod or pod.uid != self._pod.uid for pod in pods if not pod.ended)

    def _last_words(self) -> dict[int, Outcome]:
        """What the worker left for the cluster: its log may be gone with the node."""
        words: dict[int, Outcome] = {}
        for line in (self._pod.last_words if self._pod else "").splitlines():
            try:
                number, reply = unpack_pod_reply(line.encode())
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
            if isinstance(reply, Outcome):
                words[number] = reply
        return words

    def _ending(self, member: Member, word: Outcome | None, verdict: Verdict) -> Ending:
        """What a step has come to: its result when the store holds it, else what worker and cluster say."""
        if manifest := self._store.generation(*member.step):
            return Outcome("done", manifest)
        if verdict.lost_machine:
            self._tools.count_preemption(member.step, self._state.preemptions)
        if word and verdict.cause in ("ended", "script"):
            return word
        tail = word.log_tail if word else b"\n".join(self._tail).decode(errors="replace")
        message = f"{verdict.message} ({word.message})" if word else verdict.message
        if verdict.cause == "memory":
            message += self._memory_advice()
        failed = verdict.failed or (verdict.cause == "deadline" and not self._is_resumable(member))
        return Outcome("failed" if failed else "temporary", None, message, tail)

    def _is_resumable(self, member: Member) -> bool:
        """Whether another attempt goes on where this one stopped."""
        return self._waiting.is_resumable(member.step)

    def _memory_advice(self) -> str:
        labels, descriptions = self._state.labels, self._tools.descriptions
        name: WorkerClassName = labels[WORKER_CLASS]  # type: ignore[assignment]
        try:
            limit, bigger = descriptions.memory(name), descriptions.bigger_classes(name)
        except ClusterError:  # another deployment's job
            return ""
        choose = f"choose {' or '.join(bigger)}" if bigger else "give the class more memory"
        return (
            f". Pods of the worker class {name} have {limit or 'no limit of memory'}: in the deployment "
            f"file, {choose} (kubernetes.stages.{labels[STAGE]}.worker-class)"
        )

    def _see_end(self) -> None:
        """See the Job end. One that goes on without our pod (old clusters replace it) or hangs is deleted."""
        deadline = time.monotonic() + _LAST_SECONDS
        while (job := self._look()) and job.live and not self._tools.cluster.closed.is_set():
            if self._is_replaced() or time.monotonic() > deadline:
                self._tools.cluster.delete_job(job)
                return
            self._waiting.wait(_LOOK_SECONDS)
