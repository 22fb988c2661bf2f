"""Records from JSON values that others wrote: each field as its type says, or ValueError."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache, partial
from typing import Annotated, Any, Literal, Self, TypeAlias, get_args, get_origin, get_type_hints

from translations_assets.records.inside import check_name

MOST = 1 << 63  # no size, time or count is greater
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Record:
    """A record that the store keeps as JSON: a class of records, texts, numbers, flags, and lists of these.

    Whole numbers are counts. No number is negative, except a `Number`.
    """

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON values, and those in it; what is None is left out."""
        values = {field.name: _json(getattr(self, field.name)) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def from_dict(cls, value: object) -> Self:
        """A record from what `to_dict` gave; ValueError names the field that is not what it ought to be.

        Fields that this program does not know are left out.
        """
        known, read = mapping(value), {}
        # mypy takes the instances' hash for that of the class
        for name, (check, is_required) in _checks(cls).items():  # type: ignore[arg-type]
            if name in known:
                try:
                    read[name] = check(known[name])
                except ValueError as error:
                    raise ValueError(f"{name}: {error}") from error
            elif is_required:
                raise ValueError(f"it has no {name}")
        return cls(**read)


def _json(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {name: _json(inner) for name, inner in value.items()}
    return [*map(_json, value)] if isinstance(value, (list, tuple)) else value


def mapping(value: object) -> dict[str, Any]:
    """An object with fields. Raises ValueError for anything else."""
    return _of(dict, "mapping", value)  # type: ignore[no-any-return]


def _sha256(value: object) -> str:
    if not isinstance(value, str) or not _SHA256.fullmatch(value):
        raise ValueError(f"{_short(value)} is no SHA-256")
    return value


def _any_sign(value: object) -> Any:
    if type(value) not in (int, float):
        raise ValueError(f"{_short(value)} is no number")
    return value


Sha256: TypeAlias = Annotated[str, _sha256]
Number: TypeAlias = Annotated[float, _any_sign]
FileName: TypeAlias = Annotated[str, check_name]


@cache
def _checks(kind: type[Any]) -> Mapping[str, tuple[Callable[[object], Any], bool]]:
    """For each field of a dataclass what checks its value, and whether it must be there."""
    hints = get_type_hints(kind, include_extras=True)
    return {
        field.name: (_check(hints[field.name]), field.default is field.default_factory is MISSING)
        for field in fields(kind)
        if field.init
    }


def _check(hint: Any) -> Callable[[object], Any]:
    """Return the converter of a JSON value to a type; it raises ValueError."""
    origin, inner = get_origin(hint), get_args(hint)
    if is_dataclass(hint):
        return hint.from_dict  # type: ignore[union-attr, no-any-return]
    if hint in _PLAIN:
        return _PLAIN[hint]
    if origin is Annotated:
        return inner[1]  # type: ignore[no-any-return]
    if origin is Literal:
        return partial(_one_of, inner)
    if type(None) in inner:  # what is not known is left out
        return _check(next(kind for kind in inner if kind is not type(None)))
    checks = [_check(kind) for kind in inner if kind is not Ellipsis]
    return partial(
        _mapping_of if len(checks) == 2 and origin is not tuple else _tuple_of, checks, ... in inner
    )


def _mapping_of(checks: list[Callable[[object], Any]], _: bool, value: object) -> dict[Any, Any]:
    name, item = checks
    return {name(key): item(inner) for key, inner in mapping(value).items()}


def _tuple_of(checks: list[Callable[[object], Any]], is_open: bool, value: object) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)) or not (is_open or len(value) == len(checks)):
        raise ValueError(f"{_short(value)} is no list" + ("" if is_open else f" of {len(checks)}"))
    return tuple(
        check(item) for check, item in zip(checks * len(value) if is_open else checks, value, strict=True)
    )


def _one_of(known: tuple[object, ...], value: object) -> object:
    if value not in known:
        raise ValueError(f"{_short(value)} is none of {', '.join(map(str, known))}")
    return value


def _of(kind: type, name: str, value: object) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{_short(value)} is no {name}")
    return value


def _number(kinds: tuple[type, ...], name: str, value: object) -> Any:
    if type(value) not in kinds or not 0 <= value < MOST:  # type: ignore[operator]
        raise ValueError(f"{_short(value)} is no {name}")
    return value


def _short(value: object) -> str:
    return f"{value!a:.80}"


_PLAIN: dict[Any, Callable[[object], Any]] = {
    str: partial(_of, str, "text"),
    bool: partial(_of, bool, "true or false"),
    int: partial(_number, (int,), "count"),
    float: partial(_number, (int, float), "number of things, seconds or bytes"),
    Mapping[str, Any]: mapping,
    Any: lambda value: value,
}
