"""A run: what Dagster knows of it and what its record in the store says, as one."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Literal

from translations_assets.records.run import RunRecord

State = Literal["waiting", "running", "ending", "done", "failed", "cancelled", "lost its process", "ended"]

STATES: dict[str, State] = {  # by Dagster's
    "SUCCESS": "done",
    "FAILURE": "failed",
    "CANCELED": "cancelled",
    "CANCELING": "ending",
    "STARTED": "running",
}


@dataclass(frozen=True)
class Run:
    """A run.

    state    `ended` when only the store knows it, and no step failed and some are not made
    record   what was asked of it, and, once the store knows it, what it uses
    dagster  the state as Dagster has it; empty when its instance does not know the run
    """

    id: str
    partition: str
    state: State
    record: RunRecord
    started: float | None = None
    ended: float | None = None
    dagster: str = ""

    @property
    def short(self) -> str:
        """The beginning of the id, as the UI shows it."""
        return self.id[:8]

    @property
    def is_over(self) -> bool:
        """True if nothing works on it any more."""
        return self.state not in ("waiting", "running", "ending")

    @property
    def seconds(self) -> float | None:
        """The seconds that it took, or has taken so far."""
        if self.started is None:
            return None
        end = self.ended if self.ended is not None else None if self.is_over else time.time()
        return None if end is None else end - self.started


def run_of_record(run: str, record: RunRecord) -> Run:
    """A run as far as its record in the store says."""
    is_over, is_silent = record.ended is not None, record.is_silent(time.time())
    return Run(
        id=run,
        partition=record.partition,
        state=_ended(record) if is_over else "lost its process" if is_silent else "running",
        record=record,
        started=record.started,
        ended=(record.heartbeat or None) if is_silent else record.ended,
    )


def _ended(record: RunRecord) -> State:
    if record.failed:
        return "failed"
    return "done" if record.labels and not record.labels.keys() - record.uses.keys() else "ended"


def merged(known: Run, record: RunRecord | None) -> Run:
    """A run with Dagster's state, and what its record in the store says."""
    if record is None:
        return known
    stored = run_of_record(known.id, record)
    return replace(
        known,
        record=replace(record, stages=record.stages or known.record.stages),
        started=known.started or stored.started,
        ended=known.ended or (stored.ended if known.is_over else None),
    )
