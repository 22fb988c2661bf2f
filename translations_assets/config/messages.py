"""Pydantic's errors in words: what is wrong and what is allowed."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

from translations_assets.config.errors import suggestion
from translations_assets.config.schema import TrainingConfig
from translations_assets.config.section import Section, by_key, section_in

# Keys of earlier years that could not be read as today's: their values have another form, or both are there.
FORMER_KEYS = {
    "use-opuscleaner": "a key of 2024, true or false; remove it",
    "pretrained-models": "a key of 2024; write continuation.models, as docs/config.md tells",
    "previous_group_ids": "a key of 2024; write previous-group-ids, once",
    "training-teacher-base": "a key of 2022; training-teacher is there, too: keep one",
    "training-teacher-finetuned": "a key of 2022; training-teacher is there, too: keep one",
    "split-chunks": "it belongs in the section taskcluster, once",
    "backward-model": "a key of 2022; its place is taken by continuation.models.backwards",
    "vocab": "a key of 2022; its place is taken by continuation.vocab",
    "training": "a key of 2021; its place is taken by marian-args",
    "teachers": "the key is called teacher",
}

_TYPES = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "string": "text",
    "tuple": "a list, one `- item` a line",
    "mapping": "a mapping, one `key: value` a line",
    "dict": "a mapping, one `key: value` a line",
}


def describe(error: Any, schema: type[Section] = TrainingConfig) -> str:
    """What one of Pydantic's errors (`ErrorDetails`) in a file of some schema says, for people."""
    kind, given, context = error["type"], error["input"], error.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return _unknown_key(error["loc"], schema)
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        return _not_among(error["loc"], given, schema)
    if kind in _LIMITS:
        return (
            f"must be {_LIMITS[kind].format(**context)}, not {_shown(given)}{_nearest_multiple(kind, error)}"
        )
    expected = _TYPES.get(kind.removesuffix("_type").removesuffix("_parsing").removesuffix("_from_float"))
    if kind == "model_type":
        expected = f"a mapping with the keys {', '.join(keys_of(error['loc'], schema))}"
    if expected:
        return f"must be {expected}, not {_named(given)}{_quotes(kind, given)}"
    return f"{error['msg']}, not {_named(given)}"


_LIMITS = {
    "greater_than": "greater than {gt:g}",
    "greater_than_equal": "{ge:g} or more",
    "less_than_equal": "{le:g} or less",
    "multiple_of": "a multiple of {multiple_of}",
}


def keys_of(path: tuple[Any, ...], schema: type[Section] = TrainingConfig) -> list[str]:
    """The keys that the section at a path may have; empty when the path leads to no section."""
    section = section_in(_type_at(path, schema))
    return [*by_key(section)] if section else []


def _type_at(path: tuple[Any, ...], schema: type[Section]) -> Any:
    """The type that the schema gives to what stands at a path; None when it gives none.

    `[key]` at its end is Pydantic's word for the key before it, as opposed to what stands there.
    """
    is_key = path[-1:] == ("[key]",)
    found: Any = schema
    for part in path[:-2] if is_key else path:
        if section := section_in(found):
            field = by_key(section).get(part)
            found = field.annotation if field else None
        else:
            found = _of_mapping(found)[1]
    return _of_mapping(found)[0] if is_key else found


def _of_mapping(annotation: Any) -> tuple[Any, Any]:
    """The types of keys and values of a mapping; None for anything else."""
    kinds = (annotation, *get_args(annotation))
    key, value = next((get_args(kind) for kind in kinds if get_origin(kind) is Mapping), (None, None))
    return key, value


def _unknown_key(path: tuple[Any, ...], schema: type[Section]) -> str:
    key, allowed = str(path[-1]), keys_of(path[:-1], schema)
    if key in FORMER_KEYS:
        return f"unknown key: {FORMER_KEYS[key]}"
    return f"unknown key.{suggestion(key, allowed)} Allowed: {', '.join(allowed)}"


def _not_among(path: tuple[Any, ...], given: object, schema: type[Section]) -> str:
    allowed = list(_strings_in(_type_at(path, schema)))
    near = suggestion(given, allowed) if isinstance(given, str) else ""
    return f"must be one of {', '.join(allowed)}, not {_named(given)}.{near}"


def _strings_in(annotation: Any) -> Iterator[str]:
    for part in get_args(annotation):
        if isinstance(part, str):
            yield part
        else:
            yield from _strings_in(part)


def _nearest_multiple(kind: str, error: Any) -> str:
    if kind != "multiple_of":
        return ""
    of = error["ctx"]["multiple_of"]
    below = error["input"] // of * of
    return f"; the nearest are {below or of} and {below + of}" if below else f"; the least is {of}"


def _named(given: object) -> str:
    if given is None:
        return "nothing"
    if isinstance(given, bool):
        return str(given).lower()
    if isinstance(given, dict):
        return "a mapping"
    if isinstance(given, list | tuple):
        return "a list"
    return f"the text {_shown(given)}" if isinstance(given, str) else f"the number {given}"


def _shown(given: object) -> str:
    return reprlib.repr(given) if isinstance(given, str | list | dict) else str(given)


def _quotes(kind: str, given: object) -> str:
    if kind == "string_type" and isinstance(given, bool | int | float):
        return "; put it in quotes"
    if kind in ("int_type", "float_type", "bool_type") and isinstance(given, str):
        return "; write it without quotes" if _bare(kind, given) else ""
    return ""


def _bare(kind: str, text: str) -> bool:
    if kind == "bool_type":
        return text in ("true", "false")
    return text.replace(".", "", 1).replace("_", "").isdecimal()
