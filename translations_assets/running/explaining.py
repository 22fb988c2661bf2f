"""Finds out why steps run, after they have started."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TypeAlias

from translations_assets.graph.step import Step
from translations_assets.records.manifest import KeyParts
from translations_assets.running.session import Session

EXPLAINERS = 8  # steps that are explained at once: mostly they wait for the store
NO_RESULT = "no result for its key"  # where nobody can explain more

Explain: TypeAlias = Callable[[Session, Step, KeyParts], Sequence[str]]

_log = logging.getLogger(__name__)


@dataclass
class Explaining:
    """Explains each step of a run once, for the run's record.

    That takes a while, as earlier artifacts are read and graphs of earlier configs are made, so no step waits
    for it to start.

    explain  says why a step runs that has no result for its key; None where nobody can
    pool     does the work
    cancel   set when the run is cancelled, and nobody wants to know any more
    tell     gets a step and why it runs
    """

    session: Session
    explain: Explain | None
    pool: Executor
    cancel: threading.Event
    tell: Callable[[Step, str], None]
    _begun: set[Step] = field(default_factory=set)

    def begin(self, step: Step, parts: KeyParts, reasons: Sequence[str]) -> None:
        """Explain a step that has started, unless it has before; `reasons` are those known already."""
        if step not in self._begun:
            self._begun.add(step)
            self.pool.submit(self._explain, step, parts, reasons)

    def _explain(self, step: Step, parts: KeyParts, reasons: Sequence[str]) -> None:
        if self.cancel.is_set():
            return
        try:
            if self.explain and not reasons:
                reasons = self.explain(self.session, step, parts)
        except Exception:  # it stops nothing
            _log.warning("why %s runs cannot be explained", step.label, exc_info=True)
        reason = "; ".join(reasons) or NO_RESULT
        self.session.progress.note_reason(step, reason)
        self.tell(step, reason)
