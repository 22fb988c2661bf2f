"""Events of steps, which the engine reports while it runs them, and results, at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from translations_assets.graph.step import Step
from translations_assets.records.checked import Record
from translations_assets.records.manifest import Manifest


@dataclass(frozen=True)
class Event(Record):
    """Something that happens to a step.

    kind  its name in the log of a run: `started`
    """

    kind: ClassVar[str]

    def __init_subclass__(cls) -> None:
        cls.kind = cls.__name__.lower()


@dataclass(frozen=True)
class Waiting(Event):
    """It waits: for another run's worker, which makes its result, or nothing was heard of it for long."""

    message: str


@dataclass(frozen=True)
class Started(Event):
    """The script of an attempt has begun: its process, its threads, the ids of its GPUs."""

    pid: int = 0
    threads: int = 0
    gpus: tuple[str, ...] = ()


@dataclass(frozen=True)
class Progress(Event):
    """Live numbers, an object that the script wrote as a line."""

    numbers: Mapping[str, Any]


@dataclass(frozen=True)
class Explained(Event):
    """It is known by now why it was started."""

    reason: str


@dataclass(frozen=True)
class Notice(Event):
    """Something that people have to know while it runs."""

    message: str


@dataclass(frozen=True)
class Retry(Event):
    """An attempt has ended, and another one follows."""

    message: str


@dataclass(frozen=True)
class Cached(Event):
    """Its result was there before. A server does not tell the manifest."""

    manifest: Manifest | None = None


@dataclass(frozen=True)
class Done(Event):
    """Its result is made. A server does not tell the manifest."""

    manifest: Manifest | None = None


@dataclass(frozen=True)
class Failed(Event):
    """It has failed. A server tells the reason with the failure of the asset."""

    message: str = ""


@dataclass(frozen=True)
class Cancelled(Event):
    """It was ended, as the run was cancelled."""


JobEvent: TypeAlias = Waiting | Started | Progress
"""Something that happens while an attempt runs, or waits."""


@dataclass(frozen=True)
class StepEvent:
    """Something that has happened to a step.

    log  the step's, by key and generation, where an attempt has just begun or has failed
    """

    step: Step
    what: Event
    log: tuple[str, int] | None = None


Listener = Callable[[StepEvent], None]


@dataclass(frozen=True)
class StepResult:
    """A finished step: its manifest, and whether it was there before; why it ran, where the run made it."""

    step: Step
    manifest: Manifest
    cached: bool
    reason: str = ""
