"""The normal form of a statement: a list of tokens that does not change when the code means the same.

Comments, docstrings, formatting, positions, statements that do nothing and names of locals are left out.
Nothing may look at these: `outside.py` says what would. The tokens do not depend on the Python version that
parses: fields without a value are skipped, texts in f-strings are put together, and no representation is used
that follows the Unicode tables of the interpreter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from itertools import chain, groupby

from translations_assets.keys.code.modules import Module, Unit
from translations_assets.keys.code.syntax import Scope, is_idle

_IGNORED = {"ctx", "kind", "type_comment", "type_ignores"}


_FIELDS: dict[type[ast.AST], list[str]] = {}


def _fields(kind: type[ast.AST]) -> list[str]:
    """The fields of a node that mean something; what is computed before it is bound comes first."""
    if kind not in _FIELDS:
        names = (name for name in kind._fields if name not in _IGNORED)
        _FIELDS[kind] = sorted(names, key=lambda name: name not in {"value", "iter"})
    return _FIELDS[kind]


def _constant(value: object) -> str:
    """A literal as a token; `ascii` and not `repr`, which follows the interpreter's Unicode tables."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"int {value:x}"  # hexadecimal: long decimals are refused by newer interpreters
    return f"{type(value).__name__} {ascii(value)}"


class Normaliser(ast.NodeVisitor):
    """Writes the tokens of statements of a module, names of its top level as they are written."""

    left_out: frozenset[str] = frozenset()  # fields of nodes

    def __init__(self, module: Module) -> None:
        self.module = module
        self.tokens: list[str | Unit] = []  # a unit stands for what it defines
        self.scope = Scope("module")

    def generic_visit(self, node: ast.AST, inner: Scope | None = None) -> None:
        """Write a node, its body in an inner scope."""
        self.tokens.append("(" + type(node).__name__)
        for field in _fields(type(node)):
            value = getattr(node, field, None)
            if value is None or field in self.left_out:
                continue
            if field == "body" and inner:
                self._within(inner, field, value if isinstance(value, list) else [value])
            elif isinstance(value, ast.AST):
                self.tokens.append("|" + field)
                self.visit(value)
            elif isinstance(value, list):
                self.write(field, value)
            elif field in {"name", "rest"}:  # of functions and classes, in `except` and `match`
                self.name(value, store=True)
            else:
                self.tokens.append(f"{field}={value}")
        self.tokens.append(")")
        if isinstance(node, ast.ExceptHandler) and node.name:
            self.scope.unbind(node.name)

    def _within(self, scope: Scope, field: str, nodes: Iterable[ast.AST]) -> None:
        outer, self.scope = self.scope, scope
        self.write(field, nodes)
        self.scope = outer

    def write(self, field: str, values: Iterable[ast.AST | str | None]) -> None:
        """Write the values of a field, without statements that do nothing."""
        written = [value for value in values if value is None or isinstance(value, str) or not is_idle(value)]
        if written:
            self.tokens.append("[" + field)
            for value in written:
                if isinstance(value, ast.AST):
                    self.visit(value)
                else:
                    self.tokens.append(value or "~")  # ~: `**other` in a dict has no key
            self.tokens.append("]")

    def name(self, name: str, store: bool = False) -> None:
        """Write a name."""
        owner = self.scope.owner(name)
        if owner:
            self.tokens.append(owner.token(name, store))
        else:
            self.tokens += [self.module.docstring, name] if name == "__doc__" else [name]

    def visit_Name(self, node: ast.Name) -> None:
        """Write a name, read or bound."""
        self.name(node.id, store=not isinstance(node.ctx, ast.Load))
        if isinstance(node.ctx, ast.Del):
            self.scope.unbind(node.id)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Write a literal."""
        self.tokens.append(_constant(node.value))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Write an f-string, neighbouring texts in it as one, empty ones left out."""
        self.tokens.append("(f")
        for are_texts, parts in groupby(node.values, key=lambda part: isinstance(part, ast.Constant)):
            if not are_texts:
                self.write("", parts)
            elif text := "".join(str(part.value) for part in parts if isinstance(part, ast.Constant)):
                self.visit(ast.Constant(text))
        self.tokens.append(")")

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Write `a += b`, which reads `a` first."""
        if isinstance(node.target, ast.Name):
            self.name(node.target.id)
        self.generic_visit(node)

    def visit_Delete(self, node: ast.Delete) -> None:
        """Write `del (a, b)` as `del a, b`."""
        parts = (each.elts if isinstance(each, ast.Tuple) else [each] for each in node.targets)
        self.write("del", chain.from_iterable(parts))

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        """Write nothing: the names themselves tell whose they are."""

    visit_Nonlocal = visit_Global

    def visit_alias(self, node: ast.alias) -> None:
        """Write a name of an import as it stands."""
        self.tokens.append(f"{node.name} as {node.asname}")

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.tokens.append(node.name)  # messages of errors tell it
        self._open(node)

    def _open(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        body = node.body if isinstance(node.body, list) else [node.body]
        parameters = [part.arg for part in ast.iter_child_nodes(node.args) if isinstance(part, ast.arg)]
        self.generic_visit(node, Scope("function", self.scope, body, " ".join(parameters)))

    visit_FunctionDef = visit_AsyncFunctionDef = _function
    visit_Lambda = _open

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Write a class."""
        self.tokens.append(node.name)
        self.generic_visit(node, Scope("class", self.scope, node.body))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        targets = [generator.target for generator in node.generators]
        inner = Scope("comprehension", self.scope, targets)
        self.tokens.append("(" + type(node).__name__)
        for number, generator in enumerate(node.generators):
            self._within(inner if number else self.scope, "iter", [generator.iter])  # the first runs outside
            self._within(inner, "async for" if generator.is_async else "for", [generator.target])
            self._within(inner, "ifs", generator.ifs)
        self._within(inner, "", [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        self.tokens.append(")")

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension
