"""Pydantic's errors in words: what is wrong and what is allowed."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel

from translations_assets.config.errors import suggestion
from translations_assets.config.schema import TrainingConfig
from translations_assets.config.section import Section

# Keys of earlier generations, and what has taken their place.
FORMER_KEYS = {
    "use-opuscleaner": "a key of 2024; remove it: corpora are always cleaned by rules",
    "min-fluency-threshold": "a key of 2024; its place is taken by hplt-min-doc-score and monocleaner",
    "pretrained-models": "a key of 2024; its place is taken by continuation.models",
    "previous_group_ids": "a key of 2024; write previous-group-ids",
    "existing_tasks": "a key of 2024; remove it: finished steps are found by what they are made from",
    "training-teacher-base": "a key of 2022; write training-teacher",
    "training-teacher-finetuned": "a key of 2022; write training-teacher",
    "split-length": "a key of 2022; its place is taken by taskcluster.split-chunks",
    "split-chunks": "it belongs in the section taskcluster",
    "backward-model": "a key of 2022; its place is taken by continuation.models.backwards",
    "vocab": "a key of 2022; its place is taken by continuation.vocab",
    "hplt-min-fluency": "a key of 2024; its place is taken by hplt-min-doc-score",
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


def describe(error: Any) -> str:
    """What one of Pydantic's errors (`ErrorDetails`) says, for people."""
    kind, given, context = error["type"], error["input"], error.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return _unknown_key(error["loc"])
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        return _not_among(error["loc"], given)
    if kind in _LIMITS:
        return (
            f"must be {_LIMITS[kind].format(**context)}, not {_shown(given)}{_nearest_multiple(kind, error)}"
        )
    expected = _TYPES.get(kind.removesuffix("_type").removesuffix("_parsing").removesuffix("_from_float"))
    if kind == "model_type":
        expected = f"a mapping with the keys {', '.join(keys_of(error['loc']))}"
    if expected:
        return f"must be {expected}, not {_named(given)}{_quotes(kind, given)}"
    return f"{error['msg']}, not {_named(given)}"


_LIMITS = {
    "greater_than": "greater than {gt:g}",
    "greater_than_equal": "{ge:g} or more",
    "less_than_equal": "{le:g} or less",
    "multiple_of": "a multiple of {multiple_of}",
}


def keys_of(path: tuple[Any, ...]) -> list[str]:
    """The keys that the section at a path may have; empty when the path leads to no section."""
    section: type[BaseModel] | None = TrainingConfig
    for part in path:
        section = _inner(section, part) if section else None
    return [field.alias or name for name, field in section.model_fields.items()] if section else []


def _inner(section: type[BaseModel], key: object) -> type[BaseModel] | None:
    for field in section.model_fields.values():
        if field.alias == key:
            return next(_sections(field.annotation), None)
    return None


def _sections(annotation: Any) -> Iterator[type[BaseModel]]:
    for kind in (annotation, *get_args(annotation)):
        if isinstance(kind, type) and issubclass(kind, Section):
            yield kind


def _unknown_key(path: tuple[Any, ...]) -> str:
    key, allowed = str(path[-1]), keys_of(path[:-1])
    if key in FORMER_KEYS:
        return f"unknown key: {FORMER_KEYS[key]}"
    return f"unknown key.{suggestion(key, allowed)} Allowed: {', '.join(allowed)}"


def _not_among(path: tuple[Any, ...], given: object) -> str:
    allowed = _literals(path)
    near = suggestion(given, allowed) if isinstance(given, str) else ""
    return f"must be one of {', '.join(allowed)}, not {_named(given)}.{near}"


def _literals(path: tuple[Any, ...]) -> list[str]:
    section: type[BaseModel] | None = TrainingConfig
    for part in path:
        for field in section.model_fields.values() if section else ():
            if field.alias == part:
                found, section = field.annotation, next(_sections(field.annotation), None)
                break
    return list(_strings_in(found))


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
