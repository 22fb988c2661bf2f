"""Links the normal form of a unit: names become what they stand for, wherever that is defined.

So `import a.b as c; c.f`, `from a.b import f; f` and a re-export are one and the same, and a function that
moves to another module changes nothing for those who use it. That is sound where all modules are in plain
form (`plain.py`) and nothing looks at code (`outside.py`); else modules count whole (`reach.py`).
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
from translations_assets.keys.code import outside
from translations_assets.keys.code.modules import (
    External,
    Found,
    Meaning,
    Module,
    Modules,
    Unit,
    Unknown,
)
from translations_assets.keys.code.normalise import Normaliser
from translations_assets.keys.code.syntax import ImportUse, Kind, Scope, Use

Depth = Literal["code", "text"]  # in normal form, or as the file is

_IMPORTERS = {"importlib.import_module", "importlib.__import__", "pkgutil", "runpy"}
# What is made by these knows the module that they are called in, as classes do.
_KNOW_MODULE = {
    "collections.namedtuple",
    "typing.NamedTuple",
    "typing.NewType",
    "typing.TypeVar",
    "typing.ParamSpec",
}

_FORMATTERS = {"icu4py.messageformat.MessageFormat"}  # whose `format` looks at no attributes


@dataclass(frozen=True)
class Whole:
    """A module that counts as a whole."""

    module: Module
    depth: Depth

    @property
    def label(self) -> str:
        """What people call it."""
        return f"{self.module.name}:<whole>"


Node: TypeAlias = "Unit | Whole"
Token: TypeAlias = "str | Node"


@dataclass
class Linked:
    """A linked node.

    tokens      the normal form; a node stands for a name that it defines
    needs       nodes that must be there for it to run, although nothing of them can change what it does
    found       imports and modules on the way to everything it uses
    looks       what of it looks at code, or may; empty when nothing does
    patches     what it changes of modules, those from outside the package with @
    """

    tokens: list[Token] = field(default_factory=list)
    needs: set[Node] = field(default_factory=set)
    found: Found = field(default_factory=Found)
    looks: str = ""
    patches: set[str] = field(default_factory=set)

    @cached_property
    def nodes(self) -> frozenset[Node]:
        """The nodes that it refers to."""
        return frozenset(token for token in self.tokens if not isinstance(token, str))


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
                linked = Linked([node.depth, *_whole(node)])
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


def _whole(whole: Whole) -> Iterator[str]:
    """A module as a whole, names as they are written."""
    module = whole.module
    if whole.depth == "text":
        yield hash_of([module.source])
        return
    normal = Normaliser(module.absolute, all_hints=not module.future_annotations)
    normal.block(module.tree.body, Scope(Kind.MODULE))
    yield "hints are text" if module.future_annotations else "hints are run"
    for token in normal.tokens:
        if isinstance(token, Use):
            owner = token.scope.owner(token.name)
            name = owner.token(token.name, token.store) if owner else token.name
            if name == "__doc__":
                yield module.docstring
            yield ".".join((name, *token.attributes))
        else:
            yield f"import {token.name} {token.target}" if isinstance(token, ImportUse) else token


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
        normal = Normaliser(self._module.absolute)
        normal.visit(self._unit.node, Scope(Kind.MODULE))
        self._knows_module = normal.classes
        for token in normal.tokens:
            if isinstance(token, str):
                self._tokens.append(token)
            elif isinstance(token, Use):
                self._use(token)
            else:
                self._import(token)
        if normal.annotated and self._module.future_annotations:
            self._tokens.append("hints are text")
        if self._knows_module:
            self._tokens.append(f"in {self._module.name}")
        self._check(sorted(normal.attributes))
        for use in normal.assigned:
            self._assigned(use)
        for text in sorted(normal.texts):
            if module := self._modules.named(text):
                self._run(module)
            elif outside.names_code(text):
                self._looks(f"the text {text!a:.60} may name code")
        if not all(map(self._is_literal, normal.formats)):
            self._looks("`format` of a text that is no literal may show any attribute")
        return self._linked

    def _check(self, attributes: Iterable[str]) -> None:
        for attribute in filter(outside.shows_code, attributes):
            self._looks(f"`.{attribute}` may show code")

    def _is_literal(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            unit = self._modules.lookup(self._module, node.id).meaning
            return isinstance(unit, Unit) and isinstance(getattr(unit.node, "value", None), ast.Constant)
        function = (
            self._module.imports.get(node.func.id)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            else None
        )
        return isinstance(node, ast.Constant) or (
            function is not None and ".".join(map(str, function.target)) in _FORMATTERS
        )

    def _looks(self, why: str) -> None:
        self._linked.looks = self._linked.looks or why

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
            self._refer(self._modules.target(target, self._module, self._unit.node.lineno), use)
            return
        if owner.kind is Kind.CLASS and not use.store:
            # Where it is read before the class has bound it, it is the module's.
            self._tokens.append("(either")
            found = self._modules.lookup(self._module, use.name)
            self._tokens.append("nothing") if found.meaning is None else self._refer(found, use)
            self._tokens.append(")")
        self._write(owner.token(use.name, use.store or use.scope is not owner), use.attributes)

    def _use_global(self, use: Use) -> None:
        found = self._modules.lookup(self._module, use.name)
        if found.meaning:
            self._refer(found, use)
        else:
            self._built_in(use)

    def _built_in(self, use: Use) -> None:
        name = use.name
        if name == "__import__":
            self._refuse_import(name)
        if name == "__doc__" and use.scope.kind is not Kind.CLASS:  # which has its own
            self._tokens.append(self._module.docstring)
        elif name in ("__name__", "type"):
            self._knows_module |= use.attributes != ("()",)
        elif not outside.is_built_in(name) and not use.hint:
            self._looks(f"`{name}` may look at code")
        self._write(f"${name}", use.attributes)

    def _write(self, token: str, attributes: tuple[str, ...] = ()) -> None:
        self._check(attributes)
        self._tokens.append(token)
        self._tokens += (f".{attribute}" for attribute in attributes)

    def _refer(self, found: Found, use: Use) -> None:
        """Write what a name with attributes stands for."""
        self._linked.found.pass_by(found)
        if found.meaning:
            self._mean(found.meaning, use.attributes)

    def _mean(self, meaning: Meaning, attributes: tuple[str, ...]) -> None:
        if isinstance(meaning, Unit):
            self._check(attributes)
            self._tokens.append(meaning)
            self._tokens += (f".{attribute}" for attribute in attributes)
        elif isinstance(meaning, External):
            self._refer_outside(".".join((meaning.path, *attributes)))
        elif isinstance(meaning, Unknown):
            self._looks(f"{meaning.module.name} does not visibly have the name {meaning.name}")
            self._write(f"?{meaning.name}", attributes)
        elif attributes:
            found = self._modules.attribute(meaning, attributes[0])
            self._linked.found.pass_by(found)
            self._mean(found.meaning or Unknown(meaning, attributes[0]), attributes[1:])
        else:
            self._looks(f"the module {meaning.name} is used as a value")

    def _refer_outside(self, path: str) -> None:
        parts = path.split(".")
        prefixes = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
        if prefixes & _IMPORTERS:
            self._refuse_import(path)
        if prefixes & _KNOW_MODULE or parts[0] == "enum":
            self._knows_module = True
        if not outside.is_attribute(path):
            self._looks(f"`{path}` may look at code")
        self._tokens.append(f"@{path}")

    def _refuse_import(self, how: str) -> None:
        raise CodeError(
            f"{self._unit.label} uses {how}: what it imports cannot be followed, so no key could cover it. "
            "Use an import statement (it may stand inside the function)."
        )

    def _assigned(self, use: Use) -> None:
        """Notes a change of a module's name, as `sys.stdout = …`."""
        owner = use.scope.owner(use.name)
        target = owner.imported(use.name) if owner else None
        found = self._modules.target(target, self._module, self._unit.node.lineno) if target else None
        if owner is None:
            found = self._modules.lookup(self._module, use.name)
        if found and isinstance(found.meaning, Module):
            self._linked.patches.add(".".join((use.name, *use.attributes)))
        elif found and isinstance(found.meaning, External):
            self._linked.patches.add(f"@{'.'.join((found.meaning.path, *use.attributes))}")

    def _import(self, use: ImportUse) -> None:
        found = self._modules.target(use.target, self._module, use.line)
        libraries = sorted(self._modules.libraries(use.target))
        if libraries:  # when they are loaded may matter: they read the environment
            self._tokens.append(f"import {', '.join(libraries)}")
        if not use.name:
            self._linked.found.pass_by(found)
        elif use.scope.owner(use.name) is use.scope and use.scope.imported(use.name):
            # Its uses say what it stands for; it must be there even when nothing uses it.
            self._linked.found.pass_by(found)
            if isinstance(found.meaning, Unit):
                self._linked.needs.add(found.meaning)
            elif isinstance(found.meaning, Unknown):
                self._looks(
                    f"{found.meaning.module.name} does not visibly have the name {found.meaning.name}"
                )
        else:
            self._tokens.append("(import")
            self._refer(found, Use(use.scope, use.name))
            self._use(Use(use.scope, use.name, store=True))
            self._tokens.append(")")

    def _run(self, module: Module) -> None:
        """A text that names a module: another process may run it."""
        self._linked.found.modules.add(module)
        if module.guard:
            self._tokens.append(module.guard)
        else:
            self._looks(f"the text {module.name!r} names a module")
