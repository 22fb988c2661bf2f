"""Finds the changes of code that have to be accepted so that a script's digest is again what it was.

Whatever is hashed is compared with its namesake in the earlier code: what is referred to first, then what
refers to it, a module's top-level statements, the script as a whole. Where the hashes differ although all
below is equal or accepted, a change is noted and the earlier hash goes on upwards. So a change is noted where
it was made, and the hash that is accepted covers all that the code there reaches, new helpers included.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TypeAlias

from translations_assets.keys.code.accepted import Accepted, Change
from translations_assets.keys.code.digests import Hashed
from translations_assets.keys.code.errors import CodeError
from translations_assets.keys.code.fingerprint import CodeBase
from translations_assets.keys.code.link import Node
from translations_assets.keys.code.module import Module

_Name: TypeAlias = "tuple[str, int, int]"  # a label, which it is of those that have it, and of how many


@dataclass(frozen=True)
class Acceptance:
    """What to accept, what the script's digest then is, and what it is for the earlier code."""

    changes: tuple[Change, ...]
    digest: str
    earlier: str


def find_changes(
    old: CodeBase, new: CodeBase, script: str, accepted: Accepted, reason: str, symbol: str = ""
) -> Acceptance:
    """The changes to be accepted in addition to those in `accepted`; none when the digests are equal.

    With a symbol only what it reaches is accepted. Raises CodeError when the script does not reach it.
    """
    within = _below(new, script, symbol) if symbol else None
    changes: list[Change] = []
    while True:  # an accepted hash counts wherever it is met, also in what was hashed before it was noted
        known = Accepted([*accepted.changes, *changes])
        before = _Before(known, _names(old, script))
        earlier = old.digest_with(script, before.resolve)
        finder = _Finder(known, _names(new, script), before, reason, within)
        digest = new.digest_with(script, finder.resolve)
        if not finder.changes:
            return Acceptance(tuple(changes), digest, earlier)
        changes += finder.changes


@dataclass
class _Before:
    """Hashes the earlier code; keeps by name what each hash is."""

    accepted: Accepted
    names: dict[Node, _Name]
    hashes: dict[_Name, str] = field(default_factory=dict)

    def resolve(self, hashed: Hashed, digest: str) -> str:
        self.hashes[_name(hashed, self.names)] = digest
        return self.accepted.oldest(digest)


@dataclass
class _Finder:
    """Hashes the present code; notes the changes and goes on as if they were accepted."""

    accepted: Accepted
    names: dict[Node, _Name]
    before: _Before
    reason: str
    within: Collection[Hashed] | None
    changes: list[Change] = field(default_factory=list)

    def resolve(self, hashed: Hashed, digest: str) -> str:
        known = Accepted([*self.accepted.changes, *self.changes]) if self.changes else self.accepted
        now = known.oldest(digest)
        name = _name(hashed, self.names)
        old = self.before.hashes.get(name)
        if old is None or known.oldest(old) == now or (self.within is not None and hashed not in self.within):
            return now
        self.changes.append(Change(name[0], old, now, self.reason))
        return known.oldest(old)


def _names(code: CodeBase, script: str) -> dict[Node, _Name]:
    return {
        node: (label, number, len(nodes))
        for label, nodes in code.nodes(script).items()
        for number, node in enumerate(nodes)
    }


def _name(hashed: Hashed, names: dict[Node, _Name]) -> _Name:
    if isinstance(hashed, str):
        return hashed, 0, 0
    return (f"{hashed.name}:<module>", 0, 0) if isinstance(hashed, Module) else names[hashed]


def _below(code: CodeBase, script: str, symbol: str) -> set[Hashed]:
    """The nodes of a symbol, and all that they refer to."""
    waiting = list(code.nodes(script).get(symbol, ()))
    if not waiting:
        raise CodeError(f"{script} does not reach {symbol}. Name it as `pipeline.module:function`.")
    below: set[Hashed] = set()
    while waiting:
        node = waiting.pop()
        if node not in below:
            below.add(node)
            waiting += code.linked(node).nodes
    return below
