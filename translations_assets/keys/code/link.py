"""Links the normal form of a unit: names become what they stand for, wherever that is defined.

So `import a.b as c; c.f`, `from a.b import f; f` and a re-export are one and the same, and a function that
moves to another module changes nothing for those who use it. That is sound where all modules are in plain
form (`plain.py`) and nothing looks at code (`outside.py`); else modules count whole (`reach.py`).
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import cast

from translations_assets.errors import CodeError
from translations_assets.keys.code import outside
from translations_assets.keys.code.modules import External, Found, Imported, Module, Modules, Unit, Unknown
from translations_assets.keys.code.normalise import Normaliser
from translations_assets.keys.code.syntax import Kind, Scope, dotted

_IMPORTERS = {"importlib.import_module", "importlib.__import__", "pkgutil", "runpy"}
# What is made by these knows the module that they are called in, as classes do.
_KNOW_MODULE = {
    "collections.namedtuple",
    "enum",
    "typing.NamedTuple",
    "typing.NewType",
    "typing.TypeVar",
    "typing.ParamSpec",
}
_OF_ONE = ("()",)  # `type` of one thing, which makes no class
_FORMATTERS = {"icu4py.messageformat.MessageFormat"}  # whose `format` looks at no attributes


@dataclass
class Linked:
    """A linked unit.

    tokens   the normal form; a unit stands for a name that it defines
    imports  the imports on the way to everything it uses
    looks    what of it looks at code, or may; empty when nothing does
    patches  what it changes of modules, those from outside the package with @
    """

    tokens: list[str | Unit] = field(default_factory=list)
    imports: set[Imported] = field(default_factory=set)
    looks: str = ""
    patches: set[str] = field(default_factory=set)


class Linker:
    """Links units and remembers them."""

    def __init__(self, modules: Modules) -> None:
        self._modules = modules
        self._linked: dict[Unit, Linked] = {}

    def link(self, unit: Unit) -> Linked:
        """The linked form of a unit."""
        if unit not in self._linked:
            self._linked[unit] = _UnitLinker(self._modules, unit).run()
        return self._linked[unit]

    def own_hash(self, unit: Unit) -> str:
        """The hash of a unit's own code, what it refers to by name only."""
        tokens = self.link(unit).tokens
        return hash_of(token if isinstance(token, str) else f"&{token.short_name}" for token in tokens)


def hash_of(tokens: Iterable[str]) -> str:
    """SHA-256 (hex) of tokens; a null character, which none of them holds, keeps them apart."""
    return hashlib.sha256("\0".join(tokens).encode()).hexdigest()


def _joined(tokens: Iterable[str | Unit]) -> Iterator[str | Unit]:
    """The tokens with neighbouring texts joined: many scripts use them."""
    for are_texts, run in groupby(tokens, key=lambda token: isinstance(token, str)):
        if are_texts:
            yield "\0".join(cast(Iterable[str], run))
        else:
            yield from run


class _UnitLinker(Normaliser):
    """Links one unit; the hints of its functions and variables, which nothing can look at, are left out."""

    left_out = frozenset({"annotation", "returns"})

    def __init__(self, modules: Modules, unit: Unit) -> None:
        super().__init__(unit.module)
        self._modules, self._unit = modules, unit
        self._linked = Linked()
        self._knows_module = False
        self._needs: list[Unit] = []  # that must be there, although nothing may use them

    def run(self) -> Linked:
        """Write what the unit stands for."""
        self.visit(self._unit.node)
        if self._knows_module:
            self.tokens.append(f"in {self.module.name}")
        self.tokens += [unit for unit in self._needs if unit not in self.tokens]
        self._linked.tokens = list(_joined(self.tokens))
        return self._linked

    def _looks(self, why: str) -> None:
        self._linked.looks = self._linked.looks or why

    def _check(self, attributes: Iterable[str]) -> None:
        for attribute in filter(outside.shows_code, attributes):
            self._looks(f"`.{attribute}` may show code")

    def name(self, name: str, store: bool = False, attributes: Sequence[str] = ()) -> None:
        """Write what a name with attributes stands for."""
        owner = self.scope.owner(name)
        if owner is None and store and self.scope.kind is Kind.MODULE:
            self.tokens.append(f"bind {name}")
        elif found := self._found(name, owner):
            self._refer(found, attributes)
        elif owner is None:
            self._built_in(name, attributes)
        else:
            if owner.kind is Kind.CLASS and not store and (found := self._found(name, None)):
                self.tokens.append("or")  # where it is read before the class has bound it
                self._refer(found, ())
            self._write(owner.token(name, store or self.scope is not owner), attributes)

    def _found(self, name: str, owner: Scope | None) -> Found | None:
        """What a name of the module, or of an import in a function, stands for."""
        if owner is None:
            found = self._modules.lookup(self.module, name)
            return found if found.meaning else None
        imports = self._imports(name, owner) if owner.kind is Kind.FUNCTION else []
        return self._modules.follow(*imports) if imports else None

    def _imports(self, name: str, owner: Scope) -> list[Imported]:
        imports = chain.from_iterable(map(self.module.imported, owner.imports.get(name, ())))
        return [imported for imported in imports if imported.name == name]

    def _built_in(self, name: str, attributes: Sequence[str]) -> None:
        if name == "__import__":
            self._refuse_import(name)
        if name == "__doc__" and self.scope.kind is not Kind.CLASS:  # which has its own
            self.tokens.append(self.module.docstring)
        elif name in ("__name__", "type"):
            self._knows_module |= attributes != _OF_ONE
        elif not outside.is_built_in(name):
            self._looks(f"`{name}` may look at code")
        self._write(f"${name}", attributes)

    def _write(self, token: str | Unit, attributes: Sequence[str]) -> None:
        self._check(attributes)
        self.tokens.append(token)
        self.tokens += (f".{attribute}" for attribute in attributes)

    def _refer(self, found: Found, attributes: Sequence[str]) -> None:
        self._linked.imports |= found.imports
        meaning = found.meaning
        if isinstance(meaning, Module) and attributes:
            self._refer(self._modules.attribute(meaning, attributes[0]), attributes[1:])
        elif isinstance(meaning, Module):
            self._looks(f"the module {meaning.name} is used as a value")
        elif isinstance(meaning, Unit):
            self._write(meaning, attributes)
        elif isinstance(meaning, External):
            self._refer_outside(".".join((meaning.path, *attributes)))
        elif isinstance(meaning, Unknown):
            self._looks(f"{meaning.module.name} does not visibly have the name {meaning.name}")

    def _refer_outside(self, path: str) -> None:
        parts = path.split(".")
        prefixes = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
        if prefixes & _IMPORTERS:
            self._refuse_import(path)
        self._knows_module |= bool(prefixes & _KNOW_MODULE)
        if not outside.is_attribute(path):
            self._looks(f"`{path}` may look at code")
        self.tokens.append(f"@{path}")

    def _refuse_import(self, how: str) -> None:
        raise CodeError(
            f"{self._unit.label} uses {how}: what it imports cannot be followed, so no key could cover it. "
            "Use an import statement (it may stand inside the function)."
        )

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Write an attribute; a change of a module's name, as `sys.stdout = …`, is noted."""
        names = dotted(node)
        if not names:
            self._check([node.attr])
            self.generic_visit(node)
            return
        self.name(names[0], attributes=names[1:])
        found = None if isinstance(node.ctx, ast.Load) else self._found(names[0], self.scope.owner(names[0]))
        if found and isinstance(found.meaning, Module):
            self._linked.patches.add(".".join(names))
        elif found and isinstance(found.meaning, External):
            self._linked.patches.add(f"@{'.'.join((found.meaning.path, *names[1:]))}")

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        """Write a pattern that takes attributes."""
        self._check(node.kwd_attrs)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Write a literal; a text that names a module refers to what another process may run."""
        super().visit_Constant(node)
        text = node.value if isinstance(node.value, str) else ""
        module = self._modules.named(text)
        if module and module.guard:
            self.tokens.append(module.guard)
        elif module or outside.names_code(text):
            self._looks(f"the text {text!a:.60} may name code")

    def visit_Call(self, node: ast.Call) -> None:
        """Write a call."""
        if isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            of_literals = all(isinstance(one, ast.Constant) for one in node.args) and not node.keywords
            if not of_literals and not self._is_literal(node.func.value):
                self._looks("`format` of a text that is no literal may show any attribute")
        if dotted(node.func) == ("type",) and len(node.args) == 1 and not node.keywords:
            self.name("type", attributes=_OF_ONE)
            self.visit(node.args[0])
        else:
            self.generic_visit(node)

    def _is_literal(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name) and not self.scope.owner(node.id):
            unit = self._modules.lookup(self.module, node.id).meaning
            return isinstance(unit, Unit) and isinstance(getattr(unit.node, "value", None), ast.Constant)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return any(one.path in _FORMATTERS for one in self.module.imports.get(node.func.id, []))
        return isinstance(node, ast.Constant)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Write an assignment; the hints of fields of a class count."""
        if self.scope.kind is Kind.CLASS:
            self.tokens.append("text" if self.module.future_annotations else "hint")
            self.visit(node.annotation)
            self.generic_visit(node)
        elif node.value:
            self.visit(ast.Assign([node.target], node.value))
        elif not node.simple:
            self.visit(node.target)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Write a class, which knows the module that it is in."""
        self._knows_module = True
        super().visit_ClassDef(node)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        """Note what an import below the top level does; its uses say what its names stand for."""
        for imported in self.module.imported(node):
            if self.scope.kind is Kind.MODULE:  # for type checkers
                self.tokens.append(f"bind {imported.name} {imported.path}")
                continue
            if libraries := sorted(self._modules.libraries(imported)):
                # when they are loaded may matter: they read the environment
                self.tokens.append(f"import {', '.join(libraries)}")
            found = self._modules.follow(imported)
            self._linked.imports |= found.imports
            if isinstance(found.meaning, Unit):
                self._needs.append(found.meaning)
            elif isinstance(found.meaning, Unknown):
                self._refer(found, ())
            same = [one for one in self._imports(imported.name, self.scope) if one.target == imported.target]
            if self.scope.kind is not Kind.FUNCTION or self.scope.bound[imported.name] > len(same):
                self._looks(f"{imported.name} may be what is imported, or something else")

    visit_Import = visit_ImportFrom = _import

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        """Note a change of what a function around this one has imported."""
        for name in node.names:
            owner = self.scope.owner(name)
            if owner and name in owner.imports:
                self._looks(f"{name} may be what an import binds, or something else")
