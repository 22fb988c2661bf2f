"""The state of a step before it runs: for the engine, which resolves it, and for plans, which show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from translations_assets.graph.step import Step
from translations_assets.records.manifest import KeyParts, Manifest

Status = Literal["cached", "run", "maybe", "lost"]


@dataclass(frozen=True)
class StepState:
    """The state of a step, and the reasons.

    cached  `manifest` counts; or its files are lost, and all that is made from them is whole
    run     it will run, as `generation`: no result for its key, or the run repeats its stage; the store may
            have lost files of `manifest`
    maybe   its inputs are not known yet: it runs if a step before it that will run changes one (early cutoff)
    lost    its result was made, is damaged or missing, cannot be repeated byte by byte, and is needed

    parts   of its key; None for a given result, and while they are not known
    """

    step: Step
    status: Status
    reasons: tuple[str, ...] = ()
    parts: KeyParts | None = None
    manifest: Manifest | None = None

    @property
    def key(self) -> str | None:
        """The key of the result, or that it would have; None while it is not known."""
        return self.manifest.key if self.manifest else self.parts.digest if self.parts else None

    @property
    def generation(self) -> int:
        """The generation that making it now would have."""
        return self.manifest.generation + 1 if self.manifest else 1
