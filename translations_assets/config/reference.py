"""The reference page of the training config, made from the schema.

python -m translations_assets.config.reference > docs/config.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from translations_assets.config.schema import Section, TrainingConfig
from translations_assets.config.unused import has_effect

_HEAD = """# Keys of a training config

Made from the schema by `python -m translations_assets.config.reference`; do not edit.

A config needs `experiment.name`, `experiment.src`, `experiment.trg` and the datasets; every other key has the
default of production. In `marian-args` the defaults hold option by option. Keys marked † are understood and
checked, but have no effect in this version; `continuation` is refused.

| key | allowed | default | meaning |
|---|---|---|---|
"""
_BOUNDS = (("gt", "> {}"), ("ge", "≥ {}"), ("le", "≤ {}"), ("multiple_of", "a multiple of {}"))


def reference() -> str:
    """The page, in Markdown."""
    rows = (" | ".join(_row(path, field)) for path, field in _leaves(TrainingConfig, ()))
    return _HEAD + "".join(f"| {row} |\n" for row in rows)


def _leaves(section: type[Section], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], FieldInfo]]:
    for name, field in section.model_fields.items():
        inner = (*path, field.alias or name)
        below = _section(field)
        if below is None:
            yield inner, field
        else:
            yield from _leaves(below, inner)


def _section(field: FieldInfo) -> type[Section] | None:
    kinds = (field.annotation, *get_args(field.annotation))
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Section)), None)


def _row(path: tuple[str, ...], field: FieldInfo) -> tuple[str, str, str, str]:
    mark = "" if has_effect(path) else " †"
    return f"`{'.'.join(path)}`{mark}", _allowed(field), _default(field), field.description or ""


def _allowed(field: FieldInfo) -> str:
    said = _kind(field.annotation)
    bounds = [*_bounds(field.metadata), *_bounds(_inner_metadata(field.annotation))]
    return f"{said}, {', '.join(bounds)}" if bounds else said


def _kind(annotation: Any) -> str:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in args)
    if origin is tuple:
        return "list of texts"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return "mapping"
    plain = next((arg for arg in args if arg is not type(None)), annotation) if args else annotation
    if get_origin(plain) is not None and plain is not annotation:
        return _kind(plain)
    return {int: "whole number", float: "number", bool: "true, false", str: "text"}[plain]


def _inner_metadata(annotation: Any) -> list[Any]:
    """The bounds of `Annotated[…] | None`, which belong to the inner type."""
    metadata: list[Any] = []
    for arg in get_args(annotation):
        for inner in getattr(arg, "__metadata__", ()):
            metadata += inner.metadata if isinstance(inner, FieldInfo) else [inner]
    return metadata if get_origin(annotation) not in (tuple, Mapping) else []


def _bounds(metadata: list[Any]) -> list[str]:
    return [
        said.format(getattr(item, name)) for item in metadata for name, said in _BOUNDS if hasattr(item, name)
    ]


def _default(field: FieldInfo) -> str:
    value = field.default
    if field.is_required():
        return "required"
    if value is None or value == () or value == {}:
        return "none"
    if isinstance(value, Mapping):
        return ", ".join(f"`{name}: {inner}`" for name, inner in value.items())
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


if __name__ == "__main__":
    sys.stdout.write(reference())
