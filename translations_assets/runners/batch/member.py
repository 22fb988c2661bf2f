"""The steps that a batch job makes, and the name of the job, which follows from them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from translations_assets.running.job import Job

_DIGITS = 24


class Member(NamedTuple):
    """A step in a job, and the attempt that the job makes of it."""

    key: str
    generation: int
    attempt: int
    label: str

    @property
    def step(self) -> tuple[str, int]:
        """The result to make: the same for every attempt."""
        return self.key, self.generation


def member(job: Job) -> Member:
    """A job as a member of a batch job."""
    return Member(job.key, job.generation, job.attempt, job.label)


def job_name(store: str, members: Sequence[Member]) -> str:
    """The name of the batch job that makes some attempts; the same for all that ask for them."""
    attempts = [[item.key, item.generation, item.attempt] for item in members]
    return f"translations-{digest([store, attempts])}"


def store_label(store: str) -> str:
    """A store's URL as a label."""
    return digest(store)


def digest(value: Any) -> str:
    """A short digest of a value that JSON can hold."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
