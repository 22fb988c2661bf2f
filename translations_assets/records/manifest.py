"""What the store keeps of a finished step, and small values around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from translations_assets.records import checked
from translations_assets.records.inside import check_name


@dataclass(frozen=True)
class Blob:
    """The contents of a file: SHA-256 (hex) and size in bytes."""

    digest: str
    size: int

    @classmethod
    def from_dict(cls, value: object) -> Blob:
        """Contents from what a record says of them; ValueError or KeyError for anything else."""
        known = checked.mapping(value)
        return cls(checked.sha256(known["digest"]), checked.count(known["size"]))


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
            yield Blob.from_dict(config)

    def files(self) -> Mapping[str, Blob]:
        """Input path → the contents that were placed there, made by other steps or of the repository."""
        return _blobs(self.provenance.get("files", {}))

    def to_dict(self) -> dict[str, Any]:
        """The manifest as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Manifest:
        """A manifest from what `to_dict` gave; ValueError, KeyError or TypeError for anything else."""
        checked.check_fields(value, _MANIFEST)
        checked.check_fields(value["provenance"], _PROVENANCE)
        if lacking := "code" in value["provenance"] and _PARTS - value["provenance"].keys():
            raise ValueError(f"provenance: it has no {min(lacking)}")
        fields = dict(value)
        fields["outputs"] = _blobs(value["outputs"])
        fields["bundle"] = Blob.from_dict(value["bundle"])
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
        """A ref from what `to_dict` gave; ValueError, KeyError or TypeError for anything else."""
        checked.check_fields(value, _REF)
        fields = dict(value)
        fields["steps"] = {label: checked.step(used) for label, used in value["steps"].items()}
        fields["outputs"] = {label: _blobs(blobs) for label, blobs in value["outputs"].items()}
        return cls(**fields)


@dataclass(frozen=True)
class Pin:
    """A run whose results are never collected, why, and since when."""

    run: str
    reason: str
    time: float

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Pin:
        """A pin from its JSON values; ValueError or TypeError for anything else."""
        checked.check_fields(value, _PIN)
        return cls(**value)


def _blobs(value: object) -> dict[str, Blob]:
    """File name → contents."""
    return checked.mapping_of(Blob.from_dict, check_name)(value)


_MANIFEST = {
    "key": checked.text,
    "generation": checked.count,
    "label": checked.text,
    "reason": checked.text,
    "provenance": checked.mapping,
    "attempt": checked.count,
    "host": checked.text,
    "started": checked.number,
    "ended": checked.number,
    "usage": checked.mapping_of(checked.number),
}
_WORKER = {
    **dict.fromkeys(("threads", "gpus", "workspace"), checked.count),
    "command": checked.list_of(checked.text),
}
_PARTS = {"script", "args", "inputs", "outputs", "libraries", "python", "env"}  # of a key, besides the code
_PROVENANCE = {
    **dict.fromkeys(("stage", "partition", "run", "script", "code", "python", "revision"), checked.text),
    **dict.fromkeys(("env", "libraries", "inputs"), checked.mapping_of(checked.text)),
    **dict.fromkeys(("args", "options"), checked.mapping),
    "outputs": checked.list_of(checked.text),
    "repeatable": checked.flag,
    "worker": lambda value: checked.check_fields(checked.mapping(value), _WORKER),
    "config": Blob.from_dict,
    "files": _blobs,
}
_REF = {
    **dict.fromkeys(("space", "partition", "stage", "run", "config_digest"), checked.text),
    "time": checked.number,
    "steps": checked.mapping_of(checked.step),
    "outputs": checked.mapping_of(_blobs),
}
_PIN = {"run": checked.text, "reason": checked.text, "time": checked.number}
