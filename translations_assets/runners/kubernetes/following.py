"""Following a Job for the steps that wait for it: its pod's start, its logs, and what became of each step."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from translations_assets.common.errors import StoreError
from translations_assets.config.deployment import WorkerClassName
from translations_assets.runners.batch.job_steps import JobSteps
from translations_assets.runners.batch.member import Member
from translations_assets.runners.batch.stored_log import StoredLogs
from translations_assets.runners.kubernetes.cluster import AWAY_SECONDS, ClusterAway, ClusterError
from translations_assets.runners.kubernetes.connection import Connection
from translations_assets.runners.kubernetes.kueue import taken_back
from translations_assets.runners.kubernetes.starting import Starting
from translations_assets.runners.kubernetes.state import (
    NOT_STARTED,
    TOLD_TO_END,
    JobState,
    Label,
    PodState,
    PodVerdict,
    judge,
)
from translations_assets.runners.wire import Busy, Ending, unpack_reply
from translations_assets.running.job import Outcome
from translations_assets.running.protocols import Store
from translations_assets.running.tasks import Work, pause

NODE_SECONDS = 60.0  # before another attempt, which a node that fails is likely to get, too
_CHECK_SECONDS = 1.0
_UNSEEN_SECONDS = 30.0  # a Job that the watch has not shown after that time is asked for
_DEAD_NODE_SECONDS = 30.0  # after the pod's grace period
_LAST_SECONDS = 30.0  # from a worker's last word to the end of its pod and Job


class Following:
    """One Job that is there. Its first pod is the attempt: old clusters make another one in its place.

    steps  the steps of this process that wait for the Job
    """

    def __init__(self, connection: Connection, store: Store, state: JobState, steps: JobSteps) -> None:
        self._connection, self._store, self._state, self._steps = connection, store, state, steps
        self._starting = Starting(connection, state, steps.wait_for)
        self._logs = StoredLogs(store, steps, connection.sink)
        self._pod: PodState | None = None
        self._seen = False
        self._is_taken = False  # whether a queue has taken back the room that the pod had
        self._asked = time.monotonic()
        self._deleting_since = self._known_since = self._ended_since = 0.0

    def look(self, cancelled: Callable[[], bool]) -> Work[None]:
        """Look at the Job, and at the member that is made now; wait until there may be something new."""
        silent = self._connection.watch.silent
        if silent > AWAY_SECONDS:
            raise ClusterAway(f"The cluster's API server has not answered for {silent / 60:.0f} minutes.")
        job = yield from self._refresh(cancelled)
        self._is_taken = self._is_taken or (job is not None and job.suspended and self._pod is not None)
        self._logs.worker = self._pod.name if self._pod else ""
        if self._is_starting(job):
            if verdict := self._starting.look(job or self._state, self._pod):
                self._end_all(job, self._starting.give_up(verdict))
            seconds = _CHECK_SECONDS
        elif self._pod is None or self._pod.ended or self._is_dead(self._pod):
            yield from self._conclude(job, cancelled)
            seconds = min([_CHECK_SECONDS, *(log.pause for log in self._logs.behind())])
        else:
            seconds = self._look_at(self._steps.awaited()[0])
        yield seconds

    def _refresh(self, cancelled: Callable[[], bool]) -> Work[JobState | None]:
        """The Job as it is now, None when it does not exist; takes notice of its pod."""
        name = self._state.name
        job = self._connection.watch.job(name)
        if job is None and not self._seen and time.monotonic() - self._asked > _UNSEEN_SECONDS:
            self._asked = time.monotonic()
            self._seen = (yield from self._connection.cluster.job(name, cancelled)) is None
        elif job is not None:
            self._seen = True
        pods = self._connection.watch.pods(name)
        if self._pod is None:
            live = [pod for pod in pods if not pod.deleting and not pod.ended]
            self._pod = next(reversed(live or pods), None)
        else:
            forgotten = replace(self._pod, deleting=True, phase="Failed")  # as it was when last seen
            self._pod = next((pod for pod in pods if pod.uid == self._pod.uid), forgotten)
        return job if job or self._seen else self._state

    def _is_starting(self, job: JobState | None) -> bool:
        started = self._pod and (self._pod.started or self._pod.ended)
        return job is not None and not job.ended and not started

    def _is_dead(self, pod: PodState) -> bool:
        """True if a pod that is deleted has had long enough to end: its node does not answer."""
        if not pod.deleting:
            return False
        self._deleting_since = self._deleting_since or time.monotonic()
        return time.monotonic() - self._deleting_since > pod.grace + _DEAD_NODE_SECONDS

    # While it runs
    def _look_at(self, member: Member) -> float:
        """Take what the store has of a member; the seconds until there may be more.

        The last one's end waits for the pod's, which may say more.
        """
        try:
            known = self._logs.known(member, ended=False)
            self._steps.wait_for("")
        except StoreError as error:
            self._steps.wait_for(f"its log cannot be read: {error} The step goes on.")
            return _CHECK_SECONDS
        if not known:
            return self._logs.of(member).pause
        self._known_since = self._known_since or time.monotonic()
        is_last = member == self._state.members[-1]
        if not is_last and TOLD_TO_END not in known.message:
            self._finish(member, known)
        elif time.monotonic() - self._known_since > _LAST_SECONDS:  # its pod hangs
            self._finish(member, known)
            self._connection.discard(self._state)
        return _CHECK_SECONDS

    def _finish(self, member: Member, ending: Ending) -> None:
        self._steps.finish(member, ending)
        self._known_since = 0.0

    # Its end
    def _conclude(self, job: JobState | None, cancelled: Callable[[], bool]) -> Work[None]:
        """End the steps that wait, once the cluster has said why the pod has ended."""
        self._ended_since = self._ended_since or time.monotonic()
        if self._pod and self._pod.started:
            for member in self._steps.awaited():
                known = self._logs.known(member, ended=True)
                if known and known.kind != "temporary":
                    self._finish(member, known)
        if self._steps.awaited():
            late = time.monotonic() - self._ended_since > _LAST_SECONDS
            if self._logs.behind() or (self._may_change(job) and not late):
                return
            taken = taken_back(self._connection.cluster.workload(self._state)) if self._is_taken else None
            yield from self._spare_node(taken or judge(job, self._pod), cancelled)
            if cancelled():
                return
            self._end_all(job, taken)
        if job and job.live and self._is_over():
            self._connection.discard(self._state)

    def _may_change(self, job: JobState | None) -> bool:
        """True if the cluster may still say more: the pod's end, and the reason that its Job gives for it."""
        if self._pod and not self._pod.ended:
            return True
        return job is not None and job.live and not self._is_over()

    def _is_over(self) -> bool:
        """True if a Job that has not ended does nothing more for the attempt."""
        return self._goes_on_alone() or self._is_replaced() or self._is_taken

    def _goes_on_alone(self) -> bool:
        """True if the worker has ended, and other containers of its pod keep the Job from ending."""
        return self._pod is not None and self._pod.exit_code is not None and bool(self._pod.company)

    def _is_replaced(self) -> bool:
        """True if the cluster has made another pod in place of the attempt's."""
        pods = self._connection.watch.pods(self._state.name)
        return any(not self._pod or pod.uid != self._pod.uid for pod in pods if not pod.ended)

    def _spare_node(self, verdict: PodVerdict, cancelled: Callable[[], bool]) -> Work[None]:
        """Leave a node that could not run the pod some time, as long as a step waits."""
        if verdict.blames_node:
            label = self._steps.awaited()[0].label
            text = f"{verdict.message}. The attempt ends in {NODE_SECONDS:.0f} s."
            self._connection.sink(label, text.encode())
            yield from pause(NODE_SECONDS, cancelled)

    def _end_all(self, job: JobState | None, given: PodVerdict | None = None) -> None:
        """End the steps that wait, by their worker's words and the cluster's."""
        words, output = self._last_words()
        for member in self._steps.awaited():
            log = self._logs.get(member)
            word = (log.outcome if log else None) or words.get(member)
            if output and not word:
                self._connection.sink(member.label, b"[the end of the pod's output:]")
                for line in output.encode().splitlines():
                    self._connection.sink(member.label, line)
            said = word.message if isinstance(word, Outcome) else ""
            verdict = given or judge(job, self._pod, said)
            self._finish(member, self._ending(member, word, verdict, output))
            output = ""

    def _last_words(self) -> tuple[dict[Member, Ending], str]:
        """Read what the worker left for the cluster: its endings; else the end of its output."""
        said = self._pod.last_words if self._pod and self._pod.exit_reason not in NOT_STARTED else ""
        words: dict[Member, Ending] = {}
        for line in said.splitlines():
            with suppress(ValueError, IndexError):
                number, reply = unpack_reply(line.encode())
                if isinstance(reply, Ending):
                    words[self._state.members[number]] = reply
        return words, "" if words else said.rstrip("\n")

    def _ending(self, member: Member, word: Ending | None, verdict: PodVerdict, output: str) -> Ending:
        """Return a step's ending: its result when the store has it, else as worker and cluster report it."""
        if manifest := self._store.generation(*member.step):
            return Outcome("done", manifest)
        if verdict.lost_machine:
            self._connection.preemptions.add(member.step, self._state.preemptions)
        if isinstance(word, Busy):
            return word
        log = self._logs.get(member)
        tail = (word.log_tail if word else output) or (log.tail if log else "")
        if word and verdict.cause in ("ended", "script"):
            return replace(word, log_tail=tail)
        message = f"{verdict.message} ({word.message})" if word else verdict.message
        if verdict.cause == "memory":
            message += self._memory_advice()
        failed = verdict.failed or (verdict.cause == "deadline" and not self._steps.is_resumable(member))
        return Outcome(
            "failed" if failed else "temporary", None, message, tail, uncounted=verdict.cause == "queued"
        )

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
