"""The runner of Slurm: steps as batch jobs, found again by a run that asks for the same step."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from translations_assets.config.deployment import UNSAVED_MINUTES, Slurm
from translations_assets.runners.batch.runner import BatchRunner, print_line
from translations_assets.runners.batch.silence import SILENT_SECONDS
from translations_assets.runners.slurm.commands import SlurmCommands
from translations_assets.runners.slurm.connection import SlurmConnection, SlurmGroup
from translations_assets.runners.slurm.job import SlurmJob
from translations_assets.runners.slurm.state import SlurmState
from translations_assets.running.job import Job
from translations_assets.running.protocols import Store

_NO_ANSWER = "Slurm does not answer"


class SlurmRunner(BatchRunner[SlurmConnection, SlurmJob]):
    """A `Runner` on Slurm. No command runs before the first step.

    sink      takes the lines of the scripts' logs: label of the step, line
    unsaved_minutes  as in `Deployment`

    commands  what runs Slurm's commands, and counts them
    """

    def __init__(
        self,
        slurm: Slurm,
        sink: Callable[[str, bytes], None] = print_line,
        unsaved_minutes: float = UNSAVED_MINUTES,
    ) -> None:
        super().__init__()
        self._slurm, self._sink, self._unsaved_minutes = slurm, sink, unsaved_minutes
        self.commands = SlurmCommands(slurm.command)

    def _open(self, store: Store) -> SlurmConnection:
        return SlurmConnection(
            self._slurm, self.commands, self._sink, self._closed, self._unsaved_minutes, store
        )

    def _silence(self, connection: SlurmConnection | None) -> str:
        if connection is None:
            return f"{_NO_ANSWER}: {self.commands.trouble or 'not yet'}"
        if (silent := connection.watch.silent) > SILENT_SECONDS:
            return f"{_NO_ANSWER} since {silent:.0f} s: {connection.watch.trouble or 'squeue has no end'}"
        return ""

    def _live(self, connection: SlurmConnection, store: Store, step: tuple[str, int]) -> Iterator[SlurmState]:
        return iter(connection.watch.jobs_of(step))

    def _group(self, connection: SlurmConnection, store: Store, job: Job) -> SlurmGroup:
        return connection.group(job)

    def _make(self, connection: SlurmConnection, store: Store, source: SlurmState | SlurmGroup) -> SlurmJob:
        return SlurmJob(connection, store, source, self._forget)
