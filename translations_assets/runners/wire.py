"""What a runner and its worker say to each other: one JSON object a line.

To the worker, once: a `Request`. From the worker: any number of events, then an outcome, `busy` or
`detached`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

from translations_assets.records.manifest import Manifest
from translations_assets.running.job import Job, JobEvent, Outcome


@dataclass(frozen=True)
class Request:
    """An attempt and what the worker grants to it.

    store      URL of the store
    work       folder for work folders, in the store's file system where that is local
    threads    CPU slots that the runner holds for it
    gpus       ids of the machine's GPUs that the runner holds for it
    workspace  MB per GPU, or for the CPU
    grace      seconds between SIGTERM and SIGKILL of a script that shall end; a local worker that is let go
               has 8 for all of it
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
    grace: float = 6.0
    host: str = ""
    place: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    unsaved_minutes: float = math.inf


@dataclass(frozen=True)
class Busy:
    """Another worker owns the step: nothing was done."""


@dataclass(frozen=True)
class Detached:
    """The orchestrator may go: the worker ends by itself, or goes on because other runs wait for the step."""


Ending: TypeAlias = "Outcome | Busy"
Reply: TypeAlias = "JobEvent | Outcome | Busy | Detached"


def pack_request(request: Request) -> bytes:
    """A request as a line."""
    return _line({**vars(request), "job": request.job.to_dict()})


def unpack_request(line: bytes) -> Request:
    """The request of a line."""
    value = json.loads(line)
    tuples = {name: tuple(value[name]) for name in ("gpus", "files")}
    return Request(**{**value, "job": Job.from_dict(value["job"]), **tuples})


def pack_reply(reply: Reply) -> bytes:
    """A reply as a line."""
    return _line(reply_values(reply))


def reply_values(reply: Reply) -> dict[str, Any]:
    """The reply's kind → its JSON values."""
    manifest = reply.manifest if isinstance(reply, Outcome) else None
    made = {"manifest": manifest.to_dict()} if manifest else {}
    return {type(reply).__name__: asdict(reply) | made}


def unpack_reply(line: bytes) -> Reply:
    """The reply of a line. Raises ValueError for anything else."""
    ((kind, value),) = json.loads(line).items()
    if kind == "JobEvent":
        return JobEvent(**value)
    if kind == "Outcome":
        manifest = value.pop("manifest")
        return Outcome(**value, manifest=Manifest.from_dict(manifest) if manifest else None)
    if kind in ("Busy", "Detached"):
        return Busy() if kind == "Busy" else Detached()
    raise ValueError(f"unknown reply {kind!r}")


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"
