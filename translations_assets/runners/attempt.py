"""One attempt of a step, from placing its inputs to committing its outputs."""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from translations_assets.common.background import Repeating, in_words
from translations_assets.common.errors import DamagedError, StoreError, StoreUnreachable
from translations_assets.keys.programs import other_programs
from translations_assets.records.cost import PAID
from translations_assets.records.inside import inside
from translations_assets.records.manifest import Blob, Manifest, Provenance, Usage, Worker
from translations_assets.runners.control import Control
from translations_assets.runners.environment import script_environment
from translations_assets.runners.machine import (
    GpuMonitor,
    Monitor,
    memory_limit,
    out_of_memory_kills,
    toolchain,
)
from translations_assets.runners.publisher import (
    CheckpointWatch,
    LiveNumbers,
    Redaction,
    StepLog,
    secrets_of,
)
from translations_assets.runners.script import ScriptProcess
from translations_assets.runners.wire import Request, write
from translations_assets.runners.work_folder import WorkFolder, unpack
from translations_assets.running import events
from translations_assets.running.job import Outcome
from translations_assets.running.tasks import RESULT_SECONDS, when_reachable
from translations_assets.store.contents import NotPlainError, digest_file

if TYPE_CHECKING:
    from translations_assets.running.protocols import Store

_CHECK_SECONDS = 0.5
_HARDLY_FREE = 1 << 20  # bytes
_Look: TypeAlias = tuple[int, int, int]
_SENT_FROM_OUTSIDE = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}


class _Ended(NamedTuple):
    """The end of the script: its exit code (negative: a signal), the worker's reason to end it (empty when it
    did not), the resources it used.

    missed_store: the store, in which a local work folder stands, could not be reached meanwhile.
    """

    code: int
    stopped: str
    missed_store: bool
    started: float
    usage: Usage


class Attempt:
    """One attempt, made by the owner of the step in a fresh work folder; `log` is the step's.

    report  gets the events of the attempt; None, in a pod: they and its outcome go to the store, with the
            log, which is also written to standard output
    """

    def __init__(
        self,
        request: Request,
        store: Store,
        folder: WorkFolder,
        control: Control,
        report: Callable[[events.JobEvent], None] | None,
    ) -> None:
        self._request, self._store, self._folder = request, store, folder
        self._control, self._job = control, request.job
        self._redaction = Redaction(list(secrets_of(self._job, os.environ).values()))
        pod, show = request.place.get("pod", ""), None if report else write
        self.log = StepLog(folder.log, store, self._job, self._redaction, pod, show)
        self._report = report or self.log.reply
        self._numbers: dict[str, Any] = {}  # newest live ones of the script
        self._is_heard = report is not None
        self._missed_store = False
        self._gpus = GpuMonitor(request.gpus)
        self._kills_before = out_of_memory_kills()

    def run(self) -> Outcome:
        """Run the script and keep its result; how that ended. Raises StoreError or OSError."""
        try:
            outcome = self._run()
            if outcome.kind != "done" and not self._is_heard:
                self.log.reply(replace(outcome, log_tail=""))  # the log is next to it
            return outcome
        finally:
            self.log.show(ended=True)
            self._ship_rest()

    def _run(self) -> Outcome:
        if wrong := other_programs(self._job.programs):
            return self._outcome("failed", wrong)
        placed = self._place()
        self._control.wait(0)
        if self._control.cancelled:
            return self._outcome("temporary", f"not started: {self._control.cancelled}")
        ended = self._run_script()
        return when_reachable(lambda: self._keep(ended, placed), RESULT_SECONDS, _pause, self.log.note)

    def _keep(self, ended: _Ended, placed: Mapping[Path, _Look]) -> Outcome:
        """Keep the result, if it is one. Raises StoreUnreachable when it cannot be seen or kept now."""
        complaint = self._judge(ended) or self._changed(placed) or self._missing()
        self._store.generation(self._job.key, self._job.generation)  # seen all that with the store at hand
        return complaint or self._commit(ended)

    def _place(self) -> dict[Path, _Look]:
        """Place bundle and inputs; the inputs' paths and what they look like."""
        bundle = self._folder.path / "bundle.tar"
        self._store.place_blob(self._job.bundle, bundle)
        unpack(bundle, self._folder.code, f"{self._job.bundle.digest} of {self._job.label}")
        placed = {}
        for path, blob in self._job.inputs.items():
            target = self._input(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            self._store.place_blob(blob, target)
            placed[target] = _look(target)
        return placed

    def _input(self, path: str) -> Path:
        try:
            return inside(self._folder.inputs, path)
        except ValueError as error:
            raise StoreError(
                f"An input of {self._job.label} cannot be put into the work folder: {error}."
            ) from error

    def _run_script(self) -> _Ended:
        job, request = self._job, self._request
        self.log.note(f"python -m {job.script} {' '.join(job.command)}")
        shipping = self._publishing("log", self.log.ship_due)
        saving = self._publishing("checkpoints", self._new_checkpoints())
        started = time.time()
        process = ScriptProcess(
            job.script,
            job.command,
            cwd=self._folder.path,
            environment=script_environment(request, self._folder, os.environ),
            log=self._folder.log,
        )
        shipping.start()
        saving.start()
        self._report(events.Started(process.pid, request.threads, request.gpus))
        monitor = Monitor(process.pid, self._folder)
        live = LiveNumbers(self._folder.progress, self._redaction, self._progress)
        try:
            stopped = self._watch(process, monitor, live, saving)
        finally:
            code = process.kill(beside=self._gpus.close())
            for repeating in (shipping, saving):
                repeating.stop()
        seconds = time.monotonic() - process.started
        live.forward()
        self._control.committing = True
        for repeating in (shipping, saving):
            if repeating.join(RESULT_SECONDS) and (code != 0 or stopped):
                repeating.tick()  # stores the set that the script saved when it was told to end
        missed_store = self._missed_store or self._is_store_away()
        return _Ended(code, stopped, missed_store, started, self._usage(process, monitor, seconds))

    def _is_store_away(self) -> bool:
        try:
            self._store.generation(self._job.key, self._job.generation)
        except StoreError as error:
            return isinstance(error, StoreUnreachable)
        return False

    def _new_checkpoints(self) -> Callable[[], None]:
        """Return the action that stores the new checkpoint sets of a resumable step."""
        if not self._job.resumable:
            return lambda: None
        return CheckpointWatch(self._folder.checkpoints, self._store, self._job, self.log).commit_new

    def _publishing(self, name: str, action: Callable[[], None]) -> Repeating:
        """Repeat an action that stores something while the script runs, unless another may own the step."""

        def act() -> None:
            try:
                if not self._control.lease_lost:
                    action()
            except StoreUnreachable:
                self._missed_store = True
                raise

        return Repeating(name, act, 1.0, self.log.note)

    def _progress(self, value: Mapping[str, Any]) -> None:
        self._numbers.update(value)
        self._report(events.Progress(value))

    def _watch(self, process: ScriptProcess, monitor: Monitor, live: LiveNumbers, saving: Repeating) -> str:
        """Wait for the script's end; why it was asked to end, empty when it was not."""
        stopped, deadline = "", float("inf")
        while not process.exited() and time.monotonic() < deadline:
            self._control.wait(_CHECK_SECONDS)
            self._check_saved(saving)
            if self._control.cancelled and not stopped and not process.exited():
                stopped, deadline = self._control.cancelled, time.monotonic() + self._request.grace
                process.terminate()
            if self._control.lease_lost:  # what it saves now is not stored, and another worker may begin
                break
            live.forward()
            monitor.sample()
            self._gpus.sample()
        return stopped

    def _check_saved(self, saving: Repeating) -> None:
        """Have the worker end when the script could not be resumed from what it has done for long."""
        minutes = self._request.unsaved_minutes
        if saving.unsuccessful > minutes * 60 and not self._control.cancelled:
            reason = saving.error or "storing one takes longer"
            self._control.cancel(f"no checkpoint set could be stored for {minutes:g} minutes: {reason}")

    def _usage(self, process: ScriptProcess, monitor: Monitor, seconds: float) -> Usage:
        return Usage(
            seconds=round(seconds, 3),
            cpu_seconds=round(process.cpu_seconds, 3),
            peak_memory=max(monitor.peak_memory, process.largest_memory),
            disk=max(monitor.peak_disk, self._folder.size()),
            gpus=len(self._request.gpus),
            gpu_utilisation=round(self._gpus.utilisation, 3),
            gpu_memory=self._gpus.peak_memory,
            **{name: int(self._numbers.get(name, 0)) for name in PAID},
        )

    def _judge(self, ended: _Ended) -> Outcome | None:
        """Return the outcome of an end other than success; None for success."""
        if ended.stopped:  # whatever its exit code: Marian ends with 0 when it is told to stop
            outcome = self._outcome("temporary", f"stopped before its end: {ended.stopped}")
            return replace(outcome, unreachable=bool(self._control.lease_lost) and ended.missed_store)
        if ended.code == 0:
            return None
        if ended.missed_store:
            message = "the store could not be reached while the script ran"
            return replace(self._outcome("temporary", message), unreachable=True)
        number = -ended.code if ended.code < 0 else ended.code - 128
        if number in _SENT_FROM_OUTSIDE:
            return self._outcome("temporary", self._why_killed(number, ended.usage.peak_memory / 2**30))
        name = f"signal {-ended.code}" if ended.code < 0 else f"exit code {ended.code}"
        if self._is_disk_full():
            return self._outcome("temporary", f"no space left in {self._request.work} ({name}): free some")
        if ended.code == os.EX_TEMPFAIL:
            return self._outcome("temporary", f"the script asks for another attempt ({name})")
        return self._outcome("failed", f"{self._job.script} ended with {name}")

    def _why_killed(self, number: int, peak: float) -> str:
        """Explain a signal from outside, given the step's peak of memory in GiB."""
        if number == signal.SIGKILL and out_of_memory_kills() > self._kills_before:
            limit = memory_limit()
            allowed = f" of the {limit / 2**30:.2f} GiB that it may use" if limit else ""
            return f"out of memory: the step's peak was {peak:.2f} GiB{allowed}; its worker class needs more"
        return (
            f"killed by {signal.Signals(number).name}, not by its worker; perhaps the machine ran out of "
            f"memory (the step's peak was {peak:.2f} GiB)"
        )

    def _is_disk_full(self) -> bool:
        """True if the disk is full, or was, before the script tidied up behind itself."""
        disk = os.statvfs(self._folder.path)
        return disk.f_bavail * disk.f_frsize < _HARDLY_FREE or os.strerror(errno.ENOSPC) in self.log.tail()

    def _changed(self, placed: Mapping[Path, _Look]) -> Outcome | None:
        """The complaint about the first input that the script changed."""
        for path, before in placed.items():
            name = path.relative_to(self._folder.inputs).as_posix()
            blob = self._job.inputs[name]
            if not _unchanged(path, before, blob):
                self._check_stored(blob)
                return self._outcome("failed", f"the script changed its input in/{name}, which is read-only")
        return None

    def _check_stored(self, blob: Blob) -> None:
        """Have the store put its contents aside when they changed with the (hard-linked) input."""
        copy = self._folder.path / "check"
        try:
            self._store.place_blob(blob, copy)
        except DamagedError as error:
            self.log.note(str(error))
        copy.unlink(missing_ok=True)

    def _missing(self) -> Outcome | None:
        """The complaint about declared outputs that the script did not leave, or left empty."""
        bad = []
        for name in self._job.outputs:
            path = self._folder.outputs / name
            if not path.is_file():
                bad.append(f"{name} is missing")
            elif not path.stat().st_size:
                bad.append(f"{name} is empty")
        if bad:
            return self._outcome("failed", f"the script succeeded, but of its outputs {', '.join(bad)}")
        return None

    def _commit(self, ended: _Ended) -> Outcome:
        job = self._job
        self._note_extra_files()
        outputs = {name: self._store.add_blob(self._folder.outputs / name) for name in job.outputs}
        manifest = Manifest(
            key=job.key,
            generation=job.generation,
            outputs=outputs,
            label=job.label,
            bundle=job.bundle,
            provenance=self._provenance(),
            attempt=job.attempt,
            host=self._request.host or os.uname().nodename,
            started=ended.started,
            ended=time.time(),
            usage=replace(ended.usage, earlier_seconds=self._earlier_seconds()),
        )
        self._ship_rest()  # a worker that is killed right after the commit leaves the log whole
        committed = self._store.commit(manifest)
        self._drop_checkpoints()
        return Outcome("done", committed)

    def _earlier_seconds(self) -> float:
        """Of the attempts before this one, by their logs: what killed one left no other trace of its time."""
        job = self._job
        if job.attempt == 1:
            return 0.0
        earlier = [each for each in self._store.attempts(job.key, job.generation) if each < job.attempt]
        return round(sum(self._store.log_seconds(job.key, job.generation, each) for each in earlier), 3)

    def _drop_checkpoints(self) -> None:
        if not self._job.resumable:
            return
        try:
            self._store.drop_checkpoints(self._job.key, self._job.generation)
        except StoreError as error:  # the step is finished all the same
            self.log.note(str(error))

    def _provenance(self) -> Provenance:
        """Return the job's own provenance, and what it was given here."""
        request, known = self._request, self._job.provenance
        worker = Worker(
            command=(self._job.script, *self._job.command),
            threads=request.threads,
            gpus=len(request.gpus),
            workspace=request.workspace,
            others={**request.place, **toolchain(known.parts.libraries, self._gpus)},
        )
        return replace(known, worker=worker)

    def _note_extra_files(self) -> None:
        for path in sorted(self._folder.outputs.rglob("*")):
            name = path.relative_to(self._folder.outputs).as_posix()
            if path.is_file() and name not in self._job.outputs:
                self.log.note(f"out/{name} is no declared output and is not kept")

    def _outcome(self, kind: Literal["failed", "temporary"], message: str) -> Outcome:
        return Outcome(kind, None, message, self.log.tail())

    def _ship_rest(self) -> None:
        """Store the end of the log, if that can be done: no attempt fails for its log."""
        try:
            if not self._control.lease_lost:
                self.log.ship_all()
        except Exception as error:
            self.log.note(in_words(error))


def _pause(seconds: float) -> bool:
    """Pause while the store is away; a finished script's result is worth it for any run."""
    time.sleep(seconds)
    return False


def _look(path: Path) -> _Look:
    """Return the properties of a file that change when it is written to, or replaced."""
    found = path.lstat()
    return found.st_size, found.st_mtime_ns, found.st_ino


def _unchanged(path: Path, before: _Look, blob: Blob) -> bool:
    """True if an input is unchanged. Storing equal contents touches the file that it is a link to."""
    try:
        return _look(path) == before or digest_file(path) == blob
    except (FileNotFoundError, NotPlainError):
        return False
