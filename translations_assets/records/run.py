"""What a run tells the store of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from translations_assets.records import checked
from translations_assets.records.options import RunOptions


@dataclass(frozen=True)
class RunRecord:
    """A run: what was asked of it, when it was last known to go on, and the results that it uses.

    pair    source and target language
    config  the digest of the training config
    stages  those that it was asked for
    uses    label → key and generation
    """

    run: str = ""
    partition: str = ""
    space: str = ""
    pair: tuple[str, ...] = ()
    config: str = ""
    options: RunOptions = field(default_factory=RunOptions)
    stages: tuple[str, ...] = ()
    started: float | None = None
    heartbeat: float = 0.0
    ended: float | None = None
    uses: Mapping[str, tuple[str, int]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON values; what is not known is left out."""
        values = {**vars(self), "options": self.options.to_dict()}
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> RunRecord:
        """A record from what `to_dict` gave; ValueError when a field is not what it ought to be."""
        read = {}
        for name, check in _FIELDS.items():
            if name in value:
                try:
                    read[name] = check(value[name])
                except ValueError as error:
                    raise ValueError(f"{name}: {error}") from error
        return cls(**read)


_FIELDS: dict[str, Any] = {
    **dict.fromkeys(("run", "partition", "space", "config"), checked.text),
    **dict.fromkeys(("started", "heartbeat", "ended"), checked.number),
    **dict.fromkeys(("pair", "stages"), lambda value: tuple(checked.list_of(checked.text)(value))),
    "options": lambda value: RunOptions.from_dict(checked.mapping(value)),
    "uses": checked.mapping_of(checked.step),
}
