"""The modules of the package, taken apart, and what a name in one of them stands for, through imports and re-
exports.

A module has imports, and its other top-level statements are units. A unit is what is reached, or left out, as
a whole: a function, a class, a constant, or a statement that counts as soon as its module is reached.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from translations_assets.errors import CodeError
from translations_assets.keys.code.syntax import (
    FUNCTIONS,
    Target,
    bound_names,
    dotted,
    is_for_type_checkers,
    is_idle,
    is_main_guard,
    parse,
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


@dataclass(frozen=True)
class External:
    """Something from outside the package, by its dotted name."""

    path: str


@dataclass(frozen=True)
class Unknown:
    """An attribute that a module does not visibly have: made at run time, or missing."""

    module: Module
    name: str


Meaning: TypeAlias = "External | Module | Unit | Unknown"


@dataclass
class Found:
    """What a name may stand for, and what is passed on the way to it.

    imports   top-level imports followed, as (module, name bound there)
    modules   modules of the package that those imports run
    external  top-level names of modules from outside the package
    """

    meanings: list[Meaning] = field(default_factory=list)
    imports: set[tuple[Module, str]] = field(default_factory=set)
    modules: set[Module] = field(default_factory=set)
    external: set[str] = field(default_factory=set)

    def add(self, other: Found) -> None:
        """Take over what another look-up found."""
        self.meanings += [meaning for meaning in other.meanings if meaning not in self.meanings]
        self.pass_by(other)

    def pass_by(self, other: Found) -> None:
        """Take over what another look-up passed on its way."""
        self.imports |= other.imports
        self.modules |= other.modules
        self.external |= other.external


class Modules:
    """Reads and remembers modules; `root` is the folder that holds the package."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._modules: dict[str, Module | None] = {}
        self._names: dict[tuple[Module, str], Found] = {}
        self._effects: dict[Module, bool] = {}
        self._always: dict[Module, list[Unit]] = {}

    def get(self, name: str) -> Module | None:
        """A module of the package, None when there is none of that name."""
        if name not in self._modules:
            self._modules[name] = self._read(name) if is_internal(name) else None
        return self._modules[name]

    def require(self, name: str, importer: Module | None = None, line: int = 0) -> Module:
        """A module of the package that must exist; the error names who imports it."""
        module = self.get(name)
        if module is None:
            where = f"{importer.path}, line {line} imports it" if importer else f"looked for in {self.root}"
            raise CodeError(f"There is no module {name} ({where}). Correct the name, or add the file.")
        return module

    def _read(self, name: str) -> Module | None:
        base = self.root.joinpath(*name.split("."))
        for path, is_package in ((base / "__init__.py", True), (base.with_name(base.name + ".py"), False)):
            if path.is_file():
                return _parse(name, path, is_package)
        return Module(name, None, "", True, ast.Module([], [])) if base.is_dir() else None

    def parents(self, module: Module) -> Iterator[Module]:
        """The packages that a module is in, the outermost first; they run before it."""
        parts = module.name.split(".")
        for length in range(1, len(parts)):
            yield self.require(".".join(parts[:length]))

    def loaded(self, imported: Imported) -> list[Module]:
        """The modules of the package that a top-level import runs."""
        return [module for name in imported.loads if (module := self.get(name))]

    def lookup(self, module: Module, name: str) -> Found:
        """What a module's name may stand for; nothing for built-in names and those only type checkers see."""
        found = self._names.get((module, name))
        if found is None:
            found = self._names[module, name] = Found([*module.definitions.get(name, [])])
            for imported in module.imports.get(name, []):
                found.add(self._imported(module, imported))
        return found

    def _imported(self, module: Module, imported: Imported) -> Found:
        found = Found(imports={(module, imported.name)}, modules={*self.loaded(imported)})
        found.add(self.target(imported.target, module, imported.node.lineno))
        return found

    def target(self, target: Target, importer: Module, line: int) -> Found:
        """What an import binds."""
        if not is_internal(target.module):
            path = ".".join(filter(None, target))
            return Found([External(path)], external={path.split(".")[0]})
        module = self.require(target.module, importer, line)
        found = Found([] if target.attribute else [module], modules={module})
        if target.attribute:
            found.add(self.attribute(module, target.attribute))
        return found

    def attribute(self, module: Module, name: str) -> Found:
        """What an attribute of a module may stand for."""
        found = self.lookup(module, name)
        if found.meanings:
            return found
        submodule = self.get(f"{module.name}.{name}") if module.is_package else None
        return Found([submodule], modules={submodule}) if submodule else Found([Unknown(module, name)])

    def has_effects(self, module: Module) -> bool:
        """Whether importing a module may do more than define names, in it or in what it imports."""
        if module not in self._effects:
            self._effects[module] = any(
                loaded.has_effects or any(unit.kind == "symbol" for unit in self.always(loaded))
                for loaded in self._all_loaded(module)
            )
        return self._effects[module]

    def always(self, module: Module) -> list[Unit]:
        """The units that count as soon as a module is reached; classes that a base may register, too."""
        if module not in self._always:
            units = module.units
            self._always[module] = [
                unit for unit in units if unit.kind == "always" or self._is_registered(unit)
            ]
        return self._always[module]

    def _is_registered(self, unit: Unit) -> bool:
        """Whether a class has a base in the package that, or a metaclass, that learns of its subclasses."""
        bases = getattr(unit.node, "bases", [])
        found = (self.lookup(unit.module, names[0]) for names in map(dotted, bases) if names)
        classes = [meaning for base in found for meaning in base.meanings if isinstance(meaning, Unit)]
        return any(_has_hook(base.node) or self._is_registered(base) for base in classes if base is not unit)

    def _all_loaded(self, module: Module) -> set[Module]:
        seen: set[Module] = set()
        waiting = [module]
        while waiting:
            current = waiting.pop()
            if current not in seen:
                seen.add(current)
                waiting += self.parents(current)
                waiting += (other for imported in current.all_imports() for other in self.loaded(imported))
        return seen


def _has_hook(node: ast.stmt) -> bool:
    methods = {getattr(method, "name", "") for method in getattr(node, "body", [])}
    return "__init_subclass__" in methods or bool(getattr(node, "keywords", []))


def _parse(name: str, path: Path, is_package: bool) -> Module:
    try:
        source = path.read_text(encoding="utf-8-sig")
        return Module(name, path, source, is_package, parse(source, str(path)))
    except SyntaxError as error:
        raise CodeError(
            f"{path}, line {error.lineno}: {error.msg}. Correct it; nothing can run from it."
        ) from error
    except ValueError as error:  # not UTF-8, or a null byte
        raise CodeError(f"{path} is not Python in UTF-8: {error}.") from error
