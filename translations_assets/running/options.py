"""What a person asks of one run, besides its partition and its target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from translations_assets.keys.key import json_digest


@dataclass(frozen=True)
class RunOptions:
    """How a run differs from "make what is missing".

    start         a stage, by any of its names: it and everything made from it run although cached
    previous_run  id of a run whose results stand for the stages before `start`, whatever their keys
    force         use results of `previous_run` that do not fit
    repair        make lost results again
    overrides     keys of the training config, dotted or nested, that have other values in this run
    """

    start: str = ""
    previous_run: str = ""
    force: bool = False
    repair: bool = False
    overrides: Mapping[str, Any] = field(default_factory=dict)

    def ref_partitions(self, partition: str) -> tuple[str, ...]:
        """The names under which refs of such a run of a partition stand, that of its own refs first.

        A run with overrides has a name of its own, and uses what there is under the partition's.
        """
        if not self.overrides:
            return (partition,)
        return f"{partition}@{json_digest(self.overrides)[:12]}", partition

    def to_dict(self) -> dict[str, Any]:
        """What was asked for, as JSON values; what was not asked for is left out."""
        return {name: value for name, value in vars(self).items() if value}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> RunOptions:
        """Options from what `to_dict` gave; TypeError for an unknown name."""
        return cls(**value)
