"""Questions about syntax trees that several modules ask, and Python's scopes, as far as telling local names
from others takes.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count
from typing import Literal

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

_ATTEMPTS = 100


def parse(source: str | bytes, file: str = "<unknown>") -> ast.Module:
    """`ast.parse`, once more when it was disturbed.

    Python 3.11 counts the depth of all that is parsed together, and raises SystemError when the garbage
    collector ran in between and ended something that parsed as well (a traceback that is logged does), or let
    another thread.
    """
    for _ in range(_ATTEMPTS - 1):
        with suppress(SystemError):
            return ast.parse(source, file)
    return ast.parse(source, file)


def words(text: str) -> frozenset[str]:
    """A set of names, written as one text."""
    return frozenset(text.split())


def kinds(text: str) -> tuple[type[ast.AST], ...]:
    """Classes of `ast`, by their names in one text."""
    return tuple(getattr(ast, name) for name in text.split())


def dotted(node: ast.AST) -> tuple[str, ...]:
    """`a.b.c` as (a, b, c); empty for anything that is not a name with attributes."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    return (node.id, *reversed(attributes)) if isinstance(node, ast.Name) else ()


def is_idle(node: ast.AST) -> bool:
    """True if a statement does nothing: `pass`, a docstring, `...`."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Pass)


def is_main_guard(statement: ast.stmt) -> bool:
    """True if a statement is `if __name__ == "__main__":` without an else."""
    match statement:
        case ast.If(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]), orelse=[]):
            sides = {getattr(side, "id", None) or getattr(side, "value", None) for side in (left, right)}
            return sides == {"__name__", "__main__"}
    return False


def is_for_type_checkers(statement: ast.stmt) -> bool:
    """True if a statement looks like `if TYPE_CHECKING:`."""
    return isinstance(statement, ast.If) and dotted(statement.test)[-1:] == ("TYPE_CHECKING",)


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below a node, in order, without those that hold nothing, such as `Load`."""
    found: list[ast.AST] = []
    for name in () if isinstance(node, (ast.Name, ast.Constant)) else node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [one for one in value if isinstance(one, ast.AST) and one._fields]
        elif isinstance(value, ast.AST) and value._fields:
            found.append(value)
    return found


def hints(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    """The type hints of a function."""
    parameters = [part.annotation for part in children(function.args) if isinstance(part, ast.arg)]
    return [hint for hint in (*parameters, function.returns) if hint]


def in_scope(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes, and all below them that belongs to the same scope, in order."""
    waiting = [*nodes][::-1]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.Lambda):
            waiting.append(node.args)
        elif isinstance(node, ast.comprehension):
            waiting += [*node.ifs[::-1], node.iter]
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            waiting += [child for child in children(node) if not isinstance(child, ast.stmt)][::-1]
        else:
            waiting += children(node)[::-1]


def name_bound_by(node: ast.AST) -> str | None:
    """The name that a node binds itself, whatever is below it."""
    if isinstance(node, ast.Name):
        return None if isinstance(node.ctx, ast.Load) else node.id
    if isinstance(node, ast.alias):
        return node.asname or node.name.split(".")[0]
    name = getattr(node, "name", None) or getattr(node, "rest", None)  # def, class, except, match
    return name if isinstance(name, str) else None


def bound_names(*nodes: ast.AST) -> Iterator[str]:
    """Names that nodes bind in their scope, repeated for each place that binds them."""
    return filter(None, map(name_bound_by, in_scope(nodes)))


Kind = Literal["module", "class", "function", "comprehension"]  # what opened a scope; a lambda is a function


class Scope:
    """One scope and the names bound in it; parameters are told apart because they are never renamed.

    bound    name → number of places that bind it; nothing for the module's own scope
    imports  name → the import statements that bind it
    """

    def __init__(
        self, kind: Kind, parent: Scope | None = None, nodes: Iterable[ast.AST] = (), parameters: str = ""
    ) -> None:
        self.kind, self.parent = kind, parent
        self.depth: int = parent.depth + 1 if parent else 0
        self.parameters = words(parameters)
        self.bound = Counter(self.parameters)
        self.imports: dict[str, list[ast.Import | ast.ImportFrom]] = {}
        self._globals: set[str] = set()
        self._nonlocals: set[str] = set()
        self._numbers: dict[str, str] = {}
        self._unused = count()
        for node in in_scope(nodes):
            if isinstance(node, ast.Global):
                self._globals.update(node.names)
            elif isinstance(node, ast.Nonlocal):
                self._nonlocals.update(node.names)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                for name in bound_names(node):
                    self.imports.setdefault(name, []).append(node)
            if bound := name_bound_by(node):
                self.bound[bound] += 1

    def owner(self, name: str) -> Scope | None:
        """The scope that a name belongs to; None for the module's own and for built-in names."""
        scope = self
        while scope.parent:
            if scope.kind != "class" or scope is self:  # methods do not see their class's names
                if name in scope._globals:
                    return None
                if name in scope.bound and name not in scope._nonlocals:
                    return scope
            scope = scope.parent
        return None

    def token(self, name: str, store: bool) -> str:
        """What a name of this scope is called in normal form: locals are numbered in order of appearance.

        One that is read before it is given a value keeps its name: the message of the error would tell it.
        """
        if self.kind == "class":
            return f"%class.{name}"
        if name in self.parameters:
            return f"%{self.depth}:{name}"
        if name not in self._numbers:
            number = f"%{self.depth}.{next(self._unused)}"
            self._numbers[name] = number if store else f"{number}:{name}"
        return self._numbers[name]

    def unbind(self, name: str) -> None:
        """Note that a name has no value any more."""
        if owner := self.owner(name):
            owner._numbers.pop(name, None)
