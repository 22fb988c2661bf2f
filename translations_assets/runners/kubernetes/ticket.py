"""A step's place in a job of the cluster."""

from __future__ import annotations

import queue
from dataclasses import dataclass, field
from typing import TypeAlias

from translations_assets.runners.wire import Busy
from translations_assets.running.job import Job, JobEvent, Outcome

Ending: TypeAlias = "Outcome | Busy"


@dataclass(eq=False)
class Ticket:
    """What happens to a step in a job: events, then one ending, from the thread that follows the job."""

    job: Job
    replies: queue.SimpleQueue[JobEvent | Ending] = field(default_factory=queue.SimpleQueue)

    @property
    def step(self) -> tuple[str, int]:
        """What is made."""
        return self.job.key, self.job.generation
