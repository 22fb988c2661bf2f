"""A module of the package, taken apart: its imports, and its other top-level statements as units.

A unit is what is reached, or left out, as a whole: a function, a class, a constant, or a statement that
counts as soon as its module is reached.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

from translations_assets.keys.code.errors import CodeError
from translations_assets.keys.code.scopes import Target
from translations_assets.keys.code.syntax import (
    FUNCTIONS,
    bound_names,
    is_for_type_checkers,
    is_idle,
    is_main_guard,
)
from translations_assets.keys.code.values import Values

PACKAGE = "pipeline"
Definition = Literal["symbol", "always", "guard"]


def is_internal(module: str) -> bool:
    """Whether a module belongs to the package."""
    return module.split(".")[0] == PACKAGE


class Imported(NamedTuple):
    """A name that a top-level import binds.

    loads  modules that the import runs
    """

    name: str
    target: Target
    alias: ast.alias
    node: ast.Import | ast.ImportFrom
    loads: tuple[str, ...]


@dataclass(eq=False)
class Unit:
    """A top-level statement other than an import.

    symbol  counts when one of the names it binds is used
    always  counts when its module is reached
    guard   `if __name__ == "__main__":`, counts when the module is run as a script
    """

    module: Module
    node: ast.stmt
    names: tuple[str, ...]
    kind: Definition

    @property
    def label(self) -> str:
        """What people call it: `pipeline.train.train:build_args`."""
        name = "<main>" if self.kind == "guard" else ",".join(self.names) or "<module>"
        return f"{self.module.name}:{name}"


@dataclass(eq=False)
class Module:
    """A parsed file (None for a folder without `__init__.py`).

    imports            name → the top-level imports that bind it
    definitions        name → the units that bind it, in their order
    has_effects        whether running the module may do more than define its names
    future_annotations whether type hints are kept as text
    """

    name: str
    path: Path | None
    source: str
    is_package: bool
    tree: ast.Module = field(repr=False)

    def __post_init__(self) -> None:
        self.imports: dict[str, list[Imported]] = {}
        self.definitions: dict[str, list[Unit]] = {}
        self.units: list[Unit] = []
        self.future_annotations = False
        self.has_effects = False
        statements = [node for node in self.tree.body if not is_idle(node)]
        for imported in (imported for node in statements for imported in self._imported(node)):
            self.imports.setdefault(imported.name, []).append(imported)
        self._take_apart([node for node in statements if not isinstance(node, (ast.Import, ast.ImportFrom))])

    @cached_property
    def mentioned(self) -> set[str]:
        """All names that stand anywhere in the module but in its imports."""
        return {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)}

    def all_imports(self) -> Iterator[Imported]:
        """The names that top-level imports bind, one by one."""
        return chain.from_iterable(self.imports.values())

    @property
    def guard(self) -> Unit | None:
        """What runs when the module is a script."""
        return next((unit for unit in self.units if unit.kind == "guard"), None)

    def absolute(self, node: ast.ImportFrom) -> str:
        """The full name of the module that `from … import` names."""
        if not node.level:
            return node.module or ""
        parts = self.name.split(".")
        kept = len(parts) - node.level + self.is_package
        if kept < 1:
            raise CodeError(
                f"{self.path}, line {node.lineno}: the relative import leaves {PACKAGE}/. Correct it."
            )
        return ".".join([*parts[:kept], *([node.module] if node.module else [])])

    def _imported(self, node: ast.stmt) -> Iterator[Imported]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                target = Target(alias.name if alias.asname else top)
                yield Imported(alias.asname or top, target, alias, node, (alias.name,))
        elif isinstance(node, ast.ImportFrom):
            module = self.absolute(node)
            for alias in node.names:
                if alias.name == "*":
                    raise CodeError(
                        f"{self.path}, line {node.lineno}: `import *` cannot be followed. Import by name."
                    )
                if module == "__future__":
                    self.future_annotations |= alias.name == "annotations"
                else:
                    target = Target(module, alias.name)
                    loads = (module, f"{module}.{alias.name}")
                    yield Imported(alias.asname or alias.name, target, alias, node, loads)

    def _take_apart(self, statements: list[ast.stmt]) -> None:
        names = [tuple(dict.fromkeys(bound_names(node))) for node in statements]
        bound = Counter(name for group in names for name in group)
        bound.update(name for name, imports in self.imports.items() for _ in imports)
        targets = {name: imports[-1].target for name, imports in self.imports.items()}
        external = {
            name: ".".join(filter(None, target))
            for name, target in targets.items()
            if not is_internal(target[0])
        }
        values = Values(external, set(targets) - set(external), bound)
        for node, group in zip(statements, names, strict=True):
            kind = _kind(node, values)
            self.has_effects |= kind == "always" and values.has_effects(node)
            if kind:
                unit = Unit(self, node, group, kind)
                self.units.append(unit)
                for name in group:
                    self.definitions.setdefault(name, []).append(unit)


def _kind(node: ast.stmt, values: Values) -> Definition | None:
    """What a statement is; None for one that only type checkers need."""
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        values.define(node.name)
        return "always" if values.may_register(node) else "symbol"
    if is_main_guard(node):
        return "guard"
    if (is_for_type_checkers(node) and not getattr(node, "orelse", [])) or _is_declaration(node):
        return None
    return "symbol" if values.is_constant(node) else "always"


def _is_declaration(node: ast.stmt) -> bool:
    return isinstance(node, ast.AnnAssign) and node.value is None
