"""The modules of the package, taken apart, and what a name in one of them stands for, through imports and re-
exports.

A module has imports, and its other top-level statements are units: functions, classes, constants, the guard,
and whatever else stands there. What each name stands for is said of modules in plain form (`plain.py`), in
which every name is bound once.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from translations_assets.common.errors import CodeError
from translations_assets.keys.code.libraries import is_standard_library
from translations_assets.keys.code.outside import names_code
from translations_assets.keys.code.syntax import bound_names, children, is_idle, is_main_guard, parse

PACKAGE = "pipeline"


def is_internal(module: str) -> bool:
    """True if a module belongs to the package."""
    return module.split(".")[0] == PACKAGE


class Imported(NamedTuple):
    """A name that an import binds, to a module or to an attribute of it (which may be a submodule).

    loads  modules that the import runs
    """

    importer: Module
    name: str
    module: str
    attribute: str
    alias: ast.alias
    node: ast.Import | ast.ImportFrom
    loads: tuple[str, ...]

    @property
    def is_internal(self) -> bool:
        """True if it imports something of the package."""
        return is_internal(self.module)

    @property
    def path(self) -> str:
        """What it binds, dotted."""
        return f"{self.module}.{self.attribute}" if self.attribute else self.module


@dataclass(eq=False)
class Unit:
    """A top-level statement other than an import; it is reached, or left out, as a whole."""

    module: Module
    node: ast.stmt
    names: tuple[str, ...]
    is_guard: bool = False  # whether it is what runs when the module is a script

    @property
    def short_name(self) -> str:
        """Its name without its module, so that a move does not change it."""
        return "<main>" if self.is_guard else ",".join(self.names) or "<module>"

    @property
    def label(self) -> str:
        """What people call it: `pipeline.train.train:build_args`."""
        return f"{self.module.name}:{self.short_name}"


@dataclass(eq=False)
class Module:
    """A parsed file (None for a folder without `__init__.py`).

    imports            name → the top-level imports that bind it, as `import a.b` and `import a.c` do
    definitions        name → the unit that binds it
    guard              what runs when the module is a script
    future_annotations whether type hints are kept as text
    """

    name: str
    path: Path | None
    source: str
    is_package: bool
    tree: ast.Module = field(repr=False)
    coding: str = "utf-8"

    def __post_init__(self) -> None:
        self.imports: dict[str, list[Imported]] = {}
        self.definitions: dict[str, Unit] = {}
        self.units: list[Unit] = []
        self.future_annotations = False
        for node in self.tree.body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for imported in self.imported(node):
                    self.imports.setdefault(imported.name, []).append(imported)
                future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
                self.future_annotations |= future and any(one.name == "annotations" for one in node.names)
            elif not is_idle(node):
                unit = Unit(self, node, tuple(dict.fromkeys(bound_names(node))), is_main_guard(node))
                self.units.append(unit)
                self.definitions |= dict.fromkeys(unit.names, unit)
        self.guard = next((unit for unit in self.units if unit.is_guard), None)

    @property
    def docstring(self) -> str:
        """What `__doc__` is in functions of the module, as a token."""
        return f"docstring {ast.get_docstring(self.tree, clean=False)!a}"

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        """All nodes but those of statements that do nothing, as docstrings are."""
        found: list[ast.AST] = [self.tree]
        for node in found:
            found += [] if is_idle(node) else children(node)
        return found

    @cached_property
    def everywhere_imported(self) -> list[Imported]:
        """The names that import statements bind, wherever they stand."""
        statements = (node for node in self._nodes if isinstance(node, (ast.Import, ast.ImportFrom)))
        return [imported for node in statements for imported in self.imported(node)]

    @cached_property
    def texts(self) -> set[str]:
        """All literal texts but those of statements."""
        constants = (node.value for node in self._nodes if isinstance(node, ast.Constant))
        return {value for value in constants if isinstance(value, str)}

    @cached_property
    def names_files(self) -> bool:
        """True if a literal text may name code that nothing imports."""
        return any(map(names_code, self.texts))

    def imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[Imported]:
        """The names that an import binds, one by one."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                bound = alias.name if alias.asname else top
                yield Imported(self, alias.asname or top, bound, "", alias, node, (alias.name,))
        elif node.module != "__future__":
            module = node.module or ""
            for alias in node.names:
                if alias.name == "*" or node.level:
                    what = f"`{ast.unparse(node)}` cannot be followed. Import by name"
                    raise CodeError(f"{self.path}, line {node.lineno}: {what}, from the module's full name.")
                loads = (module, f"{module}.{alias.name}")
                yield Imported(self, alias.asname or alias.name, module, alias.name, alias, node, loads)


class Found(NamedTuple):
    """What a name stands for, and the imports that lead there.

    meaning  a dotted name where it is from outside the package, or where a module does not visibly have it;
             None for built-in names
    which    the name, where a unit binds several
    """

    meaning: str | Module | Unit | None
    imports: frozenset[Imported] = frozenset()
    which: str = ""


class Modules:
    """Reads and remembers modules; `root` is the folder that holds the package."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._modules: dict[str, Module | None] = {}
        self._names: dict[tuple[Module, str], Found] = {}
        self.named_modules: set[Module] = set()  # that literal texts name: other processes may run them
        self._libraries: dict[Module, frozenset[str]] = {}
        self._run: dict[Module, frozenset[Module]] = {}

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
        """The modules of the package that an import runs."""
        return [module for name in imported.loads if (module := self.get(name))]

    def lookup(self, module: Module, name: str) -> Found:
        """What a module's name stands for."""
        found = self._names.get((module, name))
        if found is None:
            imports, unit = module.imports.get(name), module.definitions.get(name)
            found = Found(unit, which=name if unit and len(unit.names) > 1 else "")
            found = self._names[module, name] = self.follow(*imports) if imports else found
        return found

    def follow(self, *imports: Imported) -> Found:
        """What imports bind to one name: what the last of them does."""
        last = imports[-1]
        if not last.is_internal:
            return Found(last.path, frozenset(imports))
        module = self.require(last.module, last.importer, last.node.lineno)
        found = self.attribute(module, last.attribute) if last.attribute else Found(module)
        return found._replace(imports=found.imports.union(imports))

    def attribute(self, module: Module, name: str) -> Found:
        """What an attribute of a module stands for."""
        found = self.lookup(module, name)
        submodule = self.get(f"{module.name}.{name}") if module.is_package else None
        return found if found.meaning else Found(submodule or f"{module.name}.{name}")

    def _run_by(self, module: Module) -> frozenset[Module]:
        """The modules of the package that a module runs: parents, imports, what it names by a text."""
        if module not in self._run:
            imported = chain.from_iterable(map(self.loaded, module.everywhere_imported))
            named = filter(None, map(self.named, module.texts))
            self._run[module] = frozenset((*self.parents(module), *imported, *named))
        return self._run[module]

    def libraries(self, imported: Imported) -> frozenset[str]:
        """The libraries that an import loads, by their top-level names."""
        if not imported.is_internal:
            top = imported.module.split(".")[0]
            return frozenset(() if is_standard_library(top) else [top])
        module = self.get(imported.path) or self.require(imported.module)
        if module not in self._libraries:
            imports = (one for other in self.all_run_by(module) for one in other.everywhere_imported)
            libraries = (self.libraries(one) for one in imports if not one.is_internal)
            self._libraries[module] = frozenset(chain.from_iterable(libraries))
        return self._libraries[module]

    def named(self, text: str) -> Module | None:
        """The module whose full name a text is: another process may run it."""
        is_name = text.startswith(f"{PACKAGE}.") and all(map(str.isidentifier, text.split(".")))
        module = self.get(text) if is_name else None
        self.named_modules |= {module} if module else set()
        return module

    def all_run_by(self, script: Module) -> list[Module]:
        """All modules of the package that a script may run, by name."""
        seen, waiting = {script}, [script]
        for module in waiting:
            waiting += self._run_by(module) - seen
            seen.update(waiting)
        if any(module.names_files for module in seen):
            files = (path.relative_to(self.root) for path in (self.root / PACKAGE).rglob("*.py"))
            seen |= {
                self.require(".".join(path.with_suffix("").parts).removesuffix(".__init__")) for path in files
            }
        return sorted(seen, key=lambda module: module.name)


def encoding_of(data: bytes) -> str:
    """The encoding that a file's first two lines declare; `utf-8` where there is none."""
    return tokenize.detect_encoding(io.BytesIO(data).readline)[0]


def _parse(name: str, path: Path, is_package: bool) -> Module:
    try:
        data = path.read_bytes()
        coding = encoding_of(data)
        source = data.decode(coding).replace("\r\n", "\n").replace("\r", "\n")
        return Module(name, path, source, is_package, parse(source, str(path)), coding.removesuffix("-sig"))
    except SyntaxError as error:
        raise CodeError(
            f"{path}, line {error.lineno or 1}: {error.msg}. Correct it; nothing can run from it."
        ) from error
    except ValueError as error:  # not UTF-8, or a null byte
        raise CodeError(f"{path} is not Python in UTF-8: {error}.") from error
