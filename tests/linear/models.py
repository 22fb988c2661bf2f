"""The objects of a store, as they are when operations are done one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tests.linear.checker import Operation
from translations_assets.store.bucket.leases import LAPSED_AFTER


class Step:
    """A step's manifests: the first of each generation counts.

    commit  (generation, name) → the name of the manifest that counts
    latest  → [generation, name] of the highest generation, [] when there is none
    """

    start: frozenset[tuple[int, str]] = frozenset()

    def after(self, state: frozenset[tuple[int, str]], operation: Operation) -> Iterator[object]:
        """See `Model`."""
        counts = dict(state)
        if operation.kind == "latest":
            if operation.result == (list(max(state)) if state else []):
                yield state
            return
        generation, name = operation.argument
        first = counts.get(generation)
        if first is None and operation.result in (None, name):
            yield state | {(generation, name)}
        elif first is not None and operation.result in (None, first):
            yield state


class Refs:
    """A stage's refs.

    add   name → true
    refs  → the names of all, in any order
    """

    start: frozenset[str] = frozenset()

    def after(self, state: frozenset[str], operation: Operation) -> Iterator[object]:
        """See `Model`."""
        if operation.kind == "add":
            yield state | {operation.argument}
        elif operation.result == sorted(state):
            yield state


class Held(NamedTuple):
    """A lease.

    owner    who holds it; empty when nobody does
    renewed  when its last renewal that may have worked was called
    token    the highest that an owner had
    """

    owner: str = ""
    renewed: float = 0.0
    token: int = 0


@dataclass(frozen=True)
class Lease:
    """A step's lease, which is renewed in time, or taken over.

    acquire  → the owner's token, 0 when another holds it
    renew    → true; false when another holds it
    release

    has_tokens  whether a later owner's token is greater
    """

    period: float
    has_tokens: bool = True
    start: Held = Held()

    def after(self, state: Held, operation: Operation) -> Iterator[Held]:
        """See `Model`."""
        who, result = operation.who, operation.result
        if operation.kind == "acquire":
            if result == 0:
                if state.owner:
                    yield state
            elif self._is_free(state, operation) and not self._is_behind(state, result):
                yield Held(who, operation.called, result or state.token)
        elif operation.kind == "renew":
            if state.owner == who and result is not False:
                yield state._replace(renewed=operation.called)
            elif state.owner != who and not result:
                yield state
        else:
            yield state._replace(owner="") if state.owner == who else state

    def _is_free(self, state: Held, operation: Operation) -> bool:
        """True if nobody holds it, or it was not renewed for so long that it may be taken over."""
        return not state.owner or operation.returned - state.renewed >= LAPSED_AFTER * self.period

    def _is_behind(self, state: Held, token: int | None) -> bool:
        return self.has_tokens and token is not None and token <= state.token
