"""What the store keeps of a finished step, and small values around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Blob:
    """The contents of a file: SHA-256 (hex) and size in bytes."""

    digest: str
    size: int


@dataclass(frozen=True)
class Usage:
    """What an attempt used: wall-clock and CPU seconds, peak memory and disk in bytes; of its GPUs, how many,
    their mean utilisation (0 to 1), and the peak memory in bytes of all of them together.
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory: int = 0
    disk: int = 0
    gpus: int = 0
    gpu_utilisation: float = 0.0
    gpu_memory: int = 0


@dataclass(frozen=True)
class Manifest:
    """Generation n of a step's result; created once and never changed.

    outputs: file name → contents. provenance: script, args, inputs by digest, libraries, command …, as JSON,
    for people and for repeating the step; nothing in it is looked at when a key is looked up.
    """

    key: str
    generation: int
    outputs: Mapping[str, Blob]
    label: str
    reason: str
    bundle: Blob
    provenance: Mapping[str, Any]
    attempt: int
    host: str
    started: float
    ended: float
    usage: Usage = field(default_factory=Usage)

    @property
    def stage(self) -> str:
        """The stage that the step belongs to, empty when that was not recorded."""
        return str(self.provenance.get("stage", ""))

    def origins(self) -> Iterator[Blob]:
        """What was stored to repeat the step, besides its inputs: its code bundle and training config."""
        yield self.bundle
        if config := self.provenance.get("config"):
            yield Blob(**config)

    def files(self) -> Mapping[str, Blob]:
        """Input path → the contents that were placed there, made by other steps or of the repository."""
        return {path: Blob(**blob) for path, blob in self.provenance.get("files", {}).items()}

    def to_dict(self) -> dict[str, Any]:
        """The manifest as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Manifest:
        """A manifest from what `to_dict` gave; KeyError or TypeError when something is missing."""
        fields = dict(value)
        fields["outputs"] = {name: Blob(**blob) for name, blob in value["outputs"].items()}
        fields["bundle"] = Blob(**value["bundle"])
        fields["usage"] = Usage(**value["usage"])
        return cls(**fields)


@dataclass(frozen=True)
class Ref:
    """What one run published for one stage of a partition in a space: step label → (key, generation)."""

    space: str
    partition: str
    stage: str
    run: str
    time: float
    config_digest: str
    steps: Mapping[str, tuple[str, int]]
    outputs: Mapping[str, Mapping[str, Blob]]

    def to_dict(self) -> dict[str, Any]:
        """The ref as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Ref:
        """A ref from what `to_dict` gave."""
        fields = dict(value)
        fields["steps"] = {label: (key, generation) for label, (key, generation) in value["steps"].items()}
        fields["outputs"] = {
            label: {name: Blob(**blob) for name, blob in blobs.items()}
            for label, blobs in value["outputs"].items()
        }
        return cls(**fields)


@dataclass(frozen=True)
class Pin:
    """A run whose results are never collected, why, and since when."""

    run: str
    reason: str
    time: float

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Pin:
        """A pin from its JSON values."""
        return cls(**value)
