"""What changed between two states of the code that a script reaches, symbol by symbol."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from translations_assets.keys.code.fingerprint import CodeBase
from translations_assets.keys.code.modules import Unit
from translations_assets.keys.code.syntax import FUNCTIONS, bound_names, is_idle


def code_changes(old: CodeBase, new: CodeBase, script: str) -> list[str]:
    """`pipeline.train.train: function build_args changed`, in the order of modules and names.

    What has only moved to another module is left out, as it changes no fingerprint. Of a class that changed,
    its members are named. Why modules count as a whole is said.

    Raises CodeError when one of the two lacks the script or cannot be read.
    """
    before, after = old.fingerprint(script), new.fingerprint(script)
    whole = f"{script}: all modules that it may run count, with all that stands in them: {after.why_whole}"
    if after.own == before.own:
        return []
    if after.why_whole and not before.why_whole:
        return [whole]
    lines = [f"{label.partition(':')[0]}: {text}" for label, text in sorted(_differences(old, new, script))]
    return [*lines, *([whole] if after.why_whole else [])]


def _differences(old: CodeBase, new: CodeBase, script: str) -> Iterator[tuple[str, str]]:
    """Labels, and what is to be said of them."""
    before, after = old.units(script), new.units(script)
    gone = {label: _moving(old, before[label]) for label in before.keys() - after.keys()}
    come = {label: _moving(new, after[label]) for label in after.keys() - before.keys()}
    for label in gone:
        if gone[label] not in come.values():
            yield label, f"{_name(before[label])} removed"
    for label in come:
        if come[label] not in gone.values():
            yield label, f"{_name(after[label])} added"
    for label in before.keys() & after.keys():
        if _moving(old, before[label]) != _moving(new, after[label]):
            for text in _changes(old, new, before[label], after[label]):
                yield label, text


def _moving(code: CodeBase, units: Sequence[Unit]) -> tuple[str, ...]:
    """What stays the same when code moves to another module."""
    return (units[0].short_name, *map(code.own_hash, units))


def _changes(old: CodeBase, new: CodeBase, before: Sequence[Unit], after: Sequence[Unit]) -> Iterator[str]:
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


def _members(code: CodeBase, units: Sequence[Unit]) -> dict[str, str]:
    """Name → hash of each member of a class; else nothing."""
    node = units[0].node
    if len(units) > 1 or not isinstance(node, ast.ClassDef):
        return {}
    hashes: dict[str, str] = {}
    for statement in node.body:
        if not is_idle(statement):
            name = _member(node.name, statement)
            hashes[name] = hashes.get(name, "") + code.own_hash(Unit(units[0].module, statement, ()))
    return hashes


def _member(owner: str, statement: ast.stmt) -> str:
    names = ", ".join(f"{owner}.{name}" for name in dict.fromkeys(bound_names(statement)))
    return f"method {names}" if isinstance(statement, FUNCTIONS) else f"attribute {names or owner}"


def _name(units: Sequence[Unit]) -> str:
    """What people call a part of the code."""
    node, names = units[0].node, ", ".join(units[0].names)
    if units[0].is_guard:
        return "main guard"
    if isinstance(node, FUNCTIONS):
        return f"function {names}"
    if isinstance(node, ast.ClassDef):
        return f"class {names}"
    return f"constant {names}" if names else "top-level code"
