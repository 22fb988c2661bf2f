"""A run as people see it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from translations_assets.records.run import RunOptions

State = Literal["waiting", "running", "ending", "done", "failed", "cancelled", "lost its process", "ended"]

SILENT_SECONDS = 180.0  # a run's record is renewed each minute


@dataclass(frozen=True)
class Run:
    """A run.

    state      `ended` when only the store knows it, which does not know how it ended
    dagster    the state as Dagster has it; empty when its instance does not know the run
    process    the process that runs it, as of `process_id`; empty when that is not known
    selection  the stages of its selection; empty for all
    message    why it failed, if Dagster was told
    """

    id: str
    partition: str
    state: State
    started: float | None = None
    ended: float | None = None
    dagster: str = ""
    process: str = ""
    selection: tuple[str, ...] = ()
    options: RunOptions = RunOptions()
    message: str = ""
    uses: Mapping[str, tuple[str, int]] | None = None
    config: str = ""

    @property
    def short(self) -> str:
        """The beginning of the id, as the UI shows it."""
        return self.id[:8]

    @property
    def is_over(self) -> bool:
        """Whether nothing works on it any more."""
        return self.state not in ("waiting", "running", "ending")

    @property
    def seconds(self) -> float | None:
        """How long it took, or takes already."""
        if self.started is None:
            return None
        end = self.ended if self.ended is not None else None if self.is_over else time.time()
        return None if end is None else end - self.started
