"""A job: a step whose inputs are known, ready to be run by a worker anywhere; and how its attempt ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from translations_assets.records.manifest import Blob, Manifest

if TYPE_CHECKING:
    from translations_assets.graph.step import WorkerClass


@dataclass(frozen=True)
class Job:
    """One attempt of a step. The worker needs this, the store and an environment with the libraries; no code.

    command  options of the script; paths are relative to the work folder: inputs below `in/`, output `out`
    inputs   path below `in/` → contents
    outputs  names of files that must stand in `out` afterwards, not empty
    bundle   tar of the reached source code, unpacked to `code/`, the script's only import path besides the
             environment's libraries
    secrets  names of variables that the worker passes on from its own environment
    programs program of the system that the script runs → the version that the key stands for
    machine  kind of machine that the training config asks for, `spot` or `standard`; empty: the deployment's
    """

    key: str
    generation: int
    attempt: int
    label: str
    reason: str
    script: str
    command: tuple[str, ...]
    inputs: Mapping[str, Blob]
    outputs: tuple[str, ...]
    bundle: Blob
    worker: WorkerClass
    resumable: bool = False
    stage: str = ""
    machine: str = ""
    secrets: tuple[str, ...] = ()
    programs: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The job as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Job:
        """A job from what `to_dict` gave."""
        fields = dict(value)
        fields["command"] = tuple(value["command"])
        fields["outputs"] = tuple(value["outputs"])
        fields["secrets"] = tuple(value["secrets"])
        fields["inputs"] = {path: Blob.from_dict(blob) for path, blob in value["inputs"].items()}
        fields["bundle"] = Blob.from_dict(value["bundle"])
        return cls(**fields)


@dataclass(frozen=True)
class Outcome:
    """How an attempt ended.

    done       the manifest that counts (perhaps another worker's)
    failed     the script's own fault: bad input, a bug; another attempt would fail as well
    temporary  the machine, the network, the store: worth another attempt (exit 75, killed, out of memory …)
    cancelled  ended because it was asked for

    unreachable: temporary, and it was the store that could not be reached, not the step's own machine
    """

    kind: Literal["done", "failed", "temporary", "cancelled"]
    manifest: Manifest | None = None
    message: str = ""
    log_tail: str = ""
    unreachable: bool = False


@dataclass(frozen=True)
class JobEvent:
    """Something that happened while an attempt ran.

    started   the script has begun, detail: {"pid", "threads", "gpus"}
    progress  one line of live numbers that the script wrote, detail: that object
    """

    kind: Literal["started", "progress"]
    label: str
    detail: Mapping[str, Any]
