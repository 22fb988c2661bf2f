"""Links the normal form of a unit: names become what they stand for, wherever that is defined.

So `import a.b as c; c.f`, `from a.b import f; f` and a re-export are one and the same, and a function that
moves to another module changes nothing for those who use it. That is sound where all modules are in plain
form (`plain.py`) and nothing looks at code (`outside.py`); else modules count whole (`reach.py`).
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import cast

from translations_assets.common.errors import CodeError
from translations_assets.keys.code import outside
from translations_assets.keys.code.modules import Found, Imported, Module, Modules, Unit
from translations_assets.keys.code.normalise import Normaliser
from translations_assets.keys.code.syntax import Scope, dotted, words

_IMPORTERS = {"importlib.import_module", "importlib.__import__", "pkgutil", "runpy"}
# What is made by these knows the module that they are called in, as classes do.
_KNOW_MODULE = words(
    "collections.namedtuple enum typing.NamedTuple typing.NewType typing.ParamSpec typing.TypeVar"
)
_OF_ONE = ("()",)  # `type` of one thing, which makes no class
_FORMATTERS = {"icu4py.messageformat.MessageFormat"}  # whose `format` looks at no attributes


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


class Linked(Normaliser):
    """A unit in normal form, names linked.

    The hints of its functions and variables, which nothing can look at, are left out.

    imports  the imports on the way to everything it uses
    looks    what of it looks at code, or may; empty when nothing does
    patches  what it changes of modules, those from outside the package with @
    """

    left_out = frozenset({"annotation", "returns"})

    def __init__(self, modules: Modules, unit: Unit) -> None:
        super().__init__(unit.module)
        self._modules, self._unit = modules, unit
        self.imports: set[Imported] = set()
        self.looks = ""
        self.patches: set[str] = set()
        self._knows_module = False
        self._needs: list[Unit] = []  # that must be there, although nothing may use them
        self.visit(unit.node)
        if self._knows_module:
            self.tokens.append(f"in {self.module.name}")
        self.tokens += [needed for needed in self._needs if needed not in self.tokens]
        self.tokens = list(_joined(self.tokens))

    @property
    def own_hash(self) -> str:
        """The hash of its own code, what it refers to by name only."""
        return hash_of(one if isinstance(one, str) else f"&{one.short_name}" for one in self.tokens)

    def _looks(self, why: str) -> None:
        self.looks = self.looks or why

    def _check(self, attributes: Iterable[str]) -> None:
        for attribute in filter(outside.shows_code, attributes):
            self._looks(f"`{attribute}` may show code")

    def name(self, name: str, store: bool = False, attributes: Sequence[str] = ()) -> None:
        """Write what a name with attributes stands for."""
        owner = self.scope.owner(name)
        if owner is None and store and self.scope.kind == "module":
            self.tokens.append(f"bind {name}")
            return
        if owner is None and store:
            self.patches.add(name)
        if found := self._found(name, owner):
            self._refer(found, attributes)
        elif owner is None:
            self._built_in(name, attributes)
        else:
            if owner.kind == "class" and not store and (found := self._found(name, None)):
                self.tokens.append("or")  # where it is read before the class has bound it
                self._refer(found, ())
            self._write(owner.token(name, store), attributes)

    def _found(self, name: str, owner: Scope | None) -> Found | None:
        """What a name of the module, or of an import in a function, stands for."""
        if owner is None:
            found = self._modules.lookup(self.module, name)
            return found if found.meaning else None
        is_imported = owner.kind == "function" and name in owner.imports
        return self._modules.follow(*self._imports(name, owner)) if is_imported else None

    def _imports(self, name: str, owner: Scope) -> list[Imported]:
        imports = chain.from_iterable(map(self.module.imported, owner.imports.get(name, ())))
        return [imported for imported in imports if imported.name == name]

    def _built_in(self, name: str, attributes: Sequence[str]) -> None:
        if name == "__import__":
            self._refuse_import(name)
        if name == "__doc__" and self.scope.kind != "class":  # which has its own
            self.tokens.append(self.module.docstring)
        elif name in ("__name__", "type"):
            self._knows_module |= attributes != _OF_ONE
        elif not outside.is_built_in(name):
            self._looks(f"`{name}` may look at code")
        self._write(f"${name}", attributes)

    def _write(self, token: str, attributes: Sequence[str]) -> None:
        self._check(attributes)
        self.tokens.append(token)
        self.tokens += (f".{attribute}" for attribute in attributes)

    def _refer(self, found: Found, attributes: Sequence[str]) -> None:
        self.imports |= found.imports
        meaning = found.meaning
        if isinstance(meaning, Module) and attributes:
            self._refer(self._modules.attribute(meaning, attributes[0]), attributes[1:])
        elif isinstance(meaning, Module):
            self._looks(f"the module {meaning.name} is used as a value")
        elif isinstance(meaning, Unit):
            self.tokens.append(meaning)
            self._write(f"={found.which}", attributes)
        elif meaning:
            self._refer_outside(".".join((meaning, *attributes)))

    def _refer_outside(self, path: str) -> None:
        parts = path.split(".")
        prefixes = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
        if prefixes & _IMPORTERS:
            self._refuse_import(path)
        self._knows_module |= bool(prefixes & _KNOW_MODULE)
        if not outside.is_attribute(path):
            self._looks(f"`{path}` may look at code, or is not visibly there")
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
            self.patches.add(".".join(names))
        elif found and isinstance(found.meaning, str):
            self.patches.add(f"@{'.'.join((found.meaning, *names[1:]))}")

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        """Write a pattern that takes attributes."""
        self._check(node.kwd_attrs)
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        """Write an argument with its name."""
        self._check([node.arg or ""])
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
        if self.scope.kind == "class":
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
            if self.scope.kind == "module":  # for type checkers
                self.tokens.append(f"bind {imported.name} {imported.path}")
                continue
            if libraries := sorted(self._modules.libraries(imported)):
                # when they are loaded may matter: they read the environment
                self.tokens.append(f"import {', '.join(libraries)}")
            if not (imported.is_internal or outside.is_module(imported.loads[0])):
                self._looks(f"importing {imported.loads[0]} may have effects")
            found = self._modules.follow(imported)
            self.imports |= found.imports
            if isinstance(found.meaning, Unit):
                self._needs.append(found.meaning)
            elif isinstance(found.meaning, str) and imported.is_internal:
                self._refer(found, ())
            name, own = imported.name, self.scope.kind == "function" and self.scope.owner(imported.name)
            same = [one for one in self._imports(name, self.scope) if one.path == imported.path]
            if own is not self.scope or own.bound[name] > len(same):
                self._looks(f"{name} may be what is imported, or something else")

    visit_Import = visit_ImportFrom = _import

    def visit_Nonlocal(self, node: ast.Global | ast.Nonlocal) -> None:
        """Note a change of what a function around this one has imported."""
        for name in node.names:
            owner = self.scope.owner(name)
            if owner and name in owner.imports:
                self._looks(f"{name} may be what an import binds, or something else")


class Linker:
    """Links units and remembers them."""

    def __init__(self, modules: Modules) -> None:
        self._modules = modules
        self._linked: dict[Unit, Linked] = {}

    def link(self, unit: Unit) -> Linked:
        """The linked form of a unit."""
        if unit not in self._linked:
            self._linked[unit] = Linked(self._modules, unit)
        return self._linked[unit]
