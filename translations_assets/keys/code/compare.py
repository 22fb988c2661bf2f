"""What changed between two states of the code that a script reaches, symbol by symbol, for people."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from translations_assets.keys.code.fingerprint import CodeBase
from translations_assets.keys.code.link import Node, Whole
from translations_assets.keys.code.module import Unit
from translations_assets.keys.code.syntax import FUNCTIONS, bound_names, is_idle


def code_changes(old: CodeBase, new: CodeBase, script: str) -> list[str]:
    """`pipeline.train.train: function build_args changed`, in the order of modules and names.

    What has only moved to another module is left out, as it changes no fingerprint. Of a class that changed,
    its members are named. Where a change was accepted, that is said.

    Raises CodeError when one of the two lacks the script or cannot be read.
    """
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
    return [
        f"{label.partition(':')[0]}: {text}{f' (accepted: {accepted[label]})' if label in accepted else ''}"
        for label, text in sorted(found)
    ]


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
    """Name → hash of each member of a class; nothing for anything else."""
    unit = nodes[0]
    if len(nodes) > 1 or not isinstance(unit, Unit) or not isinstance(unit.node, ast.ClassDef):
        return {}
    hashes: dict[str, str] = {}
    for statement in unit.node.body:
        if not is_idle(statement):
            name = _member(unit.node.name, statement)
            hashes[name] = hashes.get(name, "") + code.own_hash(Unit(unit.module, statement, (), "symbol"))
    return hashes


def _member(owner: str, statement: ast.stmt) -> str:
    names = ", ".join(f"{owner}.{name}" for name in dict.fromkeys(bound_names(statement)))
    return f"method {names}" if isinstance(statement, FUNCTIONS) else f"attribute {names or owner}"


def _name(nodes: Sequence[Node]) -> str:
    """What people call a part of the code."""
    node = nodes[0]
    if isinstance(node, Whole):
        return "what is seen of the module by looking into it as a whole"
    if node.kind == "guard":
        return "main guard"
    names = ", ".join(node.names)
    if isinstance(node.node, FUNCTIONS):
        return f"function {names}"
    if isinstance(node.node, ast.ClassDef):
        return f"class {names}"
    if node.kind == "symbol":
        return f"constant {names}"
    return f"top-level code ({names})" if names else "top-level code"
