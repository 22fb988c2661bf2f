"""What changed between two states of the code that a script reaches, symbol by symbol, and which of these
changes have to be accepted so that the script's digest is again what it was.

For the second whatever is hashed is compared with its namesake in the earlier code: what is referred to
first, then what refers to it, the script as a whole. Where the hashes differ
although all below is equal or accepted, a change is noted and the earlier hash goes on upwards. So a change
is noted where it was made, and the hash that is accepted covers all that the code there reaches, new helpers
included.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from translations_assets.errors import CodeError
from translations_assets.keys.code.accepted import Accepted, Change
from translations_assets.keys.code.fingerprint import CodeBase, Hashed
from translations_assets.keys.code.link import Node, Whole
from translations_assets.keys.code.modules import Unit
from translations_assets.keys.code.syntax import FUNCTIONS, bound_names, is_idle


def code_changes(old: CodeBase, new: CodeBase, script: str) -> list[str]:
    """`pipeline.train.train: function build_args changed`, in the order of modules and names.

    What has only moved to another module is left out, as it changes no fingerprint. Of a class that changed,
    its members are named. Where a change was accepted, and why modules count as a whole, is said.

    Raises CodeError when one of the two lacks the script or cannot be read.
    """
    before, why = old.fingerprint(script).why_whole, new.fingerprint(script).why_whole
    if why and not before:
        return [_whole(script, why)]
    parts = old.fingerprint(script).parts, new.fingerprint(script).parts
    nodes = old.nodes(script), new.nodes(script)
    gone = {label: parts[0][label] for label in parts[0].keys() - parts[1].keys()}
    come = {label: parts[1][label] for label in parts[1].keys() - parts[0].keys()}
    moved = {_moved(label, own) for label, own in gone.items()} & {
        _moved(label, own) for label, own in come.items()
    }
    found = [
        (label, f"{_name(nodes[side][label])} {word}")
        for side, labels, word in ((0, gone, "removed"), (1, come, "added"))
        for label, own in labels.items()
        if _moved(label, own) not in moved
    ]
    for label in parts[0].keys() & parts[1].keys():
        if parts[0][label] != parts[1][label]:
            found += ((label, text) for text in _changes(old, new, nodes[0][label], nodes[1][label]))
    accepted = {change.symbol: change.reason for change in new.fingerprint(script).accepted}
    lines = [
        f"{label.partition(':')[0]}: {text}{f' (accepted: {accepted[label]})' if label in accepted else ''}"
        for label, text in sorted(found)
    ]
    return [*lines, _whole(script, why)] if lines and why else lines


def _whole(script: str, why: str) -> str:
    return f"{script}: all modules that it may run count, with all that stands in them: {why}"


def _moved(label: str, own: str) -> tuple[str, str]:
    return label.partition(":")[2], own


def _changes(old: CodeBase, new: CodeBase, before: Sequence[Node], after: Sequence[Node]) -> Iterator[str]:
    """One line, or one for each member of a class that changed."""
    members = _members(old, before), _members(new, after)
    changed = [
        name
        for name in dict.fromkeys([*members[0], *members[1]])
        if members[0].get(name) != members[1].get(name)
    ]
    if not changed:
        yield f"{_name(after)} changed"
    for name in changed:
        word = "removed" if name not in members[1] else "changed" if name in members[0] else "added"
        yield f"{name} {word}"


def _members(code: CodeBase, nodes: Sequence[Node]) -> dict[str, str]:
    """Name → hash of each member of a class, or of a module that counts as a whole; else nothing."""
    unit = nodes[0]
    if isinstance(unit, Whole):
        return {_name([one]): code.own_hash(one) for one in unit.module.units}
    if len(nodes) > 1 or not isinstance(unit.node, ast.ClassDef):
        return {}
    hashes: dict[str, str] = {}
    for statement in unit.node.body:
        if not is_idle(statement):
            name = _member(unit.node.name, statement)
            hashes[name] = hashes.get(name, "") + code.own_hash(Unit(unit.module, statement, ()))
    return hashes


def _member(owner: str, statement: ast.stmt) -> str:
    names = ", ".join(f"{owner}.{name}" for name in dict.fromkeys(bound_names(statement)))
    return f"method {names}" if isinstance(statement, FUNCTIONS) else f"attribute {names or owner}"


def _name(nodes: Sequence[Node]) -> str:
    """What people call a part of the code."""
    node = nodes[0]
    if isinstance(node, Whole):
        return "module"
    if node.is_guard:
        return "main guard"
    names = ", ".join(node.names)
    if isinstance(node.node, FUNCTIONS):
        return f"function {names}"
    if isinstance(node.node, ast.ClassDef):
        return f"class {names}"
    return f"constant {names}" if names else "top-level code"


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
        self.hashes[_named(hashed, self.names)] = digest
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
        name = _named(hashed, self.names)
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


def _named(hashed: Hashed, names: dict[Node, _Name]) -> _Name:
    return (hashed, 0, 0) if isinstance(hashed, str) else names[hashed]


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
