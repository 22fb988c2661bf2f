"""A job of Slurm, and the steps of this process that wait for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from translations_assets.common.errors import StoreError
from translations_assets.runners.batch.member import Member, job_name, member
from translations_assets.runners.batch.stored_log import StoredLogs
from translations_assets.runners.batch.waited_job import WaitedJob
from translations_assets.runners.pod.bundle import worker_bundle
from translations_assets.runners.slurm.commands import AWAY_SECONDS, SlurmAway, SlurmError, SlurmFull
from translations_assets.runners.slurm.connection import ENDED, WORKER, SlurmConnection, SlurmGroup
from translations_assets.runners.slurm.state import (
    TOLD_TO_END,
    JobVerdict,
    SlurmState,
    judge,
    never_starts,
    waits_for,
)
from translations_assets.runners.wire import Busy, Ending, PodRequest, unpack_reply
from translations_assets.running.job import Outcome
from translations_assets.running.protocols import Store
from translations_assets.running.runner import Submission
from translations_assets.running.tasks import Work, pause
from translations_assets.store.open import reader_of

_CHECK_SECONDS = 1.0
_FIRST_PAUSE, _LAST_PAUSE = 1.0, 30.0  # while Slurm is away, or takes no further job
_FULL_SECONDS = 300.0  # of a limit that is reached without any job of this user
_NEVER_SECONDS = 30.0  # in which a reason not to start a job may pass
_LAST_SECONDS = 30.0  # from a worker's last word to the end of its job
_UNLOCKED_SECONDS = 30.0  # in which a worker that runs has to be seen as the owner of its step


class SlurmJob(WaitedJob):
    """A job that steps of this process have asked for, or found.

    source   the job, when it is there already; else what the steps that may join have in common
    """

    def __init__(
        self,
        connection: SlurmConnection,
        store: Store,
        source: SlurmState | SlurmGroup,
        ended: Callable[[SlurmJob], None],
    ) -> None:
        group = source if isinstance(source, SlurmGroup) else None
        capacity = connection.steps_per_job(group) if group else 0
        super().__init__(store, connection.limits, group, capacity, ended)
        self._connection = connection
        self._logs = StoredLogs(store, self, connection.sink)
        self._state: SlurmState | None = None
        self._known_since = self._never_since = self._unlocked_since = 0.0
        self._has_begun = False
        if isinstance(source, SlurmState):
            self._set_state(source)

    @property
    def name(self) -> str:
        return self._state.name if self._state else ""

    def _look_after(self, submission: Submission) -> Work[None]:
        cancelled = submission.cancel.is_set
        if self._state:
            yield from self._look(self._state, cancelled)
        else:
            yield from self._ask_for_it(cancelled)

    # Until it is there
    def _ask_for_it(self, cancelled: Callable[[], bool]) -> Work[None]:
        jobs = yield from self._wait_for_slot(cancelled)
        if not jobs:
            return
        assert isinstance(self._group, SlurmGroup)
        assert self._slot
        self.waits_for = "its job is being submitted"
        slurm, worker_class = self._connection.slurm, self._connection.worker_class(self._group)
        request = PodRequest(
            tuple(jobs),
            self._store.url,
            worker_class.gpus,
            "standard",
            slurm.files,
            self._connection.unsaved_minutes,
            worker_class.grace_seconds,
        )
        worker, asked = self._store.add_bytes(worker_bundle()), self._store.add_bytes(request.to_bytes())
        arguments = [reader_of(self._store), self._store.url, worker.digest, asked.digest]
        members = tuple(map(member, jobs))
        self._slot.name = job_name(self._store.url, members)
        group = self._group
        state = yield from self._submit(
            lambda: self._connection.submit(self._store.url, group, members, asked, arguments), cancelled
        )
        if state:
            self._set_state(replace(state, members=members))

    def _submit(
        self, submit: Callable[[], SlurmState], cancelled: Callable[[], bool]
    ) -> Work[SlurmState | None]:
        """Submit the job, again and again while Slurm is away or takes none; None when cancelled."""
        assert self._slot
        began, seconds = time.monotonic(), _FIRST_PAUSE
        while not cancelled():
            try:
                there = self._connection.watch.named(self._slot.name)  # an earlier try's, or another run's
                return there or submit()
            except SlurmAway as error:
                self.wait_for(f"Slurm does not answer, and the job is submitted again: {error}")
                if time.monotonic() - began > AWAY_SECONDS:
                    raise
            except SlurmFull as error:
                self.wait_for(f"Slurm takes no further job now, and it is submitted again: {error}")
                if any(job.live for job in self._connection.watch.jobs()):
                    began = time.monotonic()
                elif time.monotonic() - began > _FULL_SECONDS:
                    raise SlurmError(
                        f"{error}. There is no job of yours that it could wait for: change the worker class "
                        "in the deployment file, or have the limit changed."
                    ) from error
            yield from pause(seconds, cancelled)
            seconds = min(2 * seconds, _LAST_PAUSE)
            yield from self._look_again(cancelled)
        return None

    def _look_again(self, cancelled: Callable[[], bool]) -> Work[None]:
        """Wait for a newer answer of squeue: a try without an answer may have made a job all the same."""
        watch, now = self._connection.watch, time.monotonic()
        while watch.heard < now and time.monotonic() - now < AWAY_SECONDS and not cancelled():
            yield _CHECK_SECONDS

    def _set_state(self, state: SlurmState) -> None:
        """Follow a job that is there."""
        self._follow(state.members)
        self._state = state
        self._logs.worker = WORKER % state.uid
        self._connection.watch.subscribe(state.uid, self._wake_first)

    def _let_go(self) -> None:
        if self._state:
            self._connection.watch.unsubscribe(self._state.uid, self._wake_first)

    def _end(self) -> None:
        if self._state:
            self._connection.discard(self._state)

    # While it is there
    def _look(self, state: SlurmState, cancelled: Callable[[], bool]) -> Work[None]:
        """Look at the job, and at the member that is made now; wait until there may be something new."""
        watch = self._connection.watch
        if watch.silent > AWAY_SECONDS:
            raise SlurmAway(f"Slurm has not answered for {watch.silent / 60:.0f} minutes: {watch.trouble}")
        now = watch.job(state.uid)
        self._state = state = replace(now, members=state.members) if now else state
        if now is None or not state.live:
            yield from self._conclude(state)
        elif state.waits:
            yield self._look_at_waiting(state)
        else:
            self._has_begun = True
            yield self._look_at(self.awaited()[0], state)

    def _look_at_waiting(self, state: SlurmState) -> float:
        """Say what the job waits for; the seconds until there may be more."""
        self.wait_for(waits_for(state))
        self._take_results(state)
        verdict = never_starts(state)
        if not verdict:
            self._never_since = 0.0
            return _CHECK_SECONDS if self._has_begun else _LAST_SECONDS
        self._never_since = self._never_since or time.monotonic()
        if time.monotonic() - self._never_since > _NEVER_SECONDS:
            self._connection.discard(state)
            for item in self.awaited():
                self.finish(item, Outcome("failed", None, verdict.message))
        return _CHECK_SECONDS

    def _take_results(self, state: SlurmState) -> None:
        """Take what there is: a controller that comes back with an old state has jobs wait that have run."""
        try:
            for item in self.awaited():
                if manifest := self._store.generation(*item.step):
                    self.finish(item, Outcome("done", manifest))
        except StoreError as error:
            self.wait_for(f"the store cannot be read: {error}")
        if not self.awaited() and all(item.step in self._endings for item in self.members):
            self._connection.discard(state)

    def _look_at(self, item: Member, state: SlurmState) -> float:
        """Take what the store has of a member; the seconds until there may be more."""
        try:
            known = self._logs.known(item, ended=False)
            self.wait_for("" if self._logs.of(item).has_begun else f"job {state.uid} starts on {state.node}")
            if not known:
                self._check_owner(item, state)
        except StoreError as error:
            self.wait_for(f"its log cannot be read: {error} The step goes on.")
            return _CHECK_SECONDS
        if not known:
            return self._logs.of(item).pause
        self._known_since = self._known_since or time.monotonic()
        is_late = time.monotonic() - self._known_since > _LAST_SECONDS  # its job hangs
        is_last = item == self.members[-1] or TOLD_TO_END in known.message
        if known.kind != "temporary" or not is_last or is_late:  # else Slurm says why
            self._known_since = 0.0
            self.finish(item, known)
            if is_late:
                self._connection.discard(state)
        return _CHECK_SECONDS

    def _check_owner(self, item: Member, state: SlurmState) -> None:
        """Raise SlurmError when locks of the nodes are not seen here, as then two could make one step.

        A worker that runs owns its step; one that has just ended is soon seen to.
        """
        if not self._logs.of(item).has_begun or self._store.owners.is_owned(*item.step):
            self._unlocked_since = 0.0
            return
        self._unlocked_since = self._unlocked_since or time.monotonic()
        heard = self._connection.watch.heard
        if heard - self._unlocked_since > _UNLOCKED_SECONDS:
            raise SlurmError(
                f"The worker of {item.label} runs on {state.node}, and its lock in the store is not seen "
                f"here: the file system of {self._store.url} shares no locks among machines. On BeeGFS set "
                "tuneUseGlobalFileLocks, on Lustre mount with -o flock, use NFS 4.1 or newer, or a bucket."
            )

    # Its end
    def _conclude(self, state: SlurmState) -> Work[None]:
        """End the steps that wait, once Slurm has said why the job has ended."""
        for item in self.awaited():
            known = self._logs.known(item, ended=True)
            if known and known.kind != "temporary":
                self.finish(item, known)
        if self._logs.behind():
            yield 0.0
            return
        if not self.awaited():
            return
        is_known, account = self._connection.watch.account(state.uid)
        if not is_known:
            self.wait_for(f"job {state.uid} has ended, and accounting is asked why")
            yield _CHECK_SECONDS
            return
        words, code, output = self._last_words(state)
        for item in self.awaited():
            log = self._logs.of(item)
            word = log.outcome or words.get(item)
            if output and not word:
                for line in ("[the end of the job's output:]", *output.splitlines()):
                    self._connection.sink(item.label, line.encode())
            said = word.message if isinstance(word, Outcome) else ""
            verdict = judge(state, account, said, code, self._connection.warning(state))
            self.finish(item, self._ending(item, word, verdict, output))

    def _last_words(self, state: SlurmState) -> tuple[dict[Member, Ending], int | None, str]:
        """What the worker left in the job's output; its exit code, as the job wrote it down; the rest."""
        words: dict[Member, Ending] = {}
        code, rest = None, []
        for line in self._connection.output(state).splitlines():
            if line.startswith(ENDED):
                with suppress(ValueError, IndexError):
                    code = int(line.removeprefix(ENDED).split()[0])
                continue
            try:
                number, reply = unpack_reply(line.encode())
            except ValueError:
                rest.append(line)
                continue
            if isinstance(reply, Ending) and number < len(self.members):
                words[self.members[number]] = reply
        return words, code, "\n".join(rest[-20:])

    def _ending(self, item: Member, word: Ending | None, verdict: JobVerdict, output: str) -> Ending:
        """Return a step's ending: its result when the store has it, else as worker and Slurm report it."""
        if manifest := self._store.generation(*item.step):
            return Outcome("done", manifest)
        if isinstance(word, Busy):
            return word
        tail = (word.log_tail if word else "") or self._logs.of(item).tail or output
        if word and verdict.cause in ("ended", "script"):
            return replace(word, log_tail=tail)
        message = f"{verdict.message} ({word.message})" if word else verdict.message
        if verdict.cause == "memory":
            message += self._memory_advice()
        failed = verdict.failed or (verdict.cause == "deadline" and not self.is_resumable(item))
        return Outcome("failed" if failed else "temporary", None, message, tail)

    def _memory_advice(self) -> str:
        classes = self._connection.slurm.worker_classes
        name = self._state.worker_class if self._state else ""
        memory = next((each.memory for known, each in classes.items() if known == name), None)
        return (
            f". Jobs of the worker class {name} have {memory or 'the memory that the cluster gives'}: in the "
            f"deployment file, raise slurm.worker-classes.{name}.memory, or give the stage another class"
        )
