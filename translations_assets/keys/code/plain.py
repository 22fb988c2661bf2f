"""Whether a module is in plain form: importing it only gives names to values, whatever ran before it.

Plain are imports of modules that are known, functions, classes of known bases, and values that are computed
from literals and names by calls that are known. What is not known to be plain is not: a module of another
form may register, patch, count, draw or print, so that what it does depends on its other statements and on
the order of all.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from translations_assets.keys.code import outside
from translations_assets.keys.code.modules import Module, Modules, Unit
from translations_assets.keys.code.syntax import (
    FUNCTIONS,
    bound_names,
    children,
    dotted,
    hints,
    is_idle,
    is_main_guard,
    kinds,
    words,
)

_TYPES = words("bool bytes complex dict float frozenset int list object range set slice str tuple")
_CALLS = (_TYPES - {"object"}) | words(
    "abs all any chr divmod enumerate len map max min ord pow reversed round sorted sum zip "
    "dict.fromkeys str.maketrans collections.Counter collections.deque collections.namedtuple "
    "dataclasses.field datetime.timedelta itertools.chain itertools.count ctypes.CDLL logging.getLogger "
    "numpy.array numpy.dtype numpy.empty numpy.frombuffer numpy.uint64 numpy.zeros operator.itemgetter "
    "pathlib.Path re.compile regex.compile struct.Struct types.MappingProxyType typing.NewType "
    "typing.ParamSpec typing.TypeVar threading.Lock xxhash.xxh3_128_digest"
)
_ITERATORS = words("enumerate itertools.chain itertools.count map reversed zip")
_METHODS = words(
    "casefold encode get isalnum isalpha isdigit isupper items join keys lower lstrip removeprefix "
    "removesuffix replace reshape rstrip split splitlines strip title to_bytes translate union upper values"
)
_DECORATORS = words(
    "abc.abstractmethod classmethod contextlib.contextmanager dataclasses.dataclass functools.cache "
    "functools.cached_property functools.lru_cache functools.wraps property staticmethod"
)
_BASES = words(
    "Exception OSError RuntimeError ValueError abc.ABC collections.abc enum io threading.Thread "
    "pickle.Unpickler opustrainer.modifiers.Modifier opustrainer.modifiers.pool.ModifierPool typing.Generic "
    "typing.NamedTuple typing.Protocol typing.TypedDict"
)
_OPERATIONS = kinds(
    "Constant List Tuple Set Dict Starred Slice Subscript JoinedStr FormattedValue BinOp UnaryOp BoolOp "
    "Compare IfExp comprehension keyword"
)
_KEEPING = kinds("List Tuple Set Dict Subscript BoolOp IfExp")
_HINTS = kinds("Constant Name Attribute Subscript BinOp Tuple List BitOr Load")
_CHANGING = kinds("List Dict Set ListComp DictComp SetComp GeneratorExp Lambda")
_FIXED = words("frozenset str tuple logging.getLogger numpy.dtype re.compile regex.compile typing.TypeVar")


class NotPlainError(Exception):
    """What is not known to be plain, in words."""

    def __init__(self, node: ast.AST, what: str) -> None:
        super().__init__(f"line {getattr(node, 'lineno', 1)}: {what}")


def not_plain(modules: Modules, module: Module) -> str:
    """Why a module is not in plain form, with the line; empty when it is."""
    try:
        _Checker(modules, module, module).check()
    except NotPlainError as why:
        return str(why)
    return ""


class _Checker:
    """Checks a module.

    own  the module whose names nobody else has had yet: the one that is being imported
    """

    def __init__(self, modules: Modules, module: Module, own: Module | None = None) -> None:
        self._modules, self._module, self._own = modules, module, own
        self._scope: frozenset[str] = frozenset()  # names of the class, comprehension or function

    def check(self) -> None:
        """Raises NotPlainError for the first statement that is not plain."""
        self._check_names()
        guarded = False
        for statement in self._module.tree.body:
            if guarded and not (isinstance(statement, FUNCTIONS) and statement.name not in vars(builtins)):
                raise NotPlainError(statement, "it stands behind the main guard")
            if is_main_guard(statement):
                guarded = True
                for name in bound_names(statement):
                    raise NotPlainError(statement, f"the main guard binds {name}; call a function instead")
            elif not is_idle(statement):
                self._statement(statement)

    def _check_names(self) -> None:
        """Each name is bound once, or by imports of the same."""
        places = [(name, unit.node) for unit in self._module.units for name in unit.names]
        for name, imports in self._module.imports.items():
            places += ((name, node) for node in {one.path: one.node for one in imports}.values())
        bound: set[str] = set()
        for name, node in places:
            if name in bound:
                raise NotPlainError(node, f"{name} is bound more than once")
            if name.startswith("__"):
                raise NotPlainError(node, f"{name} has a meaning for Python")
            bound.add(name)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Import() | ast.ImportFrom():
                for imported in self._module.imported(node):
                    if imported.is_internal:
                        self._modules.require(imported.loads[0], self._module, node.lineno)
                    elif not outside.is_module(imported.loads[0]):
                        raise NotPlainError(node, f"importing {imported.loads[0]} may have effects")
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._function(node)
            case ast.ClassDef():
                self._class(node)
            case ast.Assign() | ast.AnnAssign():
                self._assignment(node)
            case ast.If(test=test, orelse=[]) if self._path(test) == "typing.TYPE_CHECKING":
                for inner in node.body:
                    if not isinstance(inner, (ast.Import, ast.ImportFrom)):
                        raise NotPlainError(inner, "`if TYPE_CHECKING` holds something else than imports")
            case _:
                what = ast.unparse(node).splitlines()[0][:60]
                raise NotPlainError(node, f"a statement `{what}` runs at import")

    def _assignment(self, node: ast.Assign | ast.AnnAssign) -> None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if not all(isinstance(part, (ast.Tuple, ast.Name, ast.Store)) for part in ast.walk(target)):
                raise NotPlainError(node, f"{ast.unparse(target)[:60]} is changed at import")
        if isinstance(node, ast.AnnAssign):
            self._hint(node.annotation)
        if node.value:
            self._value(node.value)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for decorator in node.decorator_list:
            self._decorator(decorator)
        for default in filter(None, (*node.args.defaults, *node.args.kw_defaults)):
            self._value(default)
        for hint in hints(node):
            self._hint(hint)

    def _decorator(self, node: ast.expr) -> None:
        function = node.func if isinstance(node, ast.Call) else node
        if self._path(function) not in _DECORATORS:
            raise NotPlainError(node, f"the decorator {ast.unparse(function)} may do anything")
        for argument in [*node.args, *node.keywords] if isinstance(node, ast.Call) else []:
            self._value(argument)

    def _hint(self, node: ast.expr) -> None:
        """A hint that is evaluated only looks names up."""
        if not (self._module.future_annotations or self._is_hint(node)):
            raise NotPlainError(node, f"the type hint {ast.unparse(node)[:60]} is evaluated")

    def _is_hint(self, node: ast.expr) -> bool:
        parts = [*ast.walk(node)]
        attributes = (part for part in parts if isinstance(part, ast.Attribute))
        return all(isinstance(part, _HINTS) for part in parts) and all(map(self._path, attributes))

    def _class(self, node: ast.ClassDef) -> None:
        if node.keywords:
            raise NotPlainError(node, f"class {node.name} has a metaclass, or gives its base an argument")
        for decorator in node.decorator_list:
            self._decorator(decorator)
        for base in node.bases:
            if not self._is_base(base):
                raise NotPlainError(base, f"the base class {ast.unparse(base)} may learn of its subclasses")
        outer = self._scope
        for statement in node.body:
            self._member(statement)
            self._scope |= {*bound_names(statement)}
        self._scope = outer

    def _member(self, node: ast.stmt) -> None:
        for name in bound_names(node):
            if name.startswith("__") and name not in outside.METHODS | {"__slots__"}:
                raise NotPlainError(node, f"{name} has a meaning for Python")
        if isinstance(node, FUNCTIONS):
            self._function(node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            self._assignment(node)
        elif not is_idle(node):
            raise NotPlainError(node, "a statement in a class runs at import")

    def _is_base(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Subscript):
            self._value(node.slice)
            node = node.value
        path = self._path(node)
        if path:
            return path in _TYPES or path in _BASES or path.rpartition(".")[0] in _BASES
        unit = self._unit(node)
        return unit is not None and isinstance(unit.node, ast.ClassDef)  # which is checked in its module

    def _value(self, node: ast.AST) -> None:
        """A value that is computed from literals and from names above."""
        if not self._is_value(node):
            what = ast.unparse(node)[:60]
            raise NotPlainError(node, f"{what!r} is computed at import, by what is not known")

    def _is_value(self, node: ast.AST) -> bool:
        match node:
            case ast.Lambda(args=arguments):
                return all(map(self._is_value, filter(None, (*arguments.defaults, *arguments.kw_defaults))))
            case ast.Attribute(value=ast.Call(func=function) as value, attr="parent"):
                return self._path(function) == "pathlib.Path" and self._is_value(value)
            case ast.Name() | ast.Attribute():
                return self._is_name(node)
            case ast.Subscript(value=value, slice=inner) if self._path(value) and self._is_hint(inner):
                return self._is_value(value)
            case ast.Call():
                parts = [*node.args, *node.keywords]
                return self._may_be_called(node) and all(map(self._is_value, parts))
            case ast.BinOp(op=op, right=right) if isinstance(op, (ast.Div, ast.FloorDiv, ast.Mod)):
                return isinstance(right, ast.Constant) and bool(right.value) and self._is_value(node.left)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                names = bound_names(*(generator.target for generator in node.generators))
                return self._is_value(node.generators[0].iter) and self._are_values(children(node), names)
        are_kept = isinstance(node, _KEEPING) and any(map(self._is_iterator, children(node)))
        return isinstance(node, _OPERATIONS) and not are_kept and all(map(self._is_value, children(node)))

    def _are_values(self, nodes: Iterable[ast.AST], names: Iterable[str]) -> bool:
        """True if nodes are values where some names are bound besides."""
        outer, self._scope = self._scope, self._scope | {*names}
        are_values = all(map(self._is_value, nodes))
        self._scope = outer
        return are_values

    def _is_name(self, node: ast.Name | ast.Attribute) -> bool:
        names, path = dotted(node), self._path(node)
        if path:
            return path.split(".")[0] != "sys" and not path.startswith("os.environ")
        if names and names[0] in self._scope:
            return len(names) == 1  # an attribute may be a property
        unit = self._unit(node)
        if unit and isinstance(unit.node, ast.ClassDef):
            is_kept = unit.module is self._own and not any(map(self._is_iterator, ast.walk(unit.node)))
            return (names[-1] in unit.names or is_kept) and not self._may_run(unit)
        if unit is None or self._checker(unit.module)._is_iterator(getattr(unit.node, "value", None)):
            return False
        return unit.module is self._own or self._is_fixed(unit)

    def _is_iterator(self, node: ast.AST | None) -> bool:
        """True if a value is used up by who reads it first."""
        of_call = isinstance(node, ast.Call) and self._path(node.func) in _ITERATORS
        return of_call or isinstance(node, ast.GeneratorExp)

    def _may_run(self, unit: Unit) -> bool:
        """True if a class has, or may inherit, a function of its own that is called like known methods."""
        node = unit.node
        assert isinstance(node, ast.ClassDef)
        bases = map(self._checker(unit.module)._unit, node.bases)
        return bool(_METHODS & {*bound_names(*node.body)}) or any(map(self._may_run, filter(None, bases)))

    def _may_be_called(self, node: ast.Call) -> bool:
        function, path = node.func, self._path(node.func)
        called = [keyword.value for keyword in node.keywords if keyword.arg in {"key", None}]
        called += node.args[:1] if path == "map" else []
        if not all(self._path(one) in _CALLS - {"map"} for one in called):
            return False
        unit = self._unit(function)
        if unit or path:
            return path in _CALLS or (unit is not None and self._is_record(unit))
        if not isinstance(function, ast.Attribute):
            return False
        return function.attr in _METHODS and self._is_value(function.value)

    def _is_record(self, unit: Unit) -> bool:
        """True if a class only keeps values (NamedTuple, dataclass), or a function makes one that does."""
        node, checker = unit.node, self._checker(unit.module)
        if isinstance(node, ast.FunctionDef):
            return not node.decorator_list and checker._only_returns(node)
        if not isinstance(node, ast.ClassDef) or len(node.bases) > 1:
            return False
        is_tuple = [checker._path(base) for base in node.bases] == ["typing.NamedTuple"]
        makers = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
        is_dataclass = [*map(checker._path, makers)] == ["dataclasses.dataclass"] and not node.bases
        keywords = {part.arg for part in ast.walk(node) if isinstance(part, ast.keyword)}
        special = any(name.startswith("__") for name in bound_names(*node.body)) or self._may_run(unit)
        return (is_tuple or is_dataclass) and not keywords & {"default_factory", None} and not special

    def _only_returns(self, node: ast.FunctionDef) -> bool:
        body = [statement for statement in node.body if not is_idle(statement)]
        parameters = (part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg))
        match body:
            case [ast.Return(value=ast.expr() as value)]:
                return self._are_values([value], parameters)
        return False

    def _checker(self, module: Module) -> _Checker:
        return _Checker(self._modules, module, module if module is self._own else None)

    def _is_fixed(self, unit: Unit) -> bool:
        """True if a name of another module stands for what it did when that module had been imported."""
        value, checker = getattr(unit.node, "value", None), self._checker(unit.module)
        for node in ast.walk(value) if value else ():
            calls = isinstance(node, ast.Call) and checker._path(node.func) not in _FIXED
            if calls or isinstance(node, _CHANGING):
                return False
            other = checker._unit(node) if isinstance(node, ast.Name) else None
            if other and other is not unit and not self._is_fixed(other):
                return False
        return True

    def _unit(self, node: ast.AST) -> Unit | None:
        """What of the package a name stands for; a class for its attributes, too."""
        names = dotted(node)
        if not names or names[0] in self._scope:
            return None
        found = self._modules.lookup(self._module, names[0])
        for name in names[1:]:
            if isinstance(found.meaning, Module):
                found = self._modules.attribute(found.meaning, name)
            elif not isinstance(found.meaning, Unit) or not isinstance(found.meaning.node, ast.ClassDef):
                return None
        return found.meaning if isinstance(found.meaning, Unit) else None

    def _path(self, node: ast.AST) -> str:
        """What a name from outside the package stands for, dotted; empty for anything else."""
        names = dotted(node)
        if not names or names[0] in self._scope:
            return ""
        imports = self._module.imports.get(names[0])
        if imports:
            return "" if imports[-1].is_internal else ".".join((imports[-1].path, *names[1:]))
        is_built_in = names[0] in vars(builtins) and names[0] not in self._module.definitions
        return ".".join(names) if is_built_in else ""
