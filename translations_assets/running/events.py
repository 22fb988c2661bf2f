"""Events of steps, which the engine reports while it runs them, and at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from translations_assets.graph.step import Step
from translations_assets.records.manifest import Manifest


@dataclass(frozen=True)
class StepEvent:
    """Something that happened to a step, for progress displays.

    cached, done  detail: {"manifest"}; waiting, started, progress  detail as in JobEvent, and when it started
    {"log"}; explained, after it has started  detail: {"reason"}; notice, for people to know while it runs,
    and retry  detail: {"message"}; failed  detail: {"message"} and, if it ran, {"log"}; cancelled  detail: {}

    A log is named by its step's key and generation.
    """

    kind: Literal[
        "cached",
        "waiting",
        "started",
        "explained",
        "progress",
        "notice",
        "done",
        "retry",
        "failed",
        "cancelled",
    ]
    step: Step
    detail: Mapping[str, Any] = field(default_factory=dict)


Listener = Callable[[StepEvent], None]


@dataclass(frozen=True)
class StepResult:
    """A finished step: its manifest, and whether it was there before; why it ran, where the run made it."""

    step: Step
    manifest: Manifest
    cached: bool
    reason: str = ""
