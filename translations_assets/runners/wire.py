"""Messages between a runner and its worker, on this machine and in a pod.

To the worker, once: a local one gets a `Request` as a line of JSON. A pod gets a `PodRequest`, stored as a
blob whose digest stands on the pod's command line; so the pod's description is small, and the same for all
that ask for the same attempt.

From the worker: replies, each a line of JSON: any number of events, then for each job once how it ended. A
local worker writes them to its standard output. A pod stores them with the parts of the attempt's log; what
became of the jobs that are not done is also in the pod's termination message.
"""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias, get_args

from translations_assets.records.checked import Record
from translations_assets.running.events import JobEvent
from translations_assets.running.job import Job, Outcome

# What the description of a pod gives to its worker
NODE = "TRANSLATIONS_NODE"  # variable: name of the node, for the manifests (downward API)
POD = "TRANSLATIONS_POD"  # variable: name of the pod
LAST_WORDS = "TRANSLATIONS_LAST_WORDS"  # variable: file from which the kubelet takes the termination message
SCRATCH = "/scratch"  # where the pod's own disk is mounted; the variable TMPDIR has to name it

_writing = threading.Lock()


@dataclass(frozen=True)
class Request:
    """An attempt and what the worker grants to it.

    store      URL of the store
    work       folder for work folders, in the store's file system where that is local
    threads    CPU slots that the runner holds for it
    gpus       ids of the machine's GPUs that the runner holds for it
    workspace  MB per GPU, or for the CPU
    memory     MB that the script may use
    grace      seconds between SIGTERM and SIGKILL of a script that shall end; a local worker that is
               cancelled has 8 for all of it
    host       name of the machine for the manifest; empty: that which it gives itself
    place      what else the manifest tells of where the step ran
    files      folders below which files lie that file:// URLs may name, in addition to those of the mirror
    unsaved_minutes  after which a script ends whose checkpoint sets cannot be stored
    """

    job: Job
    store: str
    work: str
    threads: int
    gpus: tuple[str, ...]
    workspace: int
    memory: int
    grace: float = 6.0
    host: str = ""
    place: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    unsaved_minutes: float = math.inf

    def to_bytes(self) -> bytes:
        """The request as a line."""
        return _json({**vars(self), "job": self.job.to_dict()}) + b"\n"

    @classmethod
    def from_bytes(cls, data: bytes) -> Request:
        """A request from what `to_bytes` gave."""
        value = json.loads(data)
        tuples = {name: tuple(value[name]) for name in ("gpus", "files")}
        return cls(**{**value, "job": Job.from_dict(value["job"]), **tuples})


@dataclass(frozen=True)
class PodRequest:
    """Attempts of one or more steps, that a pod makes one after the other.

    store     URL of the store
    gpus      GPUs that the deployment gives to the pod; one that sees fewer asks for another attempt
    machine   what the pod runs on, for the manifests: `spot` or `standard`
    files, unsaved_minutes  as in `Request`
    grace     seconds that the pod has from SIGTERM to SIGKILL
    """

    jobs: tuple[Job, ...]
    store: str
    gpus: int
    machine: str
    files: tuple[str, ...] = ()
    unsaved_minutes: float = math.inf
    grace: float = 60.0

    def to_bytes(self) -> bytes:
        """The request as JSON; equal requests give equal bytes."""
        return _json({**vars(self), "jobs": [job.to_dict() for job in self.jobs]}, sort_keys=True)

    @classmethod
    def from_bytes(cls, data: bytes) -> PodRequest:
        """A request from what `to_bytes` gave."""
        value = json.loads(data)
        tuples = {"jobs": tuple(map(Job.from_dict, value["jobs"])), "files": tuple(value["files"])}
        return cls(**{**value, **tuples})


@dataclass(frozen=True)
class Busy(Record):
    """Another worker owns the step: nothing was done."""


@dataclass(frozen=True)
class Detached(Record):
    """The orchestrator may end: the worker ends by itself, or goes on as other runs wait for the step."""


Ending: TypeAlias = Outcome | Busy
Reply: TypeAlias = JobEvent | Outcome | Busy | Detached
_REPLIES: Mapping[str, type[Reply]] = {kind.__name__: kind for kind in get_args(Reply)}


def pack_reply(reply: Reply, job: int = 0) -> bytes:
    """Encode the reply for the job of that number in the request, as a line."""
    return _json({"job": job, type(reply).__name__: reply.to_dict()}) + b"\n"


def unpack_reply(line: bytes) -> tuple[int, Reply]:
    """The job's number and the reply of a line. Raises ValueError for anything else.

    >>> unpack_reply(pack_reply(Busy(), 2))
    (2, Busy())
    """
    try:
        value = json.loads(line)
        number = int(value.pop("job"))
        ((kind, fields),) = value.items()
        return number, _REPLIES[kind].from_dict(fields)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"unknown reply {line[:80]!r}") from error


def write(lines: bytes) -> None:
    """Write whole lines to standard output, from any thread; when it is not read, they are lost."""
    with _writing, suppress(OSError):
        while lines:
            lines = lines[os.write(1, lines) :]


def _json(value: Mapping[str, Any], *, sort_keys: bool = False) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=sort_keys).encode()
