"""Reading training configs. All that is wrong with one is reported at once, with file and line.

Pydantic's errors are put into words: what is wrong and what is allowed.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from pydantic import ValidationError

from translations_assets.config.checks import check_together, remarks
from translations_assets.config.errors import ConfigError, Problem, suggestion
from translations_assets.config.old_spellings import rewrite
from translations_assets.config.old_spellings.generations import left_open
from translations_assets.config.old_spellings.history import HISTORY
from translations_assets.config.own_paths import locate
from translations_assets.config.partitions import name_note
from translations_assets.config.schema import TrainingConfig, without_effect
from translations_assets.config.section import Section, by_key, section_in, values_of_mapping
from translations_assets.config.text import read_text
from translations_assets.config.yaml_reader import MOST_DIGITS, Document, KeyPath, read_yaml

OVERRIDES = "overrides"
MOST_PROBLEMS = 500  # of each kind that are reported: to look for the nearest name takes a millisecond

_TYPES = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "string": "text",
    "tuple": "a list, one `- item` a line",
    "mapping": "a mapping, one `key: value` a line",
    "dict": "a mapping, one `key: value` a line",
}

_LIMITS = {
    "greater_than": "greater than {gt:g}",
    "greater_than_equal": "{ge:g} or more",
    "less_than": "less than {lt:g}",
    "less_than_equal": "{le:g} or less",
    "multiple_of": "a multiple of {multiple_of}",
}

S = TypeVar("S", bound=Section)
Check: TypeAlias = "Callable[[dict[str, Any]], Iterable[tuple[KeyPath, str]]]"


def load_config(path: Path) -> TrainingConfig:
    """Read a training config of any year from a YAML file, from which relative paths count.

    Raises ConfigError with everything that is wrong: the file cannot be read, is not UTF-8 or YAML; keys are
    unknown, missing, doubled or of the wrong type; values are not allowed, contradict each other, or ask for
    what is not built yet.
    """
    return parse_config(read_text(path), path)


def parse_config(text: str, source: Path | str, check: Check | None = None) -> TrainingConfig:
    """Read a training config from the YAML text of a file, or what errors call it. Raises as `load_config`.

    `check` finds what else is wrong with the values as they were read, relative paths written out.

    >>> try:
    ...     parse_config("experiment: {name: x, src: en, trg: deu}", "en-de.yml")
    ... except ConfigError as error:
    ...     print(error)
    en-de.yml:1: datasets: is missing
    en-de.yml:1: experiment.trg: 'deu' is not a known language. Did you mean 'de'?
    """
    document = read_yaml(text, str(source))
    rewrite(document)
    if isinstance(source, Path):
        locate(document.value, source.parent.resolve())
    return _validated(document, check)


def config_notes(text: str, source: Path | str) -> list[Problem]:
    """List notes on a config, valid or not, by line. Raises ConfigError when it is not YAML.

    A file's name that cannot be a partition, keys that are read as others, keys without effect, and what
    works but may not be meant.
    """
    document = read_values(text, str(source))
    for find in (without_effect, left_open, remarks):
        for path, message in find(document.value):
            document.note(path, message)
    of_name = name_note(source, document.value) if isinstance(source, Path) else []
    return [*of_name, *sorted(document.notes, key=lambda note: note.line or 0)]


def read_values(text: str, source_name: str) -> Document:
    """The values of a config in today's spelling, unchecked. Raises ConfigError when it is not YAML."""
    document = read_yaml(text, source_name)
    rewrite(document)
    document.problems.clear()  # `parse_config` reports them
    return document


def apply_overrides(
    config: TrainingConfig, overrides: Mapping[str, Any], check: Check | None = None
) -> TrainingConfig:
    """A config with some values changed: `{"marian-args.training-student.after": "50u"}`.

    Keys are dotted paths in today's spelling; a value that is a mapping is merged into the section of that
    name. `check` finds what else is wrong, as for `parse_config`. Raises ConfigError with everything that
    the overrides make wrong.
    """
    values = config.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if overrides:  # one option of the student's is changed, not all: a section that is given stands alone
        student = dict(config.marian_args.training_student)
        values.setdefault("marian-args", {}).setdefault("training-student", student)
    document = Document(OVERRIDES, values)
    for key, value in overrides.items():
        _override(document, split_key(key), value)
    return _validated(document, check)


def _validated(document: Document, check: Check | None = None) -> TrainingConfig:
    checks = [check_together, *([check] if check else [])]
    return validated(
        document, TrainingConfig, lambda values: chain.from_iterable(one(values) for one in checks)
    )


def validated(document: Document, schema: type[S], check: Check) -> S:
    """A document as its schema has it; `check` finds what is wrong beyond that. Raises ConfigError."""
    config = None
    try:
        config = schema.model_validate(document.value)
    except ValidationError as error:
        for detail in islice(error.errors(include_url=False), MOST_PROBLEMS):
            path = tuple(part for part in detail["loc"] if part != "[key]")
            document.add(path, describe(detail, schema))
    for path, message in islice(check(document.value), MOST_PROBLEMS):
        document.add(path, message)
    if config is None or document.problems:
        raise ConfigError(sorted(document.problems, key=lambda problem: problem.line or 0))
    return config


def split_key(key: str) -> KeyPath:
    """The parts of a dotted key. The names of thresholds and of Marian's options may hold dots themselves."""
    parts: KeyPath = ()
    while key:
        head, _, key = key.partition(".") if keys_of(parts) else (key, "", "")
        parts = (*parts, head)
    return parts


def _override(document: Document, path: KeyPath, value: Any) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _override(document, (*path, str(key)), inner)
        return
    section: Any = document.value
    for key in path[:-1]:
        section = section.setdefault(key, {})
        if not isinstance(section, dict):
            document.add(path, f"{key} is no section")
            return
    section[path[-1]] = value


def describe(error: Any, schema: type[Section] = TrainingConfig) -> str:
    """Explain one of Pydantic's errors (`ErrorDetails`) in a file of some schema to people."""
    kind, given, context = error["type"], error["input"], error.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return _unknown_key(error["loc"], schema)
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        return _not_among(re.findall(r"'([^']*)'", context["expected"]), given)
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


def keys_of(path: KeyPath, schema: type[Section] = TrainingConfig) -> list[str]:
    """The keys that the section at a path may have; empty when the path leads to no section."""
    found: Any = schema
    for part in path:
        section = section_in(found)
        field = by_key(section).get(str(part)) if section else None
        found = field.annotation if field else values_of_mapping(found)
    section = section_in(found)
    return [*by_key(section)] if section else []


def _unknown_key(path: KeyPath, schema: type[Section]) -> str:
    key, allowed = str(path[-1]), keys_of(path[:-1], schema)
    if key in HISTORY["refused"]:
        return f"unknown key: {HISTORY['refused'][key]}"
    return f"unknown key.{suggestion(key, allowed)} Allowed: {', '.join(allowed)}"


def _not_among(allowed: Sequence[str], given: object) -> str:
    near = suggestion(given, allowed) if isinstance(given, str) else ""
    return f"must be one of {', '.join(allowed)}, not {_named(given)}.{near}"


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
    return len(text) <= MOST_DIGITS and text.replace(".", "", 1).replace("_", "").isdecimal()
