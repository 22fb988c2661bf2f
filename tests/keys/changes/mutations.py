"""Small changes to Python source, each of which changes what the code does where it stands.

They are found by walking the syntax tree; what cannot change a result is left alone: docstrings, type hints
of plain functions and of variables, what only type checkers read, the text of `--help` taken from `__doc__`.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Callable, Iterator, MutableSequence
from dataclasses import dataclass
from typing import Any

_OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.USub: ast.UAdd,
}
KINDS = (
    *("number", "text", "truth", "operator", "comparison", "logic", "condition", "format", "default"),
    *("call", "argument", "order", "keyword", "attribute", "variable", "result", "statement"),
)
_VALUES = {"number", "text", "truth"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Site:
    """A place for a change.

    statement  the top-level statement that it is in
    change     changes the tree that the site was found in
    """

    kind: str
    line: int
    statement: ast.stmt
    change: Callable[[], None]


def sites(text: str) -> list[Site]:
    """The places of a module's text, always in the same order."""
    return list(_Finder(text).find())


def mutate(text: str, number: int) -> str:
    """The text with the change of one place."""
    finder = _Finder(text)
    list(finder.find())[number].change()
    return ast.unparse(ast.fix_missing_locations(finder.tree))


class _Finder:
    def __init__(self, text: str) -> None:
        self.tree = ast.parse(text)
        self._locals = {
            (table.get_name(), table.get_lineno()): _variables(table)
            for table in _functions(symtable.symtable(text, "module", "exec"))
        }

    def find(self) -> Iterator[Site]:
        """All places, in the order of the tree."""
        for statement in self.tree.body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)) or _is_idle(statement):
                continue
            for kind, node, change in self._changes(statement, ()):
                line = getattr(node, "lineno", statement.lineno)
                if kind in _VALUES or not _decides_what_runs(statement, line):
                    yield Site(kind, line, statement, change)

    def _changes(
        self, node: ast.AST, names: tuple[str, ...]
    ) -> Iterator[tuple[str, ast.AST, Callable[[], None]]]:
        if isinstance(node, _FUNCTIONS):
            names = self._locals.get((node.name, node.lineno), ())
        yield from ((kind, node, change) for kind, change in _own_changes(node, names))
        for child in _children(node):
            yield from self._changes(child, names)


def _decides_what_runs(statement: ast.stmt, line: int) -> bool:
    """True if a line tells if a top-level statement can be left out: an assignment's value, a decorator."""
    is_value = isinstance(statement, (ast.Assign, ast.AnnAssign))
    return is_value or line < statement.lineno


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that can change what it does."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        if isinstance(node, ast.keyword) and "__doc__" in ast.dump(node):
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ast.AST) and not (isinstance(one, ast.stmt) and _is_idle(one)):
                yield one


def _own_changes(node: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[str, Callable[[], None]]]:
    """The kinds of change that a node allows."""
    match node:
        case ast.Constant(value=bool() | None):
            yield "truth", _setter(node, "value", not node.value)
        case ast.Constant(value=int() | float() as number):
            yield "number", _setter(node, "value", number + 1)
        case ast.Constant(value=str() as text):
            yield "text", _setter(node, "value", text + "+")
        case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.UnaryOp(op=op) if type(op) in _OPERATORS:
            yield "operator", _setter(node, "op", _OPERATORS[type(op)]())
        case ast.BoolOp(op=op):
            yield "logic", _setter(node, "op", _OPERATORS[type(op)]())
        case ast.Compare(ops=[op, *_]) if type(op) in _OPERATORS:
            yield "comparison", _item_setter(node.ops, _OPERATORS[type(op)]())
        case ast.Attribute(ctx=ast.Load()):
            yield "attribute", _setter(node, "attr", node.attr + "_")
        case ast.Call():
            yield from _call_changes(node)
        case ast.arguments():
            yield from (
                ("default", _item_setter(defaults, ast.Constant("another default"), number))
                for defaults in (node.defaults, node.kw_defaults)
                for number, default in enumerate(defaults)
                if default
            )
        case ast.If() | ast.While() | ast.IfExp():
            yield "condition", _setter(node, "test", ast.UnaryOp(ast.Not(), node.test))
        case ast.Return(value=ast.expr()):
            yield "result", _setter(node, "value", None)
        case ast.Name(id=name, ctx=ast.Load()) if name in names and len(names) > 1:
            yield "variable", _setter(node, "id", next(other for other in names if other != name))
        case ast.FormattedValue(conversion=-1):
            yield "format", _setter(node, "conversion", 97)
    if isinstance(node, (*_FUNCTIONS, ast.For, ast.If, ast.While, ast.With, ast.Try)):
        yield from _statement_changes(node.body)


def _call_changes(node: ast.Call) -> Iterator[tuple[str, Callable[[], None]]]:
    if isinstance(node.func, ast.Name):
        yield "call", _setter(node.func, "id", node.func.id + "_")
    if node.args:
        yield "argument", _popper(node.args)
    if len(node.args) > 1 and not _is_symmetric(node):
        yield "order", _swapper(node.args)
    for keyword in node.keywords:
        if keyword.arg and "__doc__" not in ast.dump(keyword):
            yield "keyword", _setter(keyword, "arg", keyword.arg + "_")


def _is_symmetric(node: ast.Call) -> bool:
    """True if a call may do the same when its first two arguments are swapped."""
    same = ast.dump(node.args[0]) == ast.dump(node.args[1])
    return same or (isinstance(node.func, ast.Name) and node.func.id in ("max", "min"))


def _statement_changes(body: list[ast.stmt]) -> Iterator[tuple[str, Callable[[], None]]]:
    for number, statement in enumerate(body):
        if not isinstance(statement, (ast.Import, ast.ImportFrom)) and not _is_idle(statement):
            yield "statement", _item_setter(body, ast.Pass(), number)


def _setter(node: ast.AST, name: str, value: object) -> Callable[[], None]:
    return lambda: setattr(node, name, value)


def _item_setter(items: MutableSequence[Any], value: ast.AST, number: int = 0) -> Callable[[], None]:
    return lambda: items.__setitem__(number, value)


def _swapper(items: MutableSequence[Any]) -> Callable[[], None]:
    return lambda: items.__setitem__(slice(2), items[1::-1])


def _popper(items: MutableSequence[Any]) -> Callable[[], None]:
    return lambda: items.__delitem__(-1)


def _is_idle(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.AnnAssign) and statement.value is None:
        return True  # a field of a class, or a hint
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass)


def _functions(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        if child.get_type() == "function":
            yield child
        yield from _functions(child)


def _variables(table: symtable.SymbolTable) -> tuple[str, ...]:
    """Local names of a function, parameters included."""
    return tuple(symbol.get_name() for symbol in table.get_symbols() if symbol.is_local())
