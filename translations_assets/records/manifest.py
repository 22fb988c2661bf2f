"""The manifest of a finished step, and small values around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from translations_assets.records.canonical import json_digest
from translations_assets.records.checked import FileName, Record, Sha256, mapping
from translations_assets.records.cost import PAID, Cost
from translations_assets.records.run import RunOptions

FORMAT = 1  # of keys; changes with the meaning of a key: every step runs again


@dataclass(frozen=True)
class Blob(Record):
    """The contents of a file: SHA-256 (hex) and size in bytes."""

    digest: Sha256
    size: int


@dataclass(frozen=True)
class Usage(Record):
    """Resources of an attempt: wall-clock and CPU seconds, peak memory and disk in bytes; its GPUs, with
    their mean utilisation (0 to 1), and the peak memory in bytes of all of them together.

    earlier_seconds  wall-clock seconds of the attempts before it, as far as they have logs
    tokens_read      of a service's model, and those that it wrote: of all attempts
    characters       of a text that a service was asked for which is paid by them: of all attempts
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory: int = 0
    disk: int = 0
    gpus: int = 0
    gpu_utilisation: float = 0.0
    gpu_memory: int = 0
    earlier_seconds: float = 0.0
    tokens_read: int = 0
    tokens_written: int = 0
    characters: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The use as JSON values, without earlier attempts, tokens and characters where there were none."""
        values = super().to_dict()
        for name in ("earlier_seconds", *PAID):
            if not values[name]:
                del values[name]
        return values

    @property
    def all_seconds(self) -> float:
        """Wall-clock seconds of all attempts."""
        return self.seconds + self.earlier_seconds


@dataclass(frozen=True)
class KeyParts(Record):
    """The parts of a key; `explain` compares them.

    code  the digest of the code that the script reaches; empty for an artifact whose key had another form
    """

    script: str = ""
    code: str = ""
    args: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    libraries: Mapping[str, str] = field(default_factory=dict)
    python: str = ""
    env: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """The key: SHA-256 (hex) of the parts as canonical JSON."""
        return json_digest({"format": FORMAT, **self.to_dict()})


@dataclass(frozen=True)
class Worker(Record):
    """The program of a worker, the threads and GPUs that it gave, and the memory (MB) of Marian's workspace.

    others  where it ran, and the versions of what it ran with, for people
    """

    command: tuple[str, ...] = ()
    threads: int = 1
    gpus: int = 0
    workspace: int | None = None
    others: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The worker as JSON values, the others among them."""
        values = super().to_dict()
        others = values.pop("others")
        return {**values, **others}

    @classmethod
    def from_dict(cls, value: object) -> Worker:
        """A worker from what `to_dict` gave; ValueError for anything else."""
        known = {part.name for part in fields(cls)}
        others = {name: inner for name, inner in mapping(value).items() if name not in known}
        return super().from_dict({**mapping(value), "others": others})


@dataclass(frozen=True)
class Provenance(Record):
    """The origin of a result, for people and for repeating the step; a key is looked up without it.

    files     input path → the contents that were placed there, made by other steps or of the repository
    config    the training config
    options   what was asked of the run
    revision  of the repository
    """

    parts: KeyParts = field(default_factory=KeyParts)
    stage: str = ""
    repeatable: bool | None = None
    files: Mapping[FileName, Blob] = field(default_factory=dict)
    run: str = ""
    partition: str = ""
    config: Blob | None = None
    options: RunOptions = field(default_factory=RunOptions)
    revision: str = ""
    worker: Worker | None = None

    def to_dict(self) -> dict[str, Any]:
        """The provenance as JSON values, the parts of the key among them; what is not known is left out."""
        values = super().to_dict()
        if not values["options"]:
            del values["options"]
        return {**values.pop("parts"), **values}

    @classmethod
    def from_dict(cls, value: object) -> Provenance:
        """A provenance from what `to_dict` gave; ValueError for anything else."""
        known = mapping(value)
        if "code" in known and (
            lacking := [part.name for part in fields(KeyParts) if part.name not in known]
        ):
            raise ValueError(f"it has no {lacking[0]}")
        return super().from_dict({**known, "parts": known})


@dataclass(frozen=True)
class Manifest(Record):
    """Generation n of a step's result; created once and never changed.

    outputs  file name → contents
    reason   why it was made, in artifacts of earlier versions; since then the run's record says it
    """

    key: str
    generation: int
    outputs: Mapping[FileName, Blob]
    label: str
    reason: str = field(default="", kw_only=True)
    bundle: Blob
    provenance: Provenance
    attempt: int
    host: str
    started: float
    ended: float
    usage: Usage = field(default_factory=Usage)

    @property
    def stage(self) -> str:
        """The stage that the step belongs to, empty when that was not recorded."""
        return self.provenance.stage

    @property
    def cost(self) -> Cost:
        """The cost of all attempts at it; processor time of the last as that of the others."""
        usage = self.usage
        times = usage.all_seconds / usage.seconds if usage.seconds else 1.0
        return self._time.times(times) + self._tokens

    @property
    def last_cost(self) -> Cost:
        """The cost of the attempt that made it, with the tokens of all of them, which were paid once."""
        return self._time + self._tokens

    @property
    def _time(self) -> Cost:
        worker, usage = self.provenance.worker, self.usage
        gpus = worker.gpus if worker else 0
        return Cost(usage.seconds, 0.0 if gpus else usage.cpu_seconds, usage.seconds * gpus)

    @property
    def _tokens(self) -> Cost:
        return Cost(**{name: vars(self.usage)[name] for name in PAID})

    def origins(self) -> Iterator[Blob]:
        """Files stored to repeat the step, besides its inputs: its code bundle and training config."""
        yield self.bundle
        if self.provenance.config:
            yield self.provenance.config


@dataclass(frozen=True)
class Ref(Record):
    """The results a run published for a stage of a partition in a space: step label → (key, generation)."""

    space: str
    partition: str
    stage: str
    run: str
    time: float
    steps: Mapping[str, tuple[str, int]]
    outputs: Mapping[str, Mapping[FileName, Blob]]


@dataclass(frozen=True)
class Pin(Record):
    """A run whose results are never collected, why, and since when.

    gone  labels of steps whose results were not there any more when the run was pinned
    """

    run: str
    reason: str
    time: float
    gone: tuple[str, ...] = ()


@dataclass(frozen=True)
class Publication(Record):
    """A place that a result was copied to for others, and the time."""

    key: str
    generation: int
    url: str
    time: float
