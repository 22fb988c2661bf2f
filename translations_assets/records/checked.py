"""What others wrote, in a store, an archive or a manifest, read with care.

Records from JSON: each field as its type says. Names: as paths, they stay inside their folder. And JSON in
one form, so that equal values have equal digests.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from functools import cache, partial
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, Self, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

LONGEST = 255  # bytes of a file's name, on every file system in use
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")

P = TypeVar("P", bound=PurePath)


def inside(folder: P, name: str) -> P:
    """The path of a file below a folder, by a name (`a`, `a/b`) from elsewhere.

    Raises ValueError for a name that could lead anywhere else: by `..`, from the root, or, on this machine,
    through a symbolic link below the folder; the file itself must be none either.
    """
    path = folder / check_name(name)
    if isinstance(path, Path) and (link := first_link(folder, path)):
        raise ValueError(f"{link} is a symbolic link, and none is followed there")
    return path


def check_name(name: object) -> str:
    """The name, when it is the plain relative path of a file. Raises ValueError."""
    if not isinstance(name, str) or _CONTROL.search(name):
        raise ValueError(f"{name!a:.80} is no file name")
    for part in name.split("/"):
        if part in ("", ".", ".."):
            raise ValueError(f"the name {name!r:.80} leads out of its folder")
        if len(part.encode()) > LONGEST:
            raise ValueError(f"the name {name!r:.80} … is longer than a file's name can be")
    return name


def first_link(folder: PurePath | str, path: PurePath | str) -> str:
    """The topmost symbolic link on the way from a folder (left out) to a path below it; empty without one."""
    way, link = str(path), ""
    above = f"{folder}/"
    while way.startswith(above):
        if os.path.islink(way):
            link = way
        way = os.path.dirname(way)
    return link


def canonical_json(value: Any) -> bytes:
    """A value as JSON, the same bytes for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def json_digest(value: Any) -> str:
    """SHA-256 (hex) of a value as canonical JSON."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


MOST = 1 << 63  # no size, time or count is greater
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Record:
    """What the store keeps as JSON: a dataclass of records, texts, numbers, flags, and of many of these.

    A whole number is a count; neither it nor another number is negative.
    """

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON values; what is None is left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}

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


def mapping(value: object) -> dict[str, Any]:
    """An object with fields. Raises ValueError for anything else."""
    return _of(dict, "mapping", value)  # type: ignore[no-any-return]


def _sha256(value: object) -> str:
    if not isinstance(value, str) or not _SHA256.fullmatch(value):
        raise ValueError(f"{_short(value)} is no SHA-256")
    return value


Sha256: TypeAlias = Annotated[str, _sha256]
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
    """What turns a JSON value into a value of a type, or raises ValueError."""
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
