"""Links the normal form of a unit: names become what they stand for, wherever that is defined; and follows
them.

So `import a.b as c; c.f`, `from a.b import f; f` and a re-export are one and the same, and a function that
moves to another module changes nothing for those who use it. What a script reaches is followed from its main
guard, through everything that is used, to all that counts.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Literal, TypeAlias, cast

from translations_assets.errors import CodeError
from translations_assets.keys.code.libraries import is_standard_library
from translations_assets.keys.code.modules import (
    PACKAGE,
    External,
    Found,
    Imported,
    Meaning,
    Module,
    Modules,
    Unit,
    Unknown,
    is_internal,
)
from translations_assets.keys.code.normalise import Normaliser, plain_tokens
from translations_assets.keys.code.syntax import ImportUse, Kind, Scope, Use, docstrings

Depth = Literal["names", "docs", "text"]

# What can see more of a module than the names that it uses:
# names  anything that the module defines or imports
# docs   docstrings, too
# text   the names of local variables and the type hints, too
_LOOKERS: dict[str, Depth] = {
    **dict.fromkeys(("globals", "getattr", "AttributeError", "ImportError", "ModuleNotFoundError"), "names"),
    **dict.fromkeys(("__doc__", "help"), "docs"),
    **dict.fromkeys(("locals", "eval", "exec", "compile", "vars", "dir"), "text"),
    **dict.fromkeys(("NameError", "UnboundLocalError"), "text"),
}
_EXTERNAL_LOOKERS: dict[str, Depth] = {"sys.modules": "names", "sys._getframe": "text", "inspect": "text"}
_EXTERNAL_LOOKERS |= {"typing.get_type_hints": "text"}
_ATTRIBUTE_LOOKERS: dict[str, Depth] = {"__doc__": "docs", "__dict__": "names", "__globals__": "names"}
_ATTRIBUTE_LOOKERS |= {"__annotations__": "text", "__code__": "text"}
_IMPORTERS = {"importlib.import_module", "importlib.__import__", "pkgutil", "runpy"}


@dataclass(frozen=True)
class Whole:
    """A module as something that is looked into as a whole, to some depth."""

    module: Module
    depth: Depth

    @property
    def label(self) -> str:
        """What people call it."""
        return f"{self.module.name}:<whole>"


Node: TypeAlias = "Unit | Whole"
Token: TypeAlias = "str | tuple[Node, ...]"


@dataclass
class Linked:
    """A linked node.

    tokens    the normal form; a tuple of nodes stands for a name that they define
    needs     nodes that must be there for it to run, although nothing of them can change what it does
    found     imports and modules on the way to everything it uses
    """

    tokens: list[Token] = field(default_factory=list)
    needs: set[Node] = field(default_factory=set)
    found: Found = field(default_factory=Found)

    @cached_property
    def nodes(self) -> frozenset[Node]:
        """The nodes that it refers to."""
        return frozenset(node for token in self.tokens if isinstance(token, tuple) for node in token)


class Linker:
    """Links nodes and remembers them."""

    def __init__(self, modules: Modules) -> None:
        self._modules = modules
        self._linked: dict[Node, Linked] = {}

    def link(self, node: Node) -> Linked:
        """The linked form of a node."""
        if node not in self._linked:
            if isinstance(node, Unit):
                linked = _UnitLinker(self._modules, node).run()
            else:
                linked = _link_whole(self._modules, node)
            linked.tokens = list(_merged(linked.tokens))
            self._linked[node] = linked
        return self._linked[node]


def hash_of(tokens: Iterable[str]) -> str:
    """SHA-256 (hex) of tokens; a null character, which none of them holds, keeps them apart."""
    return hashlib.sha256("\0".join(tokens).encode()).hexdigest()


def _merged(tokens: Iterable[Token]) -> Iterator[Token]:
    """The tokens with neighbouring texts joined: they are hashed more than once."""
    for are_texts, run in groupby(tokens, key=lambda token: isinstance(token, str)):
        if are_texts:
            yield "\0".join(cast(Iterable[str], run))
        else:
            yield from run


def _link_whole(modules: Modules, whole: Whole) -> Linked:
    module, linked = whole.module, Linked([whole.depth])
    for name in sorted({*module.definitions, *module.imports}):
        found = modules.lookup(module, name)
        linked.found.pass_by(found)
        linked.tokens.append(name)
        linked.tokens += (_mention(meaning) for meaning in found.meanings)
    linked.tokens.append(tuple(modules.always(module)))
    if whole.depth != "names":
        linked.tokens += sorted(ascii(text) for text in docstrings(module.tree))
    if whole.depth == "text":
        linked.tokens += sorted(hash_of(plain_tokens(unit.node)) for unit in module.units)
    return linked


def _mention(meaning: Meaning) -> Token:
    """What is behind a name, without looking into it when it is a module."""
    if isinstance(meaning, Unit):
        return (meaning,)
    if isinstance(meaning, Module):
        return f"module {meaning.name}"
    return f"@{meaning.path}" if isinstance(meaning, External) else f"?{meaning.name}"


class _UnitLinker:
    """Links one unit."""

    def __init__(self, modules: Modules, unit: Unit) -> None:
        self._modules = modules
        self._unit = unit
        self._module = unit.module
        self._linked = Linked()
        self._tokens = self._linked.tokens

    def run(self) -> Linked:
        """Normalise the unit, then say of each name what it stands for."""
        normal = Normaliser(PACKAGE, self._module.absolute)
        normal.visit(self._unit.node, Scope(Kind.MODULE))
        for token in normal.tokens:
            if isinstance(token, str):
                self._tokens.append(token)
            elif isinstance(token, Use):
                self._use(token)
            else:
                self._import(token)
        if normal.annotated and self._module.future_annotations:
            self._tokens.append("hints are text")
        for name in sorted(normal.attributes & _ATTRIBUTE_LOOKERS.keys()):
            self._look_into(self._module, _ATTRIBUTE_LOOKERS[name])
        if normal.attributes & {"__name__", "__qualname__"}:
            self._tokens += normal.functions
        for name in sorted(normal.strings):
            self._run_by_name(name)
        return self._linked

    def _use(self, use: Use) -> None:
        owner = use.scope.owner(use.name)
        if owner is None:
            if use.store and use.scope.kind is Kind.MODULE:
                self._tokens.append(f"bind {use.name}")
            else:
                self._use_global(use)
            return
        target = owner.imported(use.name)
        if target:
            found = self._modules.target(target, self._module, self._unit.node.lineno)
            self._refer(found, use.attributes)
            return
        if owner.kind is Kind.CLASS and not use.store:
            # Where it is read before the class has bound it, it is the module's.
            self._tokens.append("(either")
            self._refer(self._modules.lookup(self._module, use.name), use.attributes)
            self._tokens.append(")")
        self._write(owner.token(use.name), use.attributes)

    def _use_global(self, use: Use) -> None:
        found = self._modules.lookup(self._module, use.name)
        if found.meanings:
            self._refer(found, use.attributes)
        else:
            self._built_in(use.name, use.attributes)

    def _built_in(self, name: str, attributes: tuple[str, ...] = ()) -> None:
        if name == "__import__":
            self._refuse_import(name)
        if name in _LOOKERS:
            self._look_into(self._module, _LOOKERS[name])
        self._write(f"${name}", attributes)

    def _write(self, token: str, attributes: tuple[str, ...] = ()) -> None:
        self._tokens.append(token)
        self._tokens += (f".{attribute}" for attribute in attributes)

    def _refer(self, found: Found, attributes: tuple[str, ...]) -> None:
        """Write what a name with attributes stands for."""
        self._linked.found.pass_by(found)
        if len(found.meanings) == 1:
            self._mean(found.meanings[0], attributes)
            return
        self._tokens.append("(one of")
        for meaning in found.meanings:
            self._mean(meaning, attributes)
        self._tokens.append(")")

    def _mean(self, meaning: Meaning, attributes: tuple[str, ...]) -> None:
        if isinstance(meaning, Unit):
            self._tokens.append((meaning,))
            self._tokens += (f".{attribute}" for attribute in attributes)
            if "__doc__" in attributes:
                self._look_into(meaning.module, "docs")
        elif isinstance(meaning, External):
            self._refer_outside(".".join((meaning.path, *attributes)))
        elif isinstance(meaning, Module):
            self._refer_module(meaning, attributes)
        else:
            self._look_into(meaning.module, "docs" if meaning.name == "__doc__" else "names")
            self._write(f"?{meaning.name}", attributes)

    def _refer_module(self, module: Module, attributes: tuple[str, ...]) -> None:
        if attributes:
            self._refer(self._modules.attribute(module, attributes[0]), attributes[1:])
        else:
            self._look_into(module, "names")  # passed on as a value: anything in it may be used

    def _refer_outside(self, path: str) -> None:
        parts = path.split(".")
        prefixes = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
        if prefixes & _IMPORTERS:
            self._refuse_import(path)
        if parts[0] == "builtins" and len(parts) > 1:
            self._built_in(parts[1], tuple(parts[2:]))
            return
        for prefix in sorted(prefixes & _EXTERNAL_LOOKERS.keys()):
            self._look_into(self._module, _EXTERNAL_LOOKERS[prefix])
        self._tokens.append(f"@{path}")

    def _refuse_import(self, how: str) -> None:
        raise CodeError(
            f"{self._unit.label} uses {how}: what it imports cannot be followed, so no key could cover it. "
            "Use an import statement (it may stand inside the function)."
        )

    def _look_into(self, module: Module, depth: Depth) -> None:
        self._tokens.append((Whole(module, depth),))

    def _import(self, use: ImportUse) -> None:
        found = self._modules.target(use.target, self._module, use.line)
        if not use.name:
            self._linked.found.pass_by(found)
        elif use.scope.owner(use.name) is use.scope and use.scope.imported(use.name):
            # Its uses say what it stands for; it must be there even when nothing uses it.
            self._linked.found.pass_by(found)
            for meaning in found.meanings:
                if isinstance(meaning, Unit):
                    self._linked.needs.add(meaning)
                elif isinstance(meaning, Unknown):
                    self._linked.needs.add(Whole(meaning.module, "names"))
        else:
            self._tokens.append("(import")
            self._refer(found, ())
            self._use(Use(use.scope, use.name, store=True))
            self._tokens.append(")")

    def _run_by_name(self, name: str) -> None:
        """A string that names a module: another process may run it."""
        module = self._modules.get(name) if all(map(str.isidentifier, name.split("."))) else None
        if module:
            self._linked.found.modules.add(module)
            self._tokens.append((module.guard,) if module.guard else (Whole(module, "names"),))


@dataclass
class Reach:
    """What counts for a script.

    nodes     units, and modules that are looked into as a whole
    modules   modules that run, packages included
    imports   top-level imports that are needed, as (module, name bound there)
    external  top-level names of modules from outside the package
    effects   those modules, in full, that are imported for nothing but what importing them does
    """

    nodes: set[Node] = field(default_factory=set)
    modules: set[Module] = field(default_factory=set)
    imports: set[tuple[Module, str]] = field(default_factory=set)
    external: set[str] = field(default_factory=set)
    effects: set[str] = field(default_factory=set)

    def is_whole(self, module: Module) -> bool:
        """Whether all of a module counts."""
        return any(isinstance(node, Whole) and node.module is module for node in self.nodes)


class Reacher:
    """Follows one script."""

    def __init__(self, modules: Modules, linker: Linker) -> None:
        self._modules = modules
        self._linker = linker
        self._reach = Reach()
        self._waiting: list[Node] = []

    def reach(self, script: Module) -> Reach:
        """Everything that counts when a module is run as a script."""
        self._add_module(script)
        self._waiting += [script.guard] if script.guard else []
        while self._waiting:
            node = self._waiting.pop()
            if node not in self._reach.nodes:
                self._add_node(node)
        self._add_unused_imports()
        return self._reach

    def _add_node(self, node: Node) -> None:
        self._reach.nodes.add(node)
        self._add_module(node.module)
        linked = self._linker.link(node)
        self._waiting += (*linked.nodes, *linked.needs)
        self._add_found(linked.found)

    def _add_found(self, found: Found) -> None:
        self._reach.imports |= found.imports
        self._reach.external |= found.external
        for module in (*found.modules, *(module for module, _ in found.imports)):
            self._add_module(module)

    def _add_module(self, module: Module) -> None:
        if module in self._reach.modules:
            return
        self._reach.modules.add(module)
        self._waiting += self._modules.always(module)
        for parent in self._modules.parents(module):
            self._add_module(parent)
        for imported in module.all_imports():
            for loaded in self._modules.loaded(imported):
                if self._modules.has_effects(loaded):
                    self._add_module(loaded)

    def _add_unused_imports(self) -> None:
        """Modules from outside that are imported and used nowhere: for what importing them does.

        Only `import module`: a name taken from a module, or given to one, was once used, perhaps in a hint.
        Where a function has moved away, its imports stay behind: a library that is used anyway has no effect.
        """
        used = set(self._reach.external)
        for module in self._reach.modules:
            for name, imports in module.imports.items():
                modules = {imported.loads[0] for imported in imports if _is_plain(imported)}
                top = imports[-1].target.module.split(".")[0]
                if not modules or is_internal(top) or is_standard_library(top):
                    continue
                if (module, name) not in self._reach.imports and name not in module.mentioned:
                    self._reach.imports.add((module, name))
                    self._reach.external.add(top)
                    self._reach.effects |= modules - used


def _is_plain(imported: Imported) -> bool:
    return isinstance(imported.node, ast.Import) and imported.alias.asname is None
