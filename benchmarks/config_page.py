"""Make docs/config.md, the page of the training config's keys, from the schema.

python -m benchmarks.config_page > docs/config.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from translations_assets.config.schema import UNUSED, TrainingConfig
from translations_assets.config.section import Section, by_key, section_in, values_of_mapping

_HEAD = """# Keys of a training config

Made from the schema by `python -m benchmarks.config_page`; do not edit.

A config needs `experiment.name`, `experiment.src`, `experiment.trg` and the datasets. Every other key has the
default of production, except `dev-max-sentences` (8000 in production). In `marian-args`, your options
override the defaults one by one, but a `training-student` of your own replaces the whole default. Keys marked
† are accepted and checked, but have no effect in this version.

[Training configs](configs.md) describes checks, continuation of earlier runs, old spellings and completion in
editors.

| key | allowed | default | meaning |
|---|---|---|---|
"""
_BOUNDS = (("gt", "> {}"), ("ge", "≥ {}"), ("le", "≤ {}"), ("multiple_of", "a multiple of {}"))


def reference() -> str:
    """The page, in Markdown."""
    rows = (" | ".join(_row(path, field)) for path, field in _leaves(TrainingConfig, ()))
    return _HEAD + "".join(f"| {row} |\n" for row in rows)


def _leaves(section: type[Section], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], FieldInfo]]:
    for key, field in by_key(section).items():
        inner = (*path, key)
        if below := section_in(field.annotation):
            yield from _leaves(below, inner)
        elif below := section_in(values_of_mapping(field.annotation)):
            yield from _leaves(below, (*inner, "NAME"))
        else:
            yield inner, field


def _row(path: tuple[str, ...], field: FieldInfo) -> tuple[str, str, str, str]:
    mark = " †" if path in UNUSED else ""
    return f"`{'.'.join(path)}`{mark}", _allowed(field), _default(field), field.description or ""


def _allowed(field: FieldInfo) -> str:
    # of `Annotated[type, …] | None` the type counts
    kinds = get_args(field.annotation) if get_origin(field.annotation) in (Union, UnionType) else ()
    given = FieldInfo.from_annotation(kinds[0]) if kinds else field
    metadata = [*field.metadata, *(given.metadata if kinds else ())]
    named = next((item for item in metadata if isinstance(item, str)), None)
    return ", ".join([named or _kind(given.annotation), *_bounds(metadata)])


def _kind(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(annotation))
    if get_origin(annotation) is Mapping:
        return "mapping"
    return {int: "whole number", float: "number", bool: "true, false", str: "text"}[annotation]


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
