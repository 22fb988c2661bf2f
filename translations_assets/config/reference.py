"""The schema of training configs as a page for people and as JSON Schema for editors.

The reference page is made by `python -m translations_assets.config.reference > docs/config.md`. By the JSON
Schema editors complete keys and mark mistakes while one types; it has Marian's options by name. What concerns
several keys at once is left to `translations config check`, and so are old spellings, which are read but not
offered.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from translations_assets.config.known import FLAG, marian_options
from translations_assets.config.marian_args import ALLOWED, SECTIONS, SET_BY_SCRIPT
from translations_assets.config.schema import UNUSED, TrainingConfig
from translations_assets.config.section import Section, by_key, section_in
from translations_assets.config.stage_names import worker_kinds

_HEAD = """# Keys of a training config

Made from the schema by `python -m translations_assets.config.reference`; do not edit.

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
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TEXT: dict[str, Any] = {"type": ["string", "number", "boolean", "array"]}
# Values may be quoted, as in the configs that go with Taskcluster.
_VALUES: dict[str, dict[str, Any]] = {
    FLAG: {"enum": [True, False, "true", "false"]},
    "UINT": {"type": ["integer", "string"], "minimum": 0, "pattern": r"^\+?\d+$"},
    "INT": {"type": ["integer", "string"], "pattern": r"^[-+]?\d+$"},
    "FLOAT": {"type": ["number", "string", "boolean"]},
}


def reference() -> str:
    """The page, in Markdown."""
    rows = (" | ".join(_row(path, field)) for path, field in _leaves(TrainingConfig, ()))
    return _HEAD + "".join(f"| {row} |\n" for row in rows)


def _leaves(section: type[Section], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], FieldInfo]]:
    for key, field in by_key(section).items():
        inner = (*path, key)
        below = section_in(field.annotation)
        if below is None:
            yield inner, field
        else:
            yield from _leaves(below, inner)


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


class _WithoutTitles(GenerateJsonSchema):
    """Pydantic's titles repeat the keys."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def json_schema() -> dict[str, Any]:
    """The schema, of the 2020-12 dialect."""
    schema = TrainingConfig.model_json_schema(schema_generator=_WithoutTitles)
    definitions = schema["$defs"]
    for task in ("train", "decode"):
        definitions[_name(task)] = _options(task)
    for section, task in SECTIONS.items():
        given = definitions["MarianArgs"]["properties"][section]
        kept = {key: given[key] for key in ("default", "description")}
        definitions["MarianArgs"]["properties"][section] = {"$ref": f"#/$defs/{_name(task)}", **kept}
    classes = definitions["Taskcluster"]["properties"]["worker-classes"]
    classes["propertyNames"] = {"enum": worker_kinds()}
    return {"$schema": DIALECT, **schema, "title": "Training config"}


def _name(task: str) -> str:
    return f"MarianOptionsOf{task.capitalize()}"


def _options(task: str) -> dict[str, Any]:
    known = marian_options(task)
    allowed = ALLOWED if task == "decode" else known.keys() - SET_BY_SCRIPT[task]
    options = {name: kind for name, kind in known.items() if name in allowed}
    return {
        "type": "object",
        "description": f"options of Marian for `{task}`, without `--`",
        "properties": {name: _VALUES.get(kind, _TEXT) for name, kind in options.items()},
        "additionalProperties": False,
    }


if __name__ == "__main__":
    sys.stdout.write(reference())
