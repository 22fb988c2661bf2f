"""Waiting for the result of a step that another worker owns."""

from __future__ import annotations

import threading

from translations_assets.running.job import Job, Outcome
from translations_assets.running.protocols import Store
from translations_assets.running.tasks import Work, pause


def wait_for_owner(job: Job, store: Store, cancel: threading.Event, period: float) -> Work[Outcome | None]:
    """Wait while another worker owns a step, looking every `period` seconds.

    Its result; None when there is none and the step has no owner any more, or when the run is cancelled.
    """
    while True:
        yield from pause(period, cancel.is_set)
        if cancel.is_set():
            return None
        if manifest := store.generation(job.key, job.generation):
            return Outcome("done", manifest)
        with store.owners.lock(job.key, job.generation) as free:  # a dead owner's is acquired
            if free:
                return None
