"""A Slurm that answers, and what is asked of it."""

from __future__ import annotations

import logging
import math
import shlex
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from translations_assets.config.deployment import Slurm, SlurmClass, WorkerClassName
from translations_assets.records.manifest import Blob
from translations_assets.runners.batch.limits import Limits
from translations_assets.runners.batch.member import Member, job_name, store_label
from translations_assets.runners.batch.sweep import OrphanSweep
from translations_assets.runners.pod import bootstrap
from translations_assets.runners.slurm.commands import SlurmCommands, SlurmError
from translations_assets.runners.slurm.state import SlurmState, comment
from translations_assets.runners.slurm.watch import SlurmWatch
from translations_assets.runners.wire import LAST_WORDS, NODE, POD
from translations_assets.running.job import Job
from translations_assets.running.protocols import Store
from translations_assets.store.shared_locks import check_locks

_CANCEL_SECONDS = 6.0  # a run that is cancelled waits 10 for all of it
_TAIL_BYTES = 8192
_log = logging.getLogger(__name__)

# The worker is a child of this shell, which hands SIGTERM on and writes down how the worker has ended: that
# is all that stays of a job without accounting. `wait` returns when a signal has come, too.
SCRIPT = """\
#!/bin/bash
{options}
{setup}
export TMPDIR="${{SLURM_TMPDIR:-${{TMPDIR:-/tmp}}}}/translations-$(id -u)"
mkdir -p -m 700 "$TMPDIR" || exit 75
words="$TMPDIR/words-$SLURM_JOB_ID"
export {node}="$SLURMD_NODENAME" {pod}="$(printf {worker} "$SLURM_JOB_ID")" {last_words}="$words"
told=
trap 'told=" after SIGTERM"; kill -TERM "$worker"' TERM
{command} &
worker=$!
if [ "$told" ]; then kill -TERM "$worker"; fi
while wait "$worker"; kill -0 "$worker" 2> /dev/null; do :; done
wait "$worker"
code=$?
cat "$words" 2> /dev/null
rm -f "$words"
echo "{ended} $code$told on $SLURMD_NODENAME"
if [ "$code" = 0 ]; then rm -f {output}"$SLURM_JOB_ID.out"; fi
exit "$code"
"""
ENDED = "[job] the worker ended with exit code"
WORKER = "slurm-%s"  # the worker's name, by the job's id


@dataclass(frozen=True)
class SlurmGroup:
    """Properties that the steps of one job share."""

    stage: str
    worker_class: WorkerClassName


class SlurmConnection:
    """A Slurm that answers. Raises SlurmError when there is none, or it cannot use the store.

    sink    takes the lines of the scripts' logs: label of the step, line
    closed  ends its threads, once set
    unsaved_minutes  as in `Deployment`
    store   whose jobs are swept when no run waits for them
    """

    def __init__(
        self,
        slurm: Slurm,
        commands: SlurmCommands,
        sink: Callable[[str, bytes], None],
        closed: threading.Event,
        unsaved_minutes: float,
        store: Store,
    ) -> None:
        self.slurm, self.sink, self.unsaved_minutes = slurm, sink, unsaved_minutes
        self._commands = commands
        check_locks(store.url)
        commands.patiently(partial(commands.run, "mkdir", "-p", "-m", "700", slurm.folder), closed)
        config = commands.patiently(partial(commands.run, "scontrol", "show", "config"), closed)
        has_accounts = "accounting_storage/slurmdbd" in config
        self.watch = SlurmWatch(self._commands, store, has_accounts, closed)
        classes = slurm.worker_classes.items()
        of_class = {name: each.max_jobs for name, each in classes if each.max_jobs}
        self.limits = Limits(slurm.max_jobs, of_class, self.watch.jobs)
        commands.patiently(self.watch.start, closed)
        self.watch.subscribe("", self.limits.changed)
        self.sweep = OrphanSweep(self.watch.jobs, self.discard, store, slurm.orphan_minutes, closed)
        self.sweep.start()

    def group(self, job: Job) -> SlurmGroup:
        """The steps that a step may share a job with."""
        name = self.slurm.class_of(job.stage, job.worker)
        if name not in self.slurm.worker_classes:
            raise SlurmError(
                f"The deployment file has no worker class {name}. Add slurm.worker-classes.{name}."
            )
        return SlurmGroup(job.stage, name)

    def worker_class(self, group: SlurmGroup) -> SlurmClass:
        """The worker class of a group."""
        return self.slurm.worker_classes[group.worker_class]

    def steps_per_job(self, group: SlurmGroup) -> int:
        """The most steps of a group that share a job."""
        own = self.slurm.stages.get(group.stage)
        return (own.steps_per_job if own else None) or self.worker_class(group).steps_per_job

    def warning(self, job: SlurmState) -> float:
        """Seconds before its time limit at which a job's worker is told to end."""
        graces = {name: each.grace_seconds for name, each in self.slurm.worker_classes.items()}
        return float(next((grace for name, grace in graces.items() if name == job.worker_class), 0))

    def submit(
        self,
        store: str,
        group: SlurmGroup,
        members: tuple[Member, ...],
        request: Blob,
        arguments: Sequence[str],
    ) -> SlurmState:
        """Submit a job. Raises SlurmAway, after which the job may be there all the same; SlurmFull.

        request    of its worker, in the store
        arguments  of the job's first code, `pod.bootstrap`
        """
        name = job_name(store, members)
        said = comment(store_label(store), group.worker_class, request)
        words = ["--parsable", f"--job-name={name}", f"--comment={said}", *self._options(group, len(members))]
        output = f"--output={self._output(name, '%j')}"
        answer = self._commands.run("sbatch", *words, output, text=self._script(group, name, arguments))
        uid = answer.strip().partition(";")[0]
        if not uid.isdecimal():
            raise SlurmError(f"sbatch answers {answer.strip()!r}, and not with the number of a job.")
        job = SlurmState(
            uid,
            name,
            "PENDING",
            "None",
            store=store_label(store),
            worker_class=group.worker_class,
            request=request,
            members=members,
        )
        self.watch.add(job)
        return job

    def discard(self, job: SlurmState) -> None:
        """Cancel a job that is not needed any more; the sweep does it later if that is not possible now."""
        try:
            self._commands.run("scancel", job.uid, seconds=_CANCEL_SECONDS)
        except SlurmError as error:
            _log.warning(
                "The job %s could not be cancelled and goes on until a later run does it: %s", job.uid, error
            )

    def output(self, job: SlurmState) -> str:
        """The end of what a job has written; empty where that cannot be read."""
        try:
            return self._commands.run("tail", "-c", str(_TAIL_BYTES), self._output(job.name, job.uid))
        except SlurmError as error:
            _log.info("The output of job %s cannot be read: %s", job.uid, error)
            return ""

    def _output(self, name: str, uid: str) -> str:
        return f"{self.slurm.folder}/{name}-{uid}.out"

    def _options(self, group: SlurmGroup, steps: int) -> Iterator[str]:
        """Options of sbatch, which come before the variables and lines of the same meaning."""
        worker_class = self.worker_class(group)
        hours = self.slurm.hours_of(group.stage, group.worker_class)
        minutes = math.ceil(hours * 60 * steps + worker_class.grace_seconds / 60)
        gpus = f"gpu:{worker_class.gpus}" if worker_class.gpus else None
        yield from ("--no-requeue", "--nodes=1", "--ntasks=1", f"--chdir={self.slurm.folder}")
        yield f"--time={minutes}"
        yield f"--signal=B:TERM@{worker_class.grace_seconds}"
        yield f"--cpus-per-task={worker_class.cpus}"
        for name, value in (
            ("mem", worker_class.memory),
            ("gres", worker_class.gres or gpus),
            ("partition", worker_class.partition or self.slurm.partition),
            ("account", worker_class.account or self.slurm.account),
            ("qos", worker_class.qos or self.slurm.qos),
            ("constraint", worker_class.constraint or self.slurm.constraint),
        ):
            if value:
                yield f"--{name}={value}"

    def _script(self, group: SlurmGroup, name: str, arguments: Sequence[str]) -> str:
        python = self.slurm.python or (sys.executable,)
        code = Path(bootstrap.__file__).read_text(encoding="utf-8")
        lines = (*self.slurm.options, *self.worker_class(group).options)
        return SCRIPT.format(
            options="\n".join(f"#SBATCH {line}" for line in lines),
            setup="\n".join(self.slurm.setup),
            node=NODE,
            pod=POD,
            last_words=LAST_WORDS,
            worker=WORKER,
            command=shlex.join([*python, "-I", "-c", code, *arguments]),
            ended=ENDED,
            output=shlex.quote(f"{self.slurm.folder}/{name}-"),
        )
