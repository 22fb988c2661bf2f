"""Small questions about syntax trees that several modules ask."""

from __future__ import annotations

import ast
import threading
from collections.abc import Iterator

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CLOSED = (*FUNCTIONS, ast.ClassDef, ast.Lambda)

_parsing = threading.Lock()


def parse(source: str | bytes, file: str = "<unknown>") -> ast.Module:
    """`ast.parse`, in one thread at a time: Python 3.11 counts the depth of all threads together, and raises
    SystemError when another thread comes in between, as it may while the garbage collector runs."""
    with _parsing:
        return ast.parse(source, file)


def dotted(node: ast.AST) -> tuple[str, ...]:
    """`a.b.c` as (a, b, c); empty for anything that is not a name with attributes."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    return (node.id, *reversed(attributes)) if isinstance(node, ast.Name) else ()


def is_idle(statement: ast.stmt) -> bool:
    """Whether a statement does nothing: `pass`, a docstring, `...`."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass)


def is_main_guard(statement: ast.stmt) -> bool:
    """Whether a statement is `if __name__ == "__main__":` without an else."""
    match statement:
        case ast.If(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]), orelse=[]):
            sides = {getattr(side, "id", None) or getattr(side, "value", None) for side in (left, right)}
            return sides == {"__name__", "__main__"}
    return False


def is_for_type_checkers(statement: ast.stmt) -> bool:
    """Whether a statement is `if TYPE_CHECKING:`."""
    return isinstance(statement, ast.If) and dotted(statement.test)[-1:] == ("TYPE_CHECKING",)


def bound_names(node: ast.AST) -> Iterator[str]:
    """Names that a statement binds in its own scope, repeated for each place that binds them."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        yield node.id
    else:
        name = getattr(node, "name", None) or getattr(node, "rest", None)  # def, class, except, match
        if isinstance(name, str):
            yield name
    if not isinstance(node, _CLOSED):
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.comprehension):
                yield from bound_names(child)


def docstrings(tree: ast.AST) -> Iterator[str]:
    """All docstrings of a tree."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)):
            text = ast.get_docstring(node, clean=False)
            if text is not None:
                yield text
