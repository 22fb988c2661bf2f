"""Questions about syntax trees that several modules ask, and Python's scopes, as far as telling local names
from others takes.

While a statement is walked, every use of a name is written down with its scope; what the name means is known
only when the walk is over, since a binding may come after the use.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CLOSED = (*FUNCTIONS, ast.ClassDef, ast.Lambda)

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
    """Whether a statement looks like `if TYPE_CHECKING:`."""
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


class Kind(Enum):
    """What opened a scope; a lambda counts as a function."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    COMPREHENSION = "comprehension"


class Target(NamedTuple):
    """What an import binds: a module, or an attribute of it (which may be a submodule)."""

    module: str
    attribute: str | None = None


@dataclass(eq=False)
class Scope:
    """One scope and the names bound in it; parameters are told apart because they are never renamed."""

    kind: Kind
    parent: Scope | None = None

    def __post_init__(self) -> None:
        self.depth: int = self.parent.depth + 1 if self.parent else 0
        self.parameters: set[str] = set()
        self.stores: dict[str, int] = {}  # name → number of places that bind it
        self.imports: dict[str, list[Target]] = {}
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.bound_inside: set[str] = set()  # by functions inside that declare the name nonlocal
        self._numbers: dict[str, str] = {}

    def bind(self, name: str) -> None:
        """Note a place that binds a name."""
        self.stores[name] = self.stores.get(name, 0) + 1

    def bind_import(self, name: str, target: Target) -> None:
        """Note an import statement that binds a name."""
        self.bind(name)
        self.imports.setdefault(name, []).append(target)

    def declare_nonlocal(self, name: str) -> None:
        """Note that a name bound here belongs to a function around this one."""
        self.nonlocals.add(name)
        around = self.parent
        while around:
            around.bound_inside.add(name)
            around = around.parent

    def nearest_function(self) -> Scope:
        """The scope that `:=` binds in."""
        scope = self
        while scope.kind is Kind.COMPREHENSION and scope.parent:
            scope = scope.parent
        return scope

    def owner(self, name: str) -> Scope | None:
        """The scope that a name belongs to; None for the module's own and for built-in names."""
        scope: Scope | None = self
        while scope and scope.kind is not Kind.MODULE:
            if scope.kind is not Kind.CLASS or scope is self:  # methods do not see their class's names
                if name in scope.globals:
                    return None
                if name not in scope.nonlocals and (name in scope.parameters or name in scope.stores):
                    return scope
            scope = scope.parent
        return None

    def imported(self, name: str) -> Target | None:
        """The import that a function's local name stands for, None when it may stand for something else."""
        targets = self.imports.get(name, [])
        others = (
            name in self.parameters or name in self.bound_inside or len(targets) < self.stores.get(name, 0)
        )
        return targets[0] if self.kind is Kind.FUNCTION and not others and len(set(targets)) == 1 else None

    def token(self, name: str, store: bool) -> str:
        """What a name of this scope is called in normal form: locals are numbered in order of appearance.

        One that is read before it is given a value keeps its name: the message of the error would tell it.
        """
        if self.kind is Kind.CLASS:
            return f"%class.{name}"
        if name in self.parameters:
            return f"%{self.depth}:{name}"
        number = f"%{self.depth}.{len(self._numbers)}"
        return self._numbers.setdefault(name, number if store else f"{number}:{name}")


@dataclass(frozen=True, eq=False)
class Use:
    """A name, with the attributes taken from it (`np.random.seed`), where it is read or bound."""

    scope: Scope
    name: str
    attributes: tuple[str, ...] = ()
    store: bool = False
    hint: bool = False


@dataclass(frozen=True, eq=False)
class ImportUse:
    """A name that an import statement below the top level binds."""

    scope: Scope
    name: str
    target: Target
    line: int
