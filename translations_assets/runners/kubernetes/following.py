"""Following a Job for the steps that wait for it: its pod's start, its log, and what became of each step."""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from dataclasses import replace
from functools import partial

from translations_assets.common.errors import StoreError
from translations_assets.config.deployment import WorkerClassName
from translations_assets.runners.kubernetes.cluster import AWAY_SECONDS, ClusterAway, ClusterError
from translations_assets.runners.kubernetes.connection import Connection
from translations_assets.runners.kubernetes.pod_log import LogReader, lines_after
from translations_assets.runners.kubernetes.silence import SILENT_SECONDS
from translations_assets.runners.kubernetes.starting import Starting
from translations_assets.runners.kubernetes.state import (
    TOLD_TO_END,
    JobState,
    Label,
    Member,
    PodState,
    PodVerdict,
    judge,
)
from translations_assets.runners.kubernetes.tickets import Tickets
from translations_assets.runners.wire import RECORD, Detached, Ending, unpack_reply
from translations_assets.running.events import JobEvent
from translations_assets.running.job import Outcome
from translations_assets.running.protocols import Store

NODE_SECONDS = 60.0  # before another attempt, which a node that fails is likely to get, too
_CHECK_SECONDS = 1.0
_UNSEEN_SECONDS = 30.0  # a Job that the watch has not shown after that time is asked for
_DEAD_NODE_SECONDS = 30.0  # after the pod's grace period
_REST_SECONDS = 5.0  # without a line of the log, once the worker has ended
_LAST_SECONDS = 30.0  # from a worker's last word to the end of its pod and Job
_TAIL_LINES = 20


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
        self._seen_lines = 0  # of that member

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
            raise ClusterAway(f"The cluster's API server has not answered for {silent / 60:.0f} minutes.")

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
    def _await_start(self) -> PodVerdict | None:
        """Wait until the pod has started or ended, or the Job is deleted; the verdict if it never will."""
        starting = Starting(self._connection, self._state, self._tickets.wait_for)
        while self._tickets.is_wanted():
            job = self._refresh()
            if not job or job.ended or (self._pod and (self._pod.started or self._pod.ended)):
                return None
            if verdict := starting.look(job, self._pod):
                return starting.give_up(verdict)
            self._wait()
        return None

    # Its log
    def _read_log(self, pod: str) -> None:
        """Take the lines of the log as they come, until there are no more, or nobody waits for them.

        A connection that breaks, or hangs, holds nobody up: what has ended is said by the store, once the pod
        has or the log is silent, and lines that are missing are there as well.
        """
        self._tickets.wait_for("")
        reader = LogReader(self._connection.cluster, pod, self._tickets.changed.set)
        try:
            self._take_lines(reader)
        finally:
            reader.stop()

    def _take_lines(self, reader: LogReader) -> None:
        heard = asked = time.monotonic()
        ended: float | None = None
        while not self._is_answered():
            is_over = reader.is_over  # asked before its lines are taken
            took, now = self._take(reader), time.monotonic()
            if took:
                heard = now
                self._tickets.wait_for("")
            elif is_over:
                return
            if self._pod_ended():
                reader.end()
                ended = ended or now
            if ended and (now - max(heard, ended) > _REST_SECONDS or now - ended > _LAST_SECONDS):
                return
            if now - max(heard, asked) > SILENT_SECONDS:
                asked = now
                trouble = reader.trouble
                self._tickets.wait_for(
                    f"its log cannot be read: {trouble} The step goes on." if trouble else ""
                )
                self._look_for_results()
            if not took:
                self._wait()

    def _is_answered(self) -> bool:
        """True if the worker has reported the end of each step, or no step of this process waits."""
        unfinished = self._tickets.unfinished()
        return self._tickets.over or not unfinished or len(self._held) == len(unfinished)

    def _take(self, reader: LogReader) -> bool:
        """Take the lines that have come; whether there were any."""
        took = False
        for line in reader.take():
            took = True
            if not line.startswith(RECORD):
                self._show(line)
                continue
            self._reply(line)
            if self._is_answered():
                break
        return took

    def _show(self, line: bytes) -> None:
        self._seen_lines += 1
        self._tail.append(line)
        self._sink(line)

    def _look_for_results(self) -> None:
        """Finish the steps whose results the store holds already, though the log does not say so."""
        with suppress(StoreError):  # it is asked again
            for number, member in enumerate(self._members):
                if member in self._tickets.unfinished():
                    if not (manifest := self._store.generation(*member.step)):
                        return  # they are made in order
                    self._show_missing(number)
                    self._tickets.finish(member.step, Outcome("done", manifest))
                    self._next_member(number)

    def _show_missing(self, number: int) -> None:
        """Show what of a step's log the pod's has not brought, from the store."""
        seen, last = (self._seen_lines, self._last_line()) if number == self._current else (0, b"")
        self._current = number
        member = self._members[number]
        parts = partial(self._store.read_log, member.key, member.generation, member.attempt)
        try:
            for count, line in enumerate(lines_after(parts, seen, last)):
                if count == 0:
                    self._sink(b"[the pod's log broke off here; the step's further lines, from the store:]")
                self._show(line)
        except StoreError as error:
            self._sink(f"[lines of the step's log are missing here: {error}]".encode())

    def _last_line(self) -> bytes:
        return self._tail[-1] if self._tail else b""

    def _next_member(self, number: int) -> None:
        """The log of a member has come: the next one's follows."""
        self._current, self._seen_lines = number + 1, 0
        self._tail.clear()

    def _pod_ended(self) -> bool:
        """True if nothing more comes of the pod."""
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
            if number > self._current:
                self._next_member(number - 1)
            for ticket in self._tickets.of(step):
                ticket.reply(reply)
            return
        self._next_member(number)
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
    def _conclude(self, verdict: PodVerdict | None) -> None:
        """Give every step that has none an ending: its result, if the store holds one, without delay."""
        if self._pod and self._pod.started:
            self._look_for_results()
        if not self._tickets.unfinished():
            return
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
            if number not in self._held and self._pod and self._pod.started:
                self._show_missing(number)
            word = self._held.get(number) or last_words.get(number)
            found = verdict or judge(job, self._pod, word.message if word else "")
            self._tickets.finish(member.step, self._ending(member, word, found))
            self._next_member(number)

    def _spare_node(self, verdict: PodVerdict) -> None:
        """Leave a node that could not run the pod some time, as long as a step waits."""
        if verdict.blames_node:
            self._sink(f"{verdict.message}. The attempt ends in {NODE_SECONDS:.0f} s.".encode())
            end = time.monotonic() + NODE_SECONDS
            while (left := end - time.monotonic()) > 0 and not self._tickets.pause(left):
                pass

    def _may_change(self, job: JobState | None) -> bool:
        """True if the cluster may still say more: the pod's end, and the reason that its Job gives for it."""
        if self._pod and not self._pod.ended:
            return True
        return job is not None and job.live and not self._is_replaced() and not self._goes_on_alone()

    def _goes_on_alone(self) -> bool:
        """True if the worker has ended, and other containers of its pod keep the Job from ending."""
        return self._pod is not None and self._pod.exit_code is not None and bool(self._pod.company)

    def _is_replaced(self) -> bool:
        """True if the cluster has made another pod in place of the attempt's."""
        pods = self._connection.watch.pods(self._state.name)
        return any(not self._pod or pod.uid != self._pod.uid for pod in pods if not pod.ended)

    def _last_words(self) -> dict[int, Outcome]:
        """Read the outcomes that the worker left for the cluster: its log may be gone with the node."""
        words: dict[int, Outcome] = {}
        for line in (self._pod.last_words if self._pod else "").splitlines():
            try:
                number, reply = unpack_reply(line.encode())
            except ValueError:
                continue
            if isinstance(reply, Outcome):
                words[number] = reply
        return words

    def _ending(self, member: Member, word: Outcome | None, verdict: PodVerdict) -> Ending:
        """Return a step's ending: its result when the store has it, else as worker and cluster report it."""
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
