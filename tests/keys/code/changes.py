"""Changes to Python source that must not change what it does, and one that does.

Each takes a module's text and returns another text; they know nothing of how fingerprints are made.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Callable, Iterator
from copy import deepcopy

Function = ast.FunctionDef | ast.AsyncFunctionDef


def insert_comments(source: str) -> str:
    """A comment line above every statement, and one at the end."""
    lines = source.split("\n")
    for statement in sorted(_statements(ast.parse(source)), key=_first_line, reverse=True):
        indent = lines[_first_line(statement) - 1][: statement.col_offset]
        if not indent.strip():
            lines.insert(_first_line(statement) - 1, f"{indent}# a new comment")
    return "\n".join(lines) + "# the end\n"


def reformat(source: str) -> str:
    """The layout of another formatter: no comments, other quotes, everything on one line."""
    return ast.unparse(ast.parse(source))


def change_docstrings(source: str) -> str:
    """Another docstring for everything that can have one, but for the module if `__doc__` reads it."""
    tree = ast.parse(source)
    reads = any(isinstance(node, ast.Name) and node.id == "__doc__" for node in ast.walk(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and not (node is tree and reads):
            if ast.get_docstring(node) is not None:
                node.body.pop(0)
            node.body.insert(0, ast.Expr(ast.Constant("Another docstring.")))
    return ast.unparse(tree)


def strip_hints(source: str) -> str:
    """No type hints on functions without decorators, nor on their variables."""
    return _with_hints(source, lambda old: None)


def add_hints(source: str) -> str:
    """Type hints on functions without decorators, wherever there is none."""
    return _with_hints(source, lambda old: old or ast.Constant("dict[str, NotImported]"))


def change_hints(source: str) -> str:
    """Other type hints on functions without decorators, and on their variables."""
    return _with_hints(source, lambda old: old and ast.Name("another_type"))


def _with_hints(source: str, change: Callable[[ast.expr | None], ast.expr | None]) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, Function) and not node.decorator_list:
            node.returns = change(node.returns)
            for argument in ast.walk(node.args):
                if isinstance(argument, ast.arg) and argument.arg not in ("self", "cls"):
                    argument.annotation = change(argument.annotation)
            node.body = [_Variables(change).visit(statement) for statement in node.body]
    return ast.unparse(ast.fix_missing_locations(tree))


class _Variables(ast.NodeTransformer):
    """Changes the hints of variables that are given a value; classes keep theirs."""

    def __init__(self, change: Callable[[ast.expr | None], ast.expr | None]) -> None:
        self._change = change

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        hint = self._change(node.annotation)
        if node.value is None or hint is None:
            return ast.copy_location(ast.Assign([node.target], node.value), node) if node.value else node
        return ast.copy_location(ast.AnnAssign(node.target, hint, node.value, node.simple), node)


def add_blanks(source: str) -> str:
    """Blanks at the ends of lines, and empty lines between them; not inside of texts."""
    inside = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno
        for line in range(node.lineno, node.end_lineno)
    }
    lines = source.split("\n")
    return "".join(
        line + ("\n" if number in inside or line.endswith("\\") else "  \n\n")
        for number, line in enumerate(lines, start=1)
    )


def reverse_imports(source: str) -> str:
    """The top-level imports in reverse order, each name by itself."""
    tree = ast.parse(source)
    imports = [node for node in tree.body if _is_import(node)]
    single: list[ast.stmt] = []
    for node in reversed(imports):
        assert isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in reversed(node.names):
            copy = deepcopy(node)
            copy.names = [alias]
            single.append(copy)
    first = tree.body.index(imports[0]) if imports else 0
    rest = [node for node in tree.body if node not in imports]
    tree.body = [*rest[:first], *single, *rest[first:]]
    return ast.unparse(tree)


def add_unused(source: str) -> str:
    """An unused function, class, constant and import, at the end and at the start."""
    mark = re.search(r"""\nif __name__ == (['"])__main__\1:""", source)
    head, rest = (source[: mark.start()], source[mark.start() :]) if mark else (source, "")
    more = "\n\nNOT_USED = 17\n\ndef not_used():\n    return unused.loads('')\n\nclass NotUsed:\n    pass\n"
    lines = [*head.split("\n")]
    place = max(node.end_lineno or 0 for node in ast.parse(source).body if _is_import(node) or _is_text(node))
    lines.insert(place, "import json as unused")
    return "\n".join(lines) + more + rest


def reverse_functions(source: str) -> str:
    """The functions that no top-level statement mentions behind all others, in reverse order."""
    tree = ast.parse(source)
    others = [node for node in tree.body if not isinstance(node, ast.FunctionDef)]
    headers = [part for node in ast.walk(tree) if isinstance(node, Function) for part in _evaluated(node)]
    mentioned = {
        name.id for node in [*others, *headers] for name in ast.walk(node) if isinstance(name, ast.Name)
    }
    moved = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name not in mentioned]
    rest = [node for node in tree.body if node not in moved]
    tree.body = [*rest, *reversed(moved)]
    return ast.unparse(tree)


def rename_locals(source: str) -> str:
    """Other names for the locals of every function, parameters aside; scopes are told apart by `symtable`."""
    tree = ast.parse(source)
    module = symtable.symtable(source, "module", "exec")
    tables = {(table.get_name(), table.get_lineno()): table for table in _tables(module)}
    for function in _outermost_functions(tree):
        name, lines = function.name, (function.lineno, _first_line(function))  # interpreters differ
        table = next(tables[name, line] for line in lines if (name, line) in tables)
        _Rename(frozenset(_free_to_rename(table))).visit(function)
    return ast.unparse(tree)


HARMLESS: dict[str, Callable[[str], str]] = {
    "comments": insert_comments,
    "formatting": reformat,
    "docstrings": change_docstrings,
    "blanks and empty lines": add_blanks,
    "type hints removed": strip_hints,
    "type hints added": add_hints,
    "type hints changed": change_hints,
    "imports reordered": reverse_imports,
    "unused definitions": add_unused,
    "functions moved inside the file": reverse_functions,
    "locals renamed": rename_locals,
}


def move_function(source: str, module: str, name: str, target: str) -> tuple[str, str]:
    """Move a function to a new module: the old module imports it, the new one what the function uses."""
    tree = ast.parse(source)
    moved = next(node for node in tree.body if isinstance(node, Function) and node.name == name)
    used = {node.id for node in ast.walk(moved) if isinstance(node, ast.Name)}
    imports = [node for node in tree.body if _is_import(node)]
    defined = {
        table.get_name()
        for table in symtable.symtable(source, "module", "exec").get_symbols()
        if table.is_assigned() and not table.is_imported()
    }
    back = sorted((used & defined) - {name})
    tree.body[tree.body.index(moved)] = ast.parse(f"from {target} import {name}").body[0]
    lines = [f"from {module} import {', '.join(back)}"] if back else []
    return ast.unparse(tree), "\n".join([*map(ast.unparse, imports), *lines, ast.unparse(moved)])


def movable_functions(source: str) -> list[str]:
    """Plain top-level functions, but for those that read the docstring of the module that they are in."""
    functions = [node for node in ast.parse(source).body if isinstance(node, Function)]
    return [
        function.name
        for function in functions
        if not function.decorator_list
        and not any(isinstance(node, ast.Name) and node.id == "__doc__" for node in ast.walk(function))
    ]


def literal_constants(source: str) -> Iterator[str]:
    """Names of the top-level constants that are literals and bound once."""
    for node in ast.parse(source).body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and _is_literal(node.value):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name):
                yield target.id


def change_constants(source: str, *names: str) -> str:
    """Another value for each of some constants."""
    tree = ast.parse(source)
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and _is_literal(node.value):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and target.id in names:
                node.value = ast.Constant("another value")
    return ast.unparse(tree)


def _is_literal(node: ast.expr | None) -> bool:
    try:
        ast.literal_eval(node or "")
    except (ValueError, SyntaxError):
        return False
    return True


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.module != "__future__")


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Expr, ast.ImportFrom))


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.stmt))


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _evaluated(node: Function) -> list[ast.expr]:
    defaults = [default for default in (*node.args.defaults, *node.args.kw_defaults) if default]
    return [*node.decorator_list, *defaults]


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        if child.get_type() == "function":
            yield child
        else:
            yield from _tables(child)


def _outermost_functions(node: ast.AST) -> Iterator[Function]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            yield child
        elif not isinstance(child, ast.expr):
            yield from _outermost_functions(child)


def _free_to_rename(table: symtable.SymbolTable) -> Iterator[str]:
    """Locals of a function that are variables wherever they stand in it and in the functions inside."""
    inside = [table, *_all_inside(table)]
    for symbol in table.get_symbols():
        name = symbol.get_name()
        same = [other.lookup(name) for other in inside if name in other.get_identifiers()]
        if symbol.is_assigned() and all(_is_variable(other) for other in same):
            yield name


def _all_inside(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _all_inside(child)


def _is_variable(symbol: symtable.Symbol) -> bool:
    special = symbol.is_parameter() or symbol.is_imported() or symbol.is_namespace() or symbol.is_global()
    return not special and (symbol.is_local() or symbol.is_free())


class _Rename(ast.NodeTransformer):
    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._new(node.id)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        node.name = node.name and self._new(node.name)
        return self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> ast.AST:
        node.name = node.name and self._new(node.name)
        return self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> ast.AST:
        node.name = node.name and self._new(node.name)
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        node.names = [self._new(name) for name in node.names]
        return node

    def _new(self, name: str) -> str:
        return f"{name}_renamed" if name in self._names else name
