"""Which steps of different graphs are the same: by all that a config decides, before any key is known."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeVar

from translations_assets.graph.step import Output, Step

Named = TypeVar("Named")


class Identities:
    """Digests of steps. Steps with one digest have one key as soon as it is known; see `keys/key.py`."""

    def __init__(self) -> None:
        self._known: dict[Step, str] = {}

    def of(self, step: Step) -> str:
        """The digest (hex) of a step's script, arguments, outputs and programs, and of what it reads."""
        if step not in self._known:
            files = {
                path: [self.of(handle.step), handle.name] if isinstance(handle, Output) else repr(handle)
                for path, handle in step.files().items()
            }
            settled = [step.script, dict(step.args), list(step.outputs), list(step.programs), files]
            text = json.dumps(settled, sort_keys=True)
            self._known[step] = hashlib.sha256(text.encode()).hexdigest()
        return self._known[step]

    def several(self, graphs: Iterable[Iterable[Step]]) -> int:
        """The number of different steps that more than one graph has."""
        counts = Counter(identity for steps in graphs for identity in {self.of(step) for step in steps})
        return sum(count > 1 for count in counts.values())

    def first(self, steps: Iterable[tuple[Step, Named]]) -> Iterator[tuple[Step, Named]]:
        """Of steps, each with something that belongs to it, the first of those that are the same."""
        seen = set[str]()
        for step, named in steps:
            if (identity := self.of(step)) not in seen:
                seen.add(identity)
                yield step, named
