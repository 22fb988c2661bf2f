"""Whether a module is in plain form: importing it only gives names to values, whatever ran before it.

Plain are imports of modules that are known, functions, classes of known bases, and values that are computed
from literals and names above by calls that are known. What is not known to be plain is not: a module of
another form may register, patch, count, draw or print, so that what it does depends on its other statements
and on the order of all.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from translations_assets.keys.code import outside
from translations_assets.keys.code.modules import External, Module, Modules, Unit, Unknown
from translations_assets.keys.code.syntax import (
    FUNCTIONS,
    bound_names,
    dotted,
    is_idle,
    is_main_guard,
    kinds,
    words,
)

_TYPES = words("bool bytes complex dict float frozenset int list object range set slice str tuple")
_CALLS = (_TYPES - {"object"}) | words(
    "abs all any chr divmod enumerate filter len map max min ord pow reversed round sorted sum zip "
    "bytes.fromhex dict.fromkeys str.maketrans collections.Counter collections.defaultdict "
    "collections.deque collections.namedtuple dataclasses.field datetime.timedelta decimal.Decimal "
    "fractions.Fraction functools.partial itertools.chain itertools.chain.from_iterable itertools.count "
    "itertools.product itertools.repeat ctypes.CDLL logging.getLogger numpy.array numpy.dtype numpy.empty "
    "numpy.float32 numpy.int64 numpy.uint64 numpy.zeros operator.itemgetter pathlib.Path re.compile "
    "regex.compile struct.Struct types.MappingProxyType typing.NewType typing.ParamSpec typing.TypeVar "
    "threading.Lock threading.RLock"
)
_METHODS = words(
    "casefold encode format fullmatch get isalnum isalpha isdigit isupper items join keys lower "
    "lstrip match partition removeprefix removesuffix replace rpartition rstrip split splitlines "
    "strip title to_bytes translate union upper values with_suffix"
)
_PARTS_OF_PATHS = {"name", "parent", "stem", "suffix"}
_DECORATORS = words(
    "abc.abstractmethod classmethod contextlib.contextmanager contextlib.asynccontextmanager "
    "dataclasses.dataclass enum.unique functools.cache functools.cached_property functools.lru_cache "
    "functools.total_ordering functools.wraps property staticmethod typing.final typing.overload "
    "typing.runtime_checkable typing_extensions.override"
)
_BASES = words(
    "abc.ABC collections.Counter collections.OrderedDict collections.UserDict collections.abc "
    "collections.defaultdict collections.deque contextlib.AbstractContextManager enum io "
    "opustrainer.modifiers.Modifier threading.Thread typing.Generic typing.NamedTuple typing.Protocol "
    "typing.TypedDict"
)
_EXCEPTIONS = {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}
_OPERATIONS = kinds(
    "Constant List Tuple Set Dict Starred Slice Subscript JoinedStr FormattedValue BinOp UnaryOp BoolOp "
    "Compare IfExp ListComp SetComp DictComp GeneratorExp comprehension keyword operator unaryop boolop "
    "cmpop expr_context"
)
_CHANGING = kinds("List Dict Set ListComp DictComp SetComp GeneratorExp Lambda")
_FIXED = words(
    "bytes chr complex float frozenset int len max min ord pow range str sum tuple datetime.timedelta "
    "decimal.Decimal logging.getLogger numpy.dtype pathlib.Path re.compile regex.compile "
    "struct.Struct typing.NewType typing.ParamSpec typing.TypeVar"
)
_HINTS = kinds("Constant Name Attribute Subscript BinOp Tuple List BitOr Load")


class NotPlainError(Exception):
    """What is not known to be plain, in words."""

    def __init__(self, node: ast.AST, what: str) -> None:
        super().__init__(f"line {getattr(node, 'lineno', 1)}: {what}")


def not_plain(modules: Modules, module: Module) -> str:
    """Why a module is not in plain form, with the line; empty when it is."""
    try:
        _Module(modules, module).check()
    except NotPlainError as why:
        return str(why)
    return ""


class _Module:
    """Checks one module; `names` are those bound so far."""

    def __init__(self, modules: Modules, module: Module, names: Iterable[str] = ()) -> None:
        self._modules, self._module = modules, module
        self._own = None if names else module  # whose values nobody has had before
        self._names = {*names}
        self._packages: set[str] = set()  # names that `import a.b` binds, again and again
        self._scope: set[str] = set()  # of the class or the comprehension that is being looked at

    def check(self) -> None:
        """Raises NotPlainError for the first statement that is not plain."""
        guarded = False
        for statement in self._module.tree.body:
            if guarded and not (isinstance(statement, FUNCTIONS) and statement.name not in vars(builtins)):
                raise NotPlainError(statement, "it stands behind the main guard")
            if is_main_guard(statement):
                guarded = True
                if names := [name for inner in statement.body for name in bound_names(inner)]:  # type: ignore[attr-defined]
                    raise NotPlainError(
                        statement, f"the main guard binds {names[0]}; call a function instead"
                    )
            elif not is_idle(statement):
                self._statement(statement)
        for node in self._module.of(ast.Global):
            raise NotPlainError(node, f"`global {node.names[0]}` changes a name of the module")
        for node in self._module.of(*FUNCTIONS, ast.ClassDef):
            if getattr(node, "type_params", None):
                raise NotPlainError(node, "type parameters in brackets")

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Import() | ast.ImportFrom():
                self._import(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._function(node)
                self._bind(node, node.name)
            case ast.ClassDef():
                self._class(node)
                self._bind(node, node.name)
            case ast.Assign(targets=targets, value=value):
                self._value(value)
                self._bind(node, *(name for target in targets for name in self._targets(target)))
            case ast.AnnAssign(target=ast.Name(id=name), value=value):
                self._hint(node.annotation)
                if value:
                    self._value(value)
                    self._bind(node, name)
            case ast.If(test=test, orelse=[]) if self._path(test) == "typing.TYPE_CHECKING":
                for inner in node.body:
                    if not isinstance(inner, (ast.Import, ast.ImportFrom)):
                        raise NotPlainError(inner, "`if TYPE_CHECKING` holds something else than imports")
            case _:
                raise NotPlainError(
                    node, f"a statement `{ast.unparse(node).splitlines()[0][:60]}` runs at import"
                )

    def _bind(self, node: ast.stmt, *names: str) -> None:
        for name in names:
            if name in self._names:
                raise NotPlainError(node, f"{name} is bound more than once")
            if name.startswith("__"):
                raise NotPlainError(node, f"{name} has a meaning for Python")
            self._names.add(name)

    def _targets(self, node: ast.expr) -> Iterator[str]:
        if isinstance(node, ast.Tuple):
            for part in node.elts:
                yield from self._targets(part)
        elif isinstance(node, ast.Name):
            yield node.id
        else:
            raise NotPlainError(node, f"{ast.unparse(node)[:60]} is changed at import")

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for imported in self._module.imported(node):
            if imported.is_internal:
                self._modules.require(imported.loads[0], self._module, node.lineno)
            elif not outside.is_module(imported.loads[0]):
                raise NotPlainError(node, f"importing {imported.loads[0]} may have effects")
            again = isinstance(node, ast.Import) and imported.name in self._packages
            if isinstance(node, ast.Import) and not imported.alias.asname:
                self._packages.add(imported.name)
            if not again:
                self._bind(node, imported.name)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for decorator in node.decorator_list:
            self._decorator(decorator)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default:
                self._value(default)
        arguments = [
            hint for part in ast.walk(node.args) if isinstance(part, ast.arg) and (hint := part.annotation)
        ]
        for hint in [*arguments, *([node.returns] if node.returns else [])]:
            self._hint(hint)

    def _decorator(self, node: ast.expr) -> None:
        function = node.func if isinstance(node, ast.Call) else node
        of_property = (
            dotted(function)[1:] in {("setter",), ("getter",), ("deleter",)}
            and dotted(function)[0] in self._scope
        )
        if self._path(function) not in _DECORATORS and not of_property:
            raise NotPlainError(node, f"the decorator {ast.unparse(function)} may do anything")
        for argument in _arguments(node):
            self._value(argument)

    def _hint(self, node: ast.expr) -> None:
        """A hint that is evaluated only looks names up."""
        if self._module.future_annotations:
            return
        for part in ast.walk(node):
            of_unknown = isinstance(part, ast.Attribute) and not self._path(part)
            if not isinstance(part, _HINTS) or of_unknown:
                raise NotPlainError(node, f"the type hint {ast.unparse(node)[:60]} is evaluated")

    def _class(self, node: ast.ClassDef) -> None:
        if node.keywords:
            raise NotPlainError(node, f"class {node.name} has a metaclass, or gives its base an argument")
        for decorator in node.decorator_list:
            self._decorator(decorator)
        for base in node.bases:
            if not self._is_base(base):
                raise NotPlainError(base, f"the base class {ast.unparse(base)} may learn of its subclasses")
        outer, self._scope = self._scope, set()
        for statement in node.body:
            self._member(statement)
            self._scope.update(bound_names(statement))
        self._scope = outer

    def _member(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if name.startswith("__") and name not in outside.METHODS:
                    raise NotPlainError(node, f"{name} is called by Python itself")
                self._function(node)
            case ast.Assign(targets=targets, value=value):
                self._value(value)
                for name in (name for target in targets for name in self._targets(target)):
                    if name.startswith("__") and name != "__slots__":
                        raise NotPlainError(node, f"{name} has a meaning for Python")
            case ast.AnnAssign(target=ast.Name(), value=value):
                self._hint(node.annotation)
                if value:
                    self._value(value)
            case _ if not is_idle(node):
                raise NotPlainError(node, "a statement in a class runs at import")

    def _is_base(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Subscript):
            self._value(node.slice)
            node = node.value
        path, meaning = self._path(node), self._meaning(node)
        if path:
            return (
                path in _TYPES or path in _EXCEPTIONS or path in _BASES or path.rpartition(".")[0] in _BASES
            )
        return isinstance(meaning, Unit) and isinstance(
            meaning.node, ast.ClassDef
        )  # which is checked in its module

    def _value(self, node: ast.expr) -> None:
        """A value that is computed from literals and from names above."""
        if not self._is_value(node):
            raise NotPlainError(
                node, f"{ast.unparse(node)[:60]!r} is computed at import, by what is not known"
            )

    def _is_value(self, node: ast.AST) -> bool:
        match node:
            case ast.Lambda(args=arguments):
                return all(map(self._is_value, filter(None, (*arguments.defaults, *arguments.kw_defaults))))
            case ast.Attribute(value=ast.Call() as value, attr=attribute):
                return (
                    attribute in _PARTS_OF_PATHS
                    and self._path(value.func) == "pathlib.Path"
                    and self._is_value(value)
                )
            case ast.Name() | ast.Attribute():
                return self._is_name(node)
            case ast.Call(func=function, args=arguments, keywords=keywords):
                parts = [*arguments, *keywords]
                return self._may_be_called(function, parts) and all(map(self._is_value, parts))
            case ast.BinOp(op=ast.Div() | ast.FloorDiv() | ast.Mod(), right=right) if not isinstance(
                right, ast.Constant
            ):
                return False
            case ast.comprehension(target=target):
                self._scope = self._scope | set(bound_names(target))
            case _ if not isinstance(node, _OPERATIONS):
                return False
        outer = self._scope
        children = [*getattr(node, "generators", []), *ast.iter_child_nodes(node)]
        is_value = all(map(self._is_value, children))
        self._scope = self._scope if isinstance(node, ast.comprehension) else outer
        return is_value

    def _is_name(self, node: ast.Name | ast.Attribute) -> bool:
        names, path, meaning = dotted(node), self._path(node), self._meaning(node)
        if path:
            return path.split(".")[0] != "sys" and not path.startswith("os.environ")
        if isinstance(meaning, Unit) and meaning.module is not self._own:
            return self._is_fixed(meaning) and not (
                isinstance(meaning.node, ast.ClassDef) and names[-1] not in meaning.names
            )
        return bool(names) and (names[0] in self._scope or (names[0] in self._names and meaning is not None))

    def _may_be_called(self, function: ast.expr, parts: Iterable[ast.AST] = ()) -> bool:
        called = [part.value for part in parts if isinstance(part, ast.keyword) and part.arg == "key"]
        if self._path(function) in {"map", "filter"}:
            called += [part for part in parts if isinstance(part, ast.expr)][:1]
        if not all(map(self._is_called, called)):
            return False
        if isinstance(function, ast.Attribute) and not self._path(function):
            return function.attr in _METHODS and self._is_value(function.value)
        meaning = self._meaning(function)
        return self._path(function) in _CALLS or (isinstance(meaning, Unit) and self._is_record(meaning))

    def _is_called(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Lambda):
            outer, self._scope = self._scope, self._scope | {argument.arg for argument in node.args.args}
            is_value = self._is_value(node.body)
            self._scope = outer
            return is_value
        return self._may_be_called(node) or self._path(node).startswith("str.")

    def _is_record(self, unit: Unit) -> bool:
        """Whether a class only keeps values (NamedTuple, dataclass), or a function makes one that does."""
        node = unit.node
        if isinstance(node, ast.FunctionDef):
            other = self if unit.module is self._own else self._other(unit.module)
            return not node.decorator_list and other._only_returns(node)
        if not isinstance(node, ast.ClassDef) or len(node.bases) > 1:
            return False
        other = self._other(unit.module)
        is_tuple = [other._path(base) for base in node.bases] == ["typing.NamedTuple"]
        makers = [other._path(one.func if isinstance(one, ast.Call) else one) for one in node.decorator_list]
        methods = {inner.name for inner in node.body if isinstance(inner, FUNCTIONS)}
        special = {name for name in methods if name.startswith("__")} | (methods & _METHODS)
        return not special and (is_tuple or (makers == ["dataclasses.dataclass"] and not node.bases))

    def _other(self, module: Module) -> _Module:
        return _Module(self._modules, module, (*module.imports, *module.definitions))

    def _is_fixed(self, unit: Unit) -> bool:
        """Whether a name of another module stands for what it did when that module had been imported."""
        value = getattr(unit.node, "value", None)
        if value is None:
            return True
        other = self._other(unit.module)
        for node in ast.walk(value):
            meaning = other._meaning(node) if isinstance(node, ast.Name) else None
            changes = isinstance(node, _CHANGING) or (
                isinstance(node, ast.Call) and other._path(node.func) not in _FIXED
            )
            if changes or (isinstance(meaning, Unit) and meaning is not unit and not self._is_fixed(meaning)):
                return False
        return True

    def _only_returns(self, node: ast.FunctionDef) -> bool:
        body = [statement for statement in node.body if not is_idle(statement)]
        if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
            return False
        outer, self._scope = (
            self._scope,
            {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)},
        )
        is_value = self._is_value(body[0].value)
        self._scope = outer
        return is_value

    def _meaning(self, node: ast.AST) -> External | Module | Unit | Unknown | None:
        """What a name of the package stands for."""
        names = dotted(node)
        if not names or names[0] in self._scope or names[0] not in self._names:
            return None
        meaning = self._modules.lookup(self._module, names[0]).meaning
        for name in names[1:]:
            if not isinstance(meaning, Module):
                return (
                    meaning if isinstance(meaning, Unit) and isinstance(meaning.node, ast.ClassDef) else None
                )
            meaning = self._modules.attribute(meaning, name).meaning
        return meaning

    def _path(self, node: ast.AST) -> str:
        """What a name from outside the package stands for, dotted; empty for anything else."""
        names = dotted(node)
        if not names or names[0] in self._scope:
            return ""
        imports = self._module.imports.get(names[0]) if names[0] in self._names else None
        if imports:
            return "" if imports[-1].is_internal else ".".join((imports[-1].path, *names[1:]))
        is_bound = names[0] in self._module.imports or names[0] in self._module.definitions
        return "" if is_bound or names[0] not in vars(builtins) else ".".join(names)


def _arguments(node: ast.expr) -> list[ast.expr]:
    return [*node.args, *(keyword.value for keyword in node.keywords)] if isinstance(node, ast.Call) else []
