"""Which top-level statements may be left out when nothing uses what they bind, and which always count.

An assignment may when computing its value touches nothing else: literals, and a few well-known calls on them
(`re.compile`, `frozenset`, `logging.getLogger`). A function or class may unless a decorator could register
it. Everything else (patches, seeds, registries, other calls) has effects, or may have.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from translations_assets.keys.code.syntax import FUNCTIONS, bound_names, dotted, is_for_type_checkers, is_idle

_MODULE_NAME = "__name__"
_TYPES = {
    *("bool", "bytes", "dict", "float", "frozenset", "int", "list", "object", "set", "str", "tuple", "type")
}
_PURE_CALLS = {
    *(_TYPES - {"object", "type"}),
    *("enumerate", "len", "max", "min", "range", "sorted", "sum", "zip"),
    *("collections.namedtuple", "datetime.timedelta", "decimal.Decimal", "functools.partial"),
    *("logging.getLogger", "numpy.dtype", "operator.attrgetter", "operator.itemgetter", "pathlib.Path"),
    *("re.compile", "regex.compile", "typing.NewType", "typing.ParamSpec", "typing.TypeVar"),
}
_PURE_METHODS = {
    *("encode", "format", "items", "join", "keys", "lower", "removeprefix", "removesuffix", "replace"),
    *("split", "splitlines", "strip", "union", "upper", "values"),
}
_CHANGING_CALLS = {"dict", "enumerate", "list", "set", "sorted", "zip"}
_CHANGING = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)
_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict)
_OPERATIONS = (
    *(ast.Constant, *_DISPLAYS, ast.Starred, ast.Slice, ast.Subscript, ast.JoinedStr, ast.FormattedValue),
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.keyword),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context),
)
_PURE_DECORATORS = {
    *("classmethod", "property", "staticmethod"),
    *("abc.abstractmethod", "contextlib.contextmanager", "dataclasses.dataclass", "enum.unique"),
    *("functools.cache", "functools.cached_property", "functools.lru_cache", "functools.total_ordering"),
    *("functools.wraps", "typing.final", "typing.overload", "typing.runtime_checkable"),
}
_TYPE_MODULES = {"collections", "concurrent", "contextlib", "numpy", "types", "typing"}
_CHANGING_MODULES = {"os", "sys"}


class Values:
    """Judges the top-level assignments of one module, in their order.

    external  names bound by imports from outside the package → what they stand for, dotted
    internal  names bound by imports from the package: they may be mentioned, not computed with
    bound     how many statements bind each of the module's names
    """

    def __init__(
        self, external: Mapping[str, str], internal: Iterable[str], bound: Mapping[str, int]
    ) -> None:
        self._external = external
        self._bound = bound
        steady = {name for name, path in external.items() if path.split(".")[0] not in _CHANGING_MODULES}
        # Fixed: what the name stands for never changes. Known: it may, so the name can only be mentioned.
        steady |= {*_TYPES, _MODULE_NAME} - set(bound)
        self._fixed = {name for name in steady if bound.get(name, 1) == 1}
        self._known = self._fixed | {name for name in (*external, *internal) if bound[name] == 1}

    def define(self, name: str, fixed: bool = True) -> None:
        """Note a name that may be mentioned from here on; one whose value is fixed may be computed with."""
        if self._bound[name] == 1:
            self._known.add(name)
            self._fixed.update([name] if fixed else [])

    def is_constant(self, statement: ast.stmt) -> bool:
        """Whether a statement only gives names to a pure value; notes the names."""
        match statement:
            case ast.Assign(targets=targets, value=value):
                pass
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                targets = [target]
            case _:
                return False
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if len(names) < len(targets) or any(self._bound[name] > 1 for name in names):
            return False
        if not self._is_pure(value):
            return False
        for name in names:
            self.define(name, fixed=not _can_change(value) and self._is_still(value, set()))
        return True

    def may_register(self, statement: ast.stmt) -> bool:
        """Whether a decorator or a metaclass may note a function or class when it is defined."""
        decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
        functions = [node.func if isinstance(node, ast.Call) else node for node in decorators]
        known = all(self._path(function) in _PURE_DECORATORS for function in functions)
        return bool(getattr(statement, "keywords", [])) or not known

    def has_effects(self, statement: ast.stmt) -> bool:
        """Whether a top-level statement may do more than give names to values."""
        if is_idle(statement) or isinstance(statement, (ast.Import, ast.ImportFrom)):
            return False
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            return self.may_register(statement)
        if isinstance(statement, (ast.If, ast.Try)):
            return any(map(self.has_effects, _inner_statements(statement)))
        if isinstance(statement, ast.Assign):
            return not all(map(_is_name, statement.targets))
        return not (isinstance(statement, ast.AnnAssign) and _is_name(statement.target))

    def _is_pure(self, node: ast.expr) -> bool:
        """Whether a value consists of fixed values and mentions of known names."""
        if isinstance(node, _DISPLAYS):
            parts = [*node.keys, *node.values] if isinstance(node, ast.Dict) else node.elts
            return all(self._is_pure(part) for part in parts if part)
        if dotted(node):
            return dotted(node)[0] in self._known
        return self._is_still(node, set())

    def _is_still(self, node: ast.AST, inner: set[str]) -> bool:
        """Whether a value is computed from fixed values alone; `inner` are names of comprehensions."""
        if isinstance(node, (ast.Name, ast.Attribute)):
            return dotted(node)[:1] != () and (dotted(node)[0] in inner or dotted(node)[0] in self._fixed)
        if isinstance(node, ast.Call):
            parts = (*node.args, *node.keywords)
            known = self._is_pure_function(node.func, inner)
            return known and all(self._is_still(part, inner) for part in parts)
        if isinstance(node, ast.Subscript) and self._is_type(node.value):
            return self._is_pure(node.slice)  # `tuple[Line, int]` mentions `Line` and computes nothing
        if not isinstance(node, _OPERATIONS):
            return False
        targets = [generator.target for generator in getattr(node, "generators", [])]
        names = inner.union(*map(bound_names, targets))
        return all(self._is_still(child, names) for child in ast.iter_child_nodes(node))

    def _is_type(self, node: ast.expr) -> bool:
        path = self._path(node)
        return path in _TYPES or path.split(".")[0] in _TYPE_MODULES

    def _is_pure_function(self, node: ast.expr, inner: set[str]) -> bool:
        if self._path(node):
            return self._path(node) in _PURE_CALLS
        return (
            isinstance(node, ast.Attribute)
            and node.attr in _PURE_METHODS
            and self._is_still(node.value, inner)
        )

    def _path(self, node: ast.expr) -> str:
        """What a name from outside the package stands for, dotted; empty for anything else."""
        head, *attributes = dotted(node) or ("",)
        if head in self._external and self._bound[head] == 1:
            return ".".join((self._external[head], *attributes))
        return head if not attributes and head not in self._bound else ""


def _can_change(node: ast.expr) -> bool:
    """Whether the value could be changed in place, or used up."""
    if isinstance(node, ast.Call):
        return dotted(node.func)[-1:] != () and dotted(node.func)[-1] in _CHANGING_CALLS
    return isinstance(node, _CHANGING)


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Tuple) and all(map(_is_name, node.elts)))


def _inner_statements(statement: ast.If | ast.Try) -> list[ast.stmt]:
    body = [] if is_for_type_checkers(statement) else statement.body
    if isinstance(statement, ast.If):
        return [*body, *statement.orelse]
    handlers = [inner for handler in statement.handlers for inner in handler.body]
    return [*body, *statement.orelse, *statement.finalbody, *handlers]
