"""The jobs of this user as Slurm last told of them: one command for all of them."""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace

from translations_assets.common.background import Repeating
from translations_assets.common.errors import StoreError
from translations_assets.runners.batch.member import Member, member, store_label
from translations_assets.runners.slurm.commands import SlurmAway, SlurmCommands, SlurmError
from translations_assets.runners.slurm.state import (
    ACCOUNTS,
    QUEUE,
    Account,
    SlurmState,
    read_accounts,
    read_queue,
)
from translations_assets.runners.wire import PodRequest
from translations_assets.running.protocols import Store

_TICK_SECONDS, _LONGEST_PAUSE = 1.0, 10.0  # the latter while Slurm is away
# Between two looks: a tenth of the time since something changed, and ten times what a look takes, so that a
# controller with much to do is asked less
_SHORTEST, _LONGEST, _SHARE, _LOAD = 3.0, 20.0, 0.1, 10.0
_ACCOUNTS_LATE = 20.0  # accounting knows the end of a job by then
_ACCOUNTS_PAUSE = 3.0  # until it is asked again
_log = logging.getLogger(__name__)


class SlurmWatch:
    """The jobs of this user, as last seen.

    silent   see there
    trouble  what keeps Slurm from answering; empty where it answers
    """

    def __init__(
        self, commands: SlurmCommands, store: Store, has_accounts: bool, closed: threading.Event
    ) -> None:
        self._commands, self._store, self._has_accounts = commands, store, has_accounts
        self._lock = threading.Lock()
        self._states: dict[str, SlurmState] = {}
        self._members: dict[str, tuple[Member, ...]] = {}  # by the digest of the request
        self._listeners: dict[str, list[Callable[[], None]]] = defaultdict(list)
        self._asked: dict[str, float] = {}  # job → when its end was first asked of accounting
        self._accounts: dict[str, Account | None] = {}
        self._added: dict[str, float] = {}  # job → when it was submitted here
        self._due = self._accounts_due = 0.0
        self._changed = self.heard = time.monotonic()
        self.trouble = ""
        self._repeating = Repeating(
            "squeue",
            self._tick,
            _TICK_SECONDS,
            self._failed,
            needed=lambda: not closed.is_set(),
            longest=_LONGEST_PAUSE,
        )

    def start(self) -> None:
        """Look once, and again and again from now on. Raises SlurmError when that is not possible."""
        self.look()
        self._repeating.start()

    @property
    def silent(self) -> float:
        """Seconds since Slurm has answered, beyond the pause between two looks."""
        return max(0.0, time.monotonic() - max(self.heard, self._due))

    def jobs(self) -> list[SlurmState]:
        """All jobs that Slurm knows, ended ones, too."""
        return list(self._states.values())

    def job(self, uid: str) -> SlurmState | None:
        """A job; None when Slurm does not know it, or not any more."""
        return self._states.get(uid)

    def jobs_of(self, step: tuple[str, int]) -> list[SlurmState]:
        """The live jobs that make a step of the store."""
        made = (job for job in self.jobs() if job.live)
        return [job for job in made if step in [item.step for item in job.members]]

    def named(self, name: str) -> SlurmState | None:
        """The live job of that name."""
        return next((job for job in self.jobs() if job.live and job.name == name), None)

    def add(self, job: SlurmState) -> None:
        """Count a job that was just submitted, until Slurm tells of it."""
        with self._lock:
            self._states[job.uid] = job
            self._added[job.uid] = time.monotonic()
            if job.request:
                self._members[job.request.digest] = job.members
            self._changed, self._due = time.monotonic(), 0.0

    def account(self, uid: str) -> tuple[bool, Account | None]:
        """Ask accounting for a job's end; return whether its answer is known by now, and the answer."""
        if not self._has_accounts:
            return True, None
        with self._lock:
            self._asked.setdefault(uid, time.monotonic())
            return uid in self._accounts, self._accounts.get(uid)

    def subscribe(self, uid: str, call: Callable[[], None]) -> None:
        """Have a function called when a job changes; `""` for any."""
        with self._lock:
            self._listeners[uid].append(call)

    def unsubscribe(self, uid: str, call: Callable[[], None]) -> None:
        """Call the function no more."""
        with self._lock:
            self._listeners[uid].remove(call)

    def look(self) -> None:
        """Ask for all jobs, and tell who waits of those that have changed."""
        began = time.monotonic()
        found = {job.uid: self._with_members(job) for job in read_queue(self._commands.run(*QUEUE))}
        now = time.monotonic()
        with self._lock:
            before = self._states
            # one that was submitted meanwhile may not be in the answer yet
            self._added = {uid: since for uid, since in self._added.items() if since > began}
            found |= {uid: before[uid] for uid in self._added if uid not in found}
            self._states = found
            changed = [uid for uid in {**before, **found} if _differ(before.get(uid), found.get(uid))]
            self.heard, self.trouble = now, ""
            self._changed = now if changed else self._changed
            pause = min(max(_SHORTEST, _SHARE * (now - self._changed)), _LONGEST)
            self._due = now + max(pause, _LOAD * (now - began))
        self._tell(changed)

    def _tick(self) -> None:
        if time.monotonic() >= self._due:
            try:
                self.look()
            except SlurmError as error:
                self.trouble = str(error)
                raise
        self._ask_accounts()

    def _ask_accounts(self) -> None:
        """Ask accounting once for all jobs whose end somebody wants to know."""
        with self._lock:
            asked = {uid: since for uid, since in self._asked.items() if uid not in self._accounts}
        if not asked or time.monotonic() < self._accounts_due:
            return
        self._accounts_due = time.monotonic() + _ACCOUNTS_PAUSE
        try:
            found = read_accounts(self._commands.run(*ACCOUNTS, f"--jobs={','.join(asked)}"))
        except SlurmAway as error:
            found = {}
            _log.warning("Accounting does not answer: %s", error)
        except SlurmError as error:  # there is none, or it is not for this user
            found, self._has_accounts = {}, False
            _log.info("Slurm's accounting is not used: %s", error)
        late = {uid for uid, since in asked.items() if time.monotonic() - since > _ACCOUNTS_LATE}
        known = {
            uid: found.get(uid) for uid in asked if uid in found or uid in late or not self._has_accounts
        }
        with self._lock:
            self._accounts |= known
        self._tell(known)

    def _with_members(self, job: SlurmState) -> SlurmState:
        """The job with its steps, which another run's request in the store names."""
        if not job.live or not job.request or job.store != store_label(self._store.url):
            return job
        if job.request.digest not in self._members:
            try:
                request = PodRequest.from_bytes(self._store.read_blob(job.request))
                self._members[job.request.digest] = tuple(map(member, request.jobs))
            except (StoreError, ValueError, TypeError, KeyError) as error:
                _log.warning("It is not known what the job %s makes: %s", job.uid, error)
                return job
        return replace(job, members=self._members[job.request.digest])

    def _tell(self, uids: Iterable[str]) -> None:
        with self._lock:
            calls = [call for uid in (*uids, "") for call in self._listeners.get(uid, ())]
        for call in calls:
            call()

    def _failed(self, error: str) -> None:
        _log.warning("Slurm could not be asked for its jobs: %s", error)


def _differ(one: SlurmState | None, other: SlurmState | None) -> bool:
    """True if more has changed than the time that a job has run."""
    return (one and replace(one, used=0.0)) != (other and replace(other, used=0.0))
