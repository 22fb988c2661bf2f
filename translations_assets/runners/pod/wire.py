"""What a runner and the worker of a pod say to each other.

To the worker: a `PodRequest`, stored as a blob, whose digest stands on the pod's command line; so the pod's
description is small, and the same for all that ask for the same attempt. From the worker, on its standard
output: the scripts' logs as they are, and between their lines, each on a line that begins with the character
RS (as in RFC 7464), replies in JSON: events and, for each job once, how it ended. A job's log stands before
its end, and after that of the job before.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from translations_assets.runners.wire import Busy, reply_values, unpack_reply
from translations_assets.running.job import Job, JobEvent, Outcome

RECORD = b"\x1e"

# What the description of a pod gives to its worker
NODE = "TRANSLATIONS_NODE"  # variable: name of the node, for the manifests (downward API)
POD = "TRANSLATIONS_POD"  # variable: name of the pod
SCRATCH = "/scratch"  # where the pod's own disk is mounted; the variable TMPDIR has to name it

EX_TEMPFAIL = os.EX_TEMPFAIL  # a pod's exit code when the worst of its jobs is worth another attempt


@dataclass(frozen=True)
class PodRequest:
    """Attempts of one or more steps, that a pod makes one after the other.

    store     URL of the store
    gpus      GPUs that the deployment gives to the pod; one that sees fewer asks for another attempt
    machine   what the pod runs on, for the manifests: `spot` or `standard`
    files     folders below which files lie that file:// URLs may name, in addition to those of the mirror
    unsaved_minutes  as in `Request`
    """

    jobs: tuple[Job, ...]
    store: str
    gpus: int
    machine: str
    files: tuple[str, ...] = ()
    unsaved_minutes: float = math.inf

    def to_bytes(self) -> bytes:
        """The request as JSON; equal requests give equal bytes."""
        value = {**vars(self), "jobs": [job.to_dict() for job in self.jobs]}
        return json.dumps(value, ensure_ascii=False, sort_keys=True).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> PodRequest:
        """A request from what `to_bytes` gave."""
        value = json.loads(data)
        tuples = {"jobs": tuple(map(Job.from_dict, value["jobs"])), "files": tuple(value["files"])}
        return cls(**{**value, **tuples})


def pack_pod_reply(job: int, reply: JobEvent | Outcome | Busy) -> bytes:
    """What happened to the job of that number in the request, as a line with RS before it."""
    value: Mapping[str, Any] = {"job": job, **reply_values(reply)}
    return RECORD + json.dumps(value, ensure_ascii=False).encode() + b"\n"


def unpack_pod_reply(line: bytes) -> tuple[int, JobEvent | Outcome | Busy]:
    """The job's number and the reply of a line that begins with RS. Raises ValueError for anything else."""
    value = json.loads(line.removeprefix(RECORD))
    number = value.pop("job")
    reply = unpack_reply(json.dumps(value).encode())
    if not isinstance(number, int) or not isinstance(reply, (JobEvent, Outcome, Busy)):
        raise ValueError(f"unknown reply {line[:80]!r}")
    return number, reply
