"""Following a Job for the steps that wait for it: its pod's start, its log, and what became of each step."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from dataclasses import dataclass, field, replace

from translations_assets.config.deployment import WorkerClassName
from translations_assets.runners.kubernetes.admission import Admission
from translations_assets.runners.kubernetes.cluster import AWAY_SECONDS, ClusterAway, ClusterError
from translations_assets.runners.kubernetes.connection import Connection
from translations_assets.runners.kubernetes.pod_log import PodLog
from translations_assets.runners.kubernetes.state import (
    TOLD_TO_END,
    JobState,
    Label,
    Member,
    PodState,
    Verdict,
    cannot_start,
    judge,
    never_started,
)
from translations_assets.runners.wire import RECORD, Detached, Ending, unpack_reply
from translations_assets.running.job import Job, JobEvent, Outcome
from translations_assets.running.protocols import Store
from translations_assets.running.runner import Submission
from translations_assets.running.tasks import Work

PULL_SECONDS = 20.0  # in which the kubelet tries a second time to pull an image
PASSING_SECONDS = 300.0  # in which it tries some times more, where its trouble may pass
NODE_SECONDS = 60.0  # before another attempt, which a node that fails is likely to get, too
_CHECK_SECONDS = 1.0
_UNSEEN_SECONDS = 30.0  # a Job that the watch has not shown after that time is asked for
_DEAD_NODE_SECONDS = 30.0  # after the pod's grace period
_LAST_SECONDS = 30.0  # from a worker's last word to the end of its pod and Job
_LONG_SECONDS = 60.0  # replies wake the work that waits for them
_TAIL_LINES = 20


@dataclass(eq=False)
class Ticket:
    """What happens to a step in a Job: events, then one ending, from the thread that follows the Job.

    An exception in place of an ending: what kept the Job from being followed.
    """

    submission: Submission
    _replies: queue.SimpleQueue[JobEvent | Ending | Exception] = field(default_factory=queue.SimpleQueue)

    def reply(self, reply: JobEvent | Ending | Exception) -> None:
        """Note what has happened, and wake the work that waits for it."""
        self._replies.put(reply)
        self.submission.wake()

    def ending(self) -> Work[Ending | None]:
        """Hand on what happens to the step until it has ended; None when the run is cancelled before.

        Raises what keeps its Job from being followed.
        """
        while not self.submission.cancel.is_set():
            try:
                reply = self._replies.get_nowait()
            except queue.Empty:
                yield _LONG_SECONDS
                continue
            if isinstance(reply, Exception):
                raise reply
            if not isinstance(reply, JobEvent):
                return reply
            self.submission.on_event(reply)
        return None

    @property
    def job(self) -> Job:
        """The attempt of the step."""
        return self.submission.job


class Tickets:
    """The steps of this process that wait for one Job.

    members  the steps that the Job makes; empty before it is described
    steps    those, and all that have waited for it
    over     no step waits any more, and none can join
    changed  set when the Job, its pod or the tickets change
    """

    def __init__(self, members: tuple[Member, ...]) -> None:
        self.members, self.over = members, False
        self.steps = {item.step for item in members}
        self.changed = threading.Event()
        self._lock = threading.RLock()
        self._tickets: list[Ticket] = []
        self._endings: dict[tuple[str, int], Ending] = {}

    def join(self, submission: Submission) -> Ticket:
        """A ticket for the step that the Job was made or found for."""
        with self._lock:
            self._tickets.append(ticket := Ticket(submission))
            self.steps.add(submission.job.step)
            return ticket

    def join_member(self, submission: Submission) -> Ticket | None:
        """A ticket for a step that the Job makes, or will; None when it does not, or has done with it."""
        step = submission.job.step
        with self._lock:
            steps = {item.step for item in self.members} or {ticket.job.step for ticket in self._tickets}
            return None if self.over or step not in steps or step in self._endings else self.join(submission)

    def is_wanted(self) -> bool:
        """Whether a step that has not ended still waits; when none does, none can join any more."""
        with self._lock:
            self.over = self.over or not self._tickets
            return not self.over

    def pause(self, seconds: float) -> bool:
        """Pause, less when something changes; whether no step waits any more."""
        self.changed.wait(seconds)
        self.changed.clear()
        return not self.is_wanted()

    def unfinished(self) -> list[Member]:
        """The members that have not ended yet."""
        return [item for item in self.members if item.step not in self._endings]

    def of(self, step: tuple[str, int]) -> list[Ticket]:
        """The tickets of a step."""
        with self._lock:
            return [ticket for ticket in self._tickets if ticket.job.step == step]

    def finish(self, step: tuple[str, int], ending: Ending) -> None:
        """Pass the end of a step on; it waits no longer."""
        with self._lock:
            self._endings[step] = ending
            ended = self.of(step)
            self._tickets = [ticket for ticket in self._tickets if ticket.job.step != step]
        for ticket in ended:
            ticket.reply(ending)

    def fail(self, error: Exception) -> None:
        """End every step that waits by what keeps the Job from being followed."""
        with self._lock:
            self.over = True
            failed, self._tickets = self._tickets, []
        for ticket in failed:
            ticket.reply(error)


class Following:
    """One Job that is there. Its first pod is the attempt: old clusters make another one in its place."""

    def __init__(self, connection: Connection, store: Store, state: JobState, tickets: Tickets) -> None:
        self._connection, self._store, self._state, self._tickets = connection, store, state, tickets
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
        watch, changed = self._connection.watch, self._tickets.changed.set
        watch.subscribe(self._state.name, changed)
        try:
            self._follow()
        finally:
            watch.unsubscribe(self._state.name, changed)

    def _follow(self) -> None:
        verdict = self._await_start()
        if not verdict and self._pod:
            self._read_log(self._pod.name)
        if self._tickets.unfinished() and self._tickets.is_wanted():
            self._conclude(verdict)
        if not self._tickets.unfinished():
            self._see_end()

    def _wait(self, seconds: float = _CHECK_SECONDS) -> None:
        """Wait until something changes. Raises ClusterAway when nothing was heard of the cluster for long."""
        self._tickets.pause(seconds)
        silent = self._connection.watch.silent
        if silent > AWAY_SECONDS:
            raise ClusterAway(f"The cluster's API server cannot be reached since {silent / 60:.0f} minutes.")

    def _refresh(self) -> JobState | None:
        """The Job as it is now, None when it does not exist; takes notice of its pod."""
        job = self._connection.watch.job(self._state.name)
        if job is None and not self._seen and time.monotonic() - self._asked > _UNSEEN_SECONDS:
            self._asked = time.monotonic()
            self._seen = self._connection.cluster.job(self._state.name) is None
        elif job is not None:
            self._seen = True
        pods = self._connection.watch.pods(self._state.name)
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
        limit = self._connection.kubernetes.pending_minutes
        trouble: Verdict | None = None
        trouble_since, reported = 0.0, ""
        admission = Admission(self._connection.cluster, self._state.name)
        while self._tickets.is_wanted():
            job = self._refresh()
            if not job or job.ended or (self._pod and (self._pod.started or self._pod.ended)):
                return None
            now = time.monotonic()
            if self._pod is None and (refusal := admission.look()):
                if refusal.for_good:
                    return self._give_up(refusal.for_good)
                if refusal.is_news:
                    self._sink(f"the cluster refuses the pod, and is asked again: {refusal.text}".encode())
            if self._pod and (found := cannot_start(self._pod)):
                if not trouble:
                    trouble_since = now
                if not trouble and not found.failed:
                    self._sink(f"{found.message}. It is tried again.".encode())
                trouble = max(trouble or found, found, key=lambda verdict: len(verdict.message))
                if now - trouble_since > (PULL_SECONDS if trouble.failed else PASSING_SECONDS):
                    return self._give_up(trouble)
            elif self._pod and self._pod.waiting is None:
                trouble = None
            if now - self._began > limit * 60:
                pod = self._pod
                events = self._connection.cluster.events(pod.name if pod else self._state.name)
                return self._give_up(never_started(pod, limit, events))
            if self._pod and self._pod.unscheduled not in ("", reported):
                reported = self._pod.unscheduled
                self._sink(f"waiting for a machine: {reported}".encode())
            self._wait()
        return None

    def _give_up(self, verdict: Verdict) -> Verdict:
        self._connection.cluster.delete_job(self._state)
        if verdict.cause != "image" or not verdict.failed:
            return verdict
        remedy = self._connection.descriptions.images.remedy(self._state.image)
        return replace(verdict, message=f"{verdict.message}. {remedy}")

    # Its log
    def _read_log(self, pod: str) -> None:
        log = PodLog(self._connection.cluster, pod, self._pod_ended, self._wait)
        for line in log.lines():
            if line.startswith(RECORD):
                self._reply(line)
                if len(self._held) == len(self._tickets.unfinished()):
                    return
            else:
                self._tail.append(line)
                self._sink(line)
            if self._tickets.over:
                return  # no step of this process waits for the rest

    def _pod_ended(self) -> bool:
        """Whether nothing more comes of the pod."""
        self._refresh()
        assert self._pod is not None
        if self._pod.deleting and self._deleting_since is None:
            self._deleting_since = time.monotonic()
        since = self._deleting_since
        dead = since is not None and time.monotonic() - since > self._pod.grace + _DEAD_NODE_SECONDS
        return self._pod.ended or dead or not self._tickets.is_wanted()

    def _sink(self, line: bytes) -> None:
        members = self._members
        label = members[min(self._current, len(members) - 1)].label
        self._connection.sink(label, line)

    def _reply(self, line: bytes) -> None:
        try:
            number, reply = unpack_reply(line)
            step = self._members[number].step
        except (ValueError, IndexError):
            return  # cut off by the cluster: the store knows what became of the step
        if isinstance(reply, JobEvent):
            self._current = number
            for ticket in self._tickets.of(step):
                ticket.reply(reply)
            return
        self._current = number + 1
        self._tail.clear()
        if isinstance(reply, Outcome) and reply.kind == "temporary":
            self._held[number] = reply
            if len(self._held) == len(self._tickets.unfinished()) or TOLD_TO_END in reply.message:
                return  # the pod ends: the cluster may say more
            for held, outcome in self._held.items():
                self._tickets.finish(self._members[held].step, outcome)
            self._held.clear()
        elif not isinstance(reply, Detached):
            self._tickets.finish(step, reply)

    # Its end
    def _conclude(self, verdict: Verdict | None) -> None:
        """Give every step that has none an ending."""
        deadline = time.monotonic() + _LAST_SECONDS
        job = self._refresh()
        while not verdict and self._may_change(job) and time.monotonic() < deadline:
            self._wait()
            job = self._refresh()
        if not verdict:
            self._spare_node(judge(job, self._pod))
        last_words = self._last_words()
        for number, member in enumerate(self._members):
            if member not in self._tickets.unfinished():
                continue
            word = self._held.get(number) or last_words.get(number)
            found = verdict or judge(job, self._pod, word.message if word else "")
            self._tickets.finish(member.step, self._ending(member, word, found))

    def _spare_node(self, verdict: Verdict) -> None:
        """Leave a node that could not run the pod some time, as long as a step waits."""
        if verdict.blames_node:
            self._sink(f"{verdict.message}. The attempt ends in {NODE_SECONDS:.0f} s.".encode())
            end = time.monotonic() + NODE_SECONDS
            while (left := end - time.monotonic()) > 0 and not self._tickets.pause(left):
                pass

    def _may_change(self, job: JobState | None) -> bool:
        """Whether the cluster may still say more: the pod's end, and the reason that its Job gives for it."""
        if self._pod and not self._pod.ended:
            return True
        return job is not None and job.live and not self._is_replaced() and not self._goes_on_alone()

    def _goes_on_alone(self) -> bool:
        """Whether the worker has ended, and other containers of its pod keep the Job from ending."""
        return self._pod is not None and self._pod.exit_code is not None and bool(self._pod.company)

    def _is_replaced(self) -> bool:
        """Whether the cluster has made another pod in place of the attempt's."""
        pods = self._connection.watch.pods(self._state.name)
        return any(not self._pod or pod.uid != self._pod.uid for pod in pods if not pod.ended)

    def _last_words(self) -> dict[int, Outcome]:
        """What the worker left for the cluster: its log may be gone with the node."""
        words: dict[int, Outcome] = {}
        for line in (self._pod.last_words if self._pod else "").splitlines():
            try:
                number, reply = unpack_reply(line.encode())
            except ValueError:
                continue
            if isinstance(reply, Outcome):
                words[number] = reply
        return words

    def _ending(self, member: Member, word: Outcome | None, verdict: Verdict) -> Ending:
        """What a step has come to: its result when the store holds it, else what worker and cluster say."""
        if manifest := self._store.generation(*member.step):
            return Outcome("done", manifest)
        if verdict.lost_machine:
            self._connection.preemptions.add(member.step, self._state.preemptions)
        if word and verdict.cause in ("ended", "script"):
            return word
        tail = word.log_tail if word else b"\n".join(self._tail).decode(errors="replace")
        message = f"{verdict.message} ({word.message})" if word else verdict.message
        if verdict.cause == "memory":
            message += self._memory_advice()
        resumable = any(ticket.job.resumable for ticket in self._tickets.of(member.step))
        failed = verdict.failed or (verdict.cause == "deadline" and not resumable)
        return Outcome("failed" if failed else "temporary", None, message, tail)

    def _memory_advice(self) -> str:
        labels, descriptions = self._state.labels, self._connection.descriptions
        name: WorkerClassName = labels[Label.WORKER_CLASS]  # type: ignore[assignment]
        try:
            limit, bigger = descriptions.memory(name), descriptions.bigger_classes(name)
        except ClusterError:  # another deployment's job
            return ""
        choose = f"choose {' or '.join(bigger)}" if bigger else "give the class more memory"
        return (
            f". Pods of the worker class {name} have {limit or 'no limit of memory'}: in the deployment "
            f"file, {choose} (kubernetes.stages.{labels[Label.STAGE]}.worker-class)"
        )

    def _see_end(self) -> None:
        """See the Job end. One that hangs, or goes on without the worker or with another pod, is deleted."""
        deadline = time.monotonic() + _LAST_SECONDS
        while (job := self._refresh()) and job.live and not self._connection.cluster.closed.is_set():
            if self._goes_on_alone() or self._is_replaced() or time.monotonic() > deadline:
                self._connection.cluster.delete_job(job)
                return
            self._wait()
