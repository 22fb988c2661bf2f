"""The normal form of a statement: a list of tokens that does not change when the code means the same.

Comments, docstrings, formatting, positions, statements that do nothing, names of locals and type hints of
plain functions are left out. Nothing may look at these: `outside.py` says what would. Names are left open
(`Use`): linking finds out what they stand for.
The tokens do not depend on the Python version that parses: fields without a value are skipped, f-strings are
put together, and no representation is used that follows the Unicode tables of the interpreter.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, TypeAlias

from translations_assets.keys.code.syntax import (
    ImportUse,
    Kind,
    Scope,
    Target,
    Use,
    dotted,
    is_idle,
)

Token: TypeAlias = "str | Use | ImportUse"
_Handler: TypeAlias = "Callable[[Normaliser, Any, Scope], None]"

_IGNORED = {"ctx", "kind", "type_comment", "type_ignores"}
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}


def fields(node: ast.AST) -> tuple[str, ...]:
    """The fields of a node that mean something."""
    kind = type(node)
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(name for name in kind._fields if name not in _IGNORED)
    return _FIELDS[kind]


def constant(value: object) -> str:
    """A literal as a token; `ascii` and not `repr`, which follows the interpreter's Unicode tables."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"int {value:x}"  # hexadecimal: long decimals are refused by newer interpreters
    return f"{type(value).__name__} {ascii(value)}"


class Normaliser:
    """Writes the tokens of one top-level statement.

    tokens     the normal form
    attributes names of attributes taken from what is no name
    texts      literal texts
    formats    what is formatted by its method, with other arguments than literals
    assigned   names with attributes that are given a value (`sys.stdout = …`)
    classes    whether it has classes, which know the module that they are in
    annotated  whether type hints are part of the normal form
    """

    def __init__(self, absolute: Callable[[ast.ImportFrom], str], all_hints: bool = False) -> None:
        self.tokens: list[Token] = []
        self.attributes: set[str] = set()
        self.texts: set[str] = set()
        self.assigned: list[Use] = []
        self.classes = self.annotated = False
        self.formats: list[ast.expr] = []
        self._absolute = absolute
        self._all_hints = all_hints

    def visit(self, node: ast.AST, scope: Scope) -> None:
        """Write the tokens of a node."""
        handler = _HANDLERS.get(type(node))
        if handler:
            handler(self, node, scope)
        else:
            self._generic(node, scope)

    def block(self, statements: Sequence[ast.stmt], scope: Scope) -> None:
        """Write the statements of a body that do something."""
        for statement in statements:
            if not is_idle(statement):
                self.visit(statement, scope)

    def _generic(self, node: ast.AST, scope: Scope, skip: str = "") -> None:
        tokens = self.tokens
        tokens.append("(" + type(node).__name__)
        for field in fields(node):
            value = getattr(node, field, None)
            if value is None or field == skip:
                continue
            if isinstance(value, ast.AST):
                tokens.append("|" + field)
                self.visit(value, scope)
            elif isinstance(value, list):
                self._list(field, value, scope)
            else:
                tokens.append(f"{field}={value}")
        tokens.append(")")

    def _list(self, field: str, values: Iterable[ast.AST | str | None], scope: Scope) -> None:
        start = len(self.tokens)
        self.tokens.append("[" + field)
        for value in values:
            if isinstance(value, ast.AST):
                if not (isinstance(value, ast.stmt) and is_idle(value)):
                    self.visit(value, scope)
            else:
                self.tokens.append("~" if value is None else value)  # ~: `**other` in a dict has no key
        if len(self.tokens) == start + 1:
            self.tokens.pop()
        else:
            self.tokens.append("]")

    def _all(self, nodes: Iterable[ast.AST | None], scope: Scope) -> None:
        for node in nodes:
            if node is None:
                self.tokens.append("~")
            else:
                self.visit(node, scope)

    def _wrapped(self, opening: str, nodes: Iterable[ast.AST], scope: Scope) -> None:
        self.tokens.append(opening)
        self._all(nodes, scope)
        self.tokens.append(")")

    def _store(self, name: str, scope: Scope) -> None:
        scope.bind(name)
        self.tokens.append(Use(scope, name, store=True))

    def _name(self, node: ast.Name, scope: Scope) -> None:
        if isinstance(node.ctx, ast.Load):
            self.tokens.append(Use(scope, node.id))
        else:
            self._store(node.id, scope)

    def _attribute(self, node: ast.Attribute, scope: Scope) -> None:
        names = dotted(node)
        if names:
            use = Use(scope, names[0], names[1:])
            self.tokens.append(use)
            self.assigned += [] if isinstance(node.ctx, ast.Load) else [use]
            return
        self.attributes.add(node.attr)
        self._generic(node, scope)

    def _match_class(self, node: ast.MatchClass, scope: Scope) -> None:
        self.attributes.update(node.kwd_attrs)
        self._generic(node, scope)

    def _named(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar, scope: Scope) -> None:
        field = "rest" if isinstance(node, ast.MatchMapping) else "name"
        name = getattr(node, field)
        if name is not None:
            self._store(name, scope)
        self._generic(node, scope, skip=field)

    def _walrus(self, node: ast.NamedExpr, scope: Scope) -> None:
        self.tokens.append("(:=")
        self._store(node.target.id, scope.nearest_function())
        self.visit(node.value, scope)
        self.tokens.append(")")

    def _global(self, node: ast.Global, scope: Scope) -> None:
        scope.globals.update(node.names)

    def _nonlocal(self, node: ast.Nonlocal, scope: Scope) -> None:
        for name in node.names:
            scope.declare_nonlocal(name)

    def _constant(self, node: ast.Constant, scope: Scope) -> None:
        if isinstance(node.value, str):
            self.texts.add(node.value)
        self.tokens.append(constant(node.value))

    def _joined(self, node: ast.JoinedStr, scope: Scope) -> None:
        if all(isinstance(part, ast.Constant) for part in node.values):
            self.visit(ast.Constant(_text(node.values)), scope)
            return
        self._wrapped("(f", _merged(node.values), scope)

    def _formatted(self, node: ast.FormattedValue, scope: Scope) -> None:
        self.tokens.append(f"(value {node.conversion}")
        self.visit(node.value, scope)
        if isinstance(node.format_spec, ast.JoinedStr) and _merged(node.format_spec.values):
            self.visit(node.format_spec, scope)
        self.tokens.append(")")

    def _call(self, node: ast.Call, scope: Scope) -> None:
        self.tokens.append("(Call")
        of_literals = all(isinstance(argument, ast.Constant) for argument in node.args) and not node.keywords
        if isinstance(node.func, ast.Attribute) and node.func.attr == "format" and not of_literals:
            self.formats.append(node.func.value)
        if (
            isinstance(node.func, ast.Name)
            and node.func.id == "type"
            and len(node.args) == 1
            and not node.keywords
        ):
            self.tokens.append(Use(scope, "type", ("()",)))  # which makes no class
        else:
            self.visit(node.func, scope)
        self._all(node.args, scope)
        for keyword in node.keywords:
            self.tokens.append(f"{keyword.arg or '**'}=")
            self.visit(keyword.value, scope)
        self.tokens.append(")")

    def _assign(self, node: ast.Assign, scope: Scope) -> None:
        self._wrapped("(=", (*node.targets, node.value), scope)

    def _annotated_assign(self, node: ast.AnnAssign, scope: Scope) -> None:
        if scope.kind is Kind.CLASS or (self._all_hints and scope.kind is Kind.MODULE):
            self.tokens.append("(:")
            self.visit(node.target, scope)
            self._hint(":", node.annotation, scope)
            self._all([node.value], scope)
            self.tokens.append(")")
        elif node.value is not None:
            self._wrapped("(=", (node.target, node.value), scope)
        elif isinstance(node.target, ast.Name) and node.simple:
            scope.bind(node.target.id)
        else:
            self.visit(node.target, scope)

    def _augmented_assign(self, node: ast.AugAssign, scope: Scope) -> None:
        if isinstance(node.target, ast.Name):
            self.tokens.append(Use(scope, node.target.id))  # it is read, too
        self._generic(node, scope)

    def _delete(self, node: ast.Delete, scope: Scope) -> None:
        parts = (each.elts if isinstance(each, ast.Tuple) else [each] for each in node.targets)
        self._wrapped("(del", chain.from_iterable(parts), scope)  # `del (a, b)` is `del a, b`

    def _import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            top = alias.name.split(".")[0]
            target = Target(alias.name if alias.asname else top)
            self._imported(alias.asname or top, target, node, scope)
            if not alias.asname and "." in alias.name:
                self.tokens.append(ImportUse(scope, "", Target(alias.name), node.lineno))

    def _import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        for alias in node.names:
            target = Target(self._absolute(node), alias.name)
            self._imported(alias.asname or alias.name, target, node, scope)

    def _imported(self, name: str, target: Target, node: ast.stmt, scope: Scope) -> None:
        scope.bind_import(name, target)
        self.tokens.append(ImportUse(scope, name, target, node.lineno))

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        self.tokens.append("(" + type(node).__name__)
        self._store(node.name, scope)
        self.tokens.append(node.name)  # messages of errors tell it
        self._all(node.decorator_list, scope)
        inner = Scope(Kind.FUNCTION, scope)
        hints = self._all_hints or bool(node.decorator_list)
        self._parameters(node.args, scope, inner, hints)
        if hints and node.returns:
            self._hint("->", node.returns, scope)
        self.block(node.body, inner)
        self.tokens.append(")")

    def _lambda(self, node: ast.Lambda, scope: Scope) -> None:
        self.tokens.append("(lambda")
        inner = Scope(Kind.FUNCTION, scope)
        self._parameters(node.args, scope, inner, hints=False)
        self.visit(node.body, inner)
        self.tokens.append(")")

    def _parameters(self, arguments: ast.arguments, outer: Scope, inner: Scope, hints: bool) -> None:
        groups = (
            ("/", arguments.posonlyargs),
            ("", arguments.args),
            ("*", [arguments.vararg] if arguments.vararg else []),
            ("=", arguments.kwonlyargs),
            ("**", [arguments.kwarg] if arguments.kwarg else []),
        )
        for mark, parameters in groups:
            for parameter in parameters:
                inner.parameters.add(parameter.arg)
                self.tokens.append(f"{mark}parameter {parameter.arg}")
                if hints and parameter.annotation:
                    self._hint(":", parameter.annotation, outer)
        self.tokens.append("defaults")
        self._all(arguments.defaults, outer)
        self.tokens.append("keyword defaults")
        self._all(arguments.kw_defaults, outer)

    def _hint(self, mark: str, node: ast.expr, scope: Scope) -> None:
        self.annotated = True
        self.tokens.append(mark)
        start = len(self.tokens)
        self.visit(node, scope)
        for place in range(start, len(self.tokens)):
            token = self.tokens[place]
            self.tokens[place] = replace(token, hint=True) if isinstance(token, Use) else token

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        self.classes = True
        self.tokens.append("(class " + node.name)
        self._store(node.name, scope)
        for field in ("decorator_list", "bases", "keywords"):
            self._list(field, getattr(node, field), scope)
        self.block(node.body, Scope(Kind.CLASS, scope))
        self.tokens.append(")")

    def _comprehension(self, node: ast.ListComp | ast.DictComp, scope: Scope) -> None:
        self.tokens.append("(" + type(node).__name__)
        inner = Scope(Kind.COMPREHENSION, scope)
        for number, generator in enumerate(node.generators):
            self.tokens.append("async for" if generator.is_async else "for")
            self.visit(generator.iter, inner if number else scope)  # the first runs outside
            self.visit(generator.target, inner)
            self._list("ifs", generator.ifs, inner)
        self._all([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt], inner)
        self.tokens.append(")")


_HANDLERS: dict[type[ast.AST], _Handler] = {
    ast.Name: Normaliser._name,
    ast.Attribute: Normaliser._attribute,
    ast.Constant: Normaliser._constant,
    ast.JoinedStr: Normaliser._joined,
    ast.FormattedValue: Normaliser._formatted,
    ast.Call: Normaliser._call,
    ast.FunctionDef: Normaliser._function,
    ast.AsyncFunctionDef: Normaliser._function,
    ast.Lambda: Normaliser._lambda,
    ast.ClassDef: Normaliser._class,
    ast.ListComp: Normaliser._comprehension,
    ast.SetComp: Normaliser._comprehension,
    ast.DictComp: Normaliser._comprehension,
    ast.GeneratorExp: Normaliser._comprehension,
    ast.NamedExpr: Normaliser._walrus,
    ast.Assign: Normaliser._assign,
    ast.AnnAssign: Normaliser._annotated_assign,
    ast.AugAssign: Normaliser._augmented_assign,
    ast.Delete: Normaliser._delete,
    ast.Global: Normaliser._global,
    ast.Nonlocal: Normaliser._nonlocal,
    ast.Import: Normaliser._import,
    ast.ImportFrom: Normaliser._import_from,
    ast.ExceptHandler: Normaliser._named,
    ast.MatchAs: Normaliser._named,
    ast.MatchClass: Normaliser._match_class,
    ast.MatchStar: Normaliser._named,
    ast.MatchMapping: Normaliser._named,
}


def _text(parts: Iterable[ast.expr]) -> str:
    return "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))


def _merged(parts: Iterable[ast.expr]) -> list[ast.expr]:
    """The parts of an f-string without empty ones, neighbouring fixed texts made one."""
    merged: list[ast.expr] = []
    for part in parts:
        if isinstance(part, ast.Constant) and not part.value:
            continue
        if isinstance(part, ast.Constant) and merged and isinstance(merged[-1], ast.Constant):
            merged[-1] = ast.Constant(_text([merged[-1], part]))
        else:
            merged.append(part)
    return merged
