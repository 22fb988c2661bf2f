"""Reading training configs. All that is wrong with one is told at once, with file and line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from pydantic import ValidationError

from translations_assets.config.checks import check_together, remarks
from translations_assets.config.errors import ConfigError, Problem
from translations_assets.config.messages import describe
from translations_assets.config.old_spellings import rewrite
from translations_assets.config.old_spellings.unsaid import left_open
from translations_assets.config.schema import TrainingConfig
from translations_assets.config.section import Section, by_key, section_in
from translations_assets.config.unused import unused_keys, why_unused
from translations_assets.config.yaml_reader import MOST_CHARACTERS, Document, KeyPath, read_yaml

OVERRIDES = "overrides"
MOST_PROBLEMS = 500  # of each kind that are reported: to look for the nearest name takes a millisecond
MOST_BYTES = 4 * MOST_CHARACTERS

S = TypeVar("S", bound=Section)
Check: TypeAlias = "Callable[[dict[str, Any]], Iterable[tuple[KeyPath, str]]]"


def load_config(path: Path) -> TrainingConfig:
    """Read a training config of any year from a YAML file.

    Raises ConfigError with everything that is wrong: the file cannot be read, is not UTF-8 or YAML; keys are
    unknown, missing, doubled or of the wrong type; values are not allowed, contradict each other, or ask for
    what is not built yet.
    """
    return parse_config(read_text(path), str(path))


def parse_config(text: str, source_name: str, check: Check | None = None) -> TrainingConfig:
    """Read a training config from YAML text; errors call it `source_name`. Raises as `load_config`.

    `check` tells what else is wrong with the values as they were read.
    """
    document = read_yaml(text, source_name)
    rewrite(document)
    return _validated(document, check)


def config_notes(text: str, source_name: str) -> list[Problem]:
    """What people should know of a config, right or wrong, by line. Raises ConfigError when it is not YAML.

    Keys that are read as others, keys without effect, and what works but may not be meant.
    """
    document = read_values(text, source_name)
    for path in unused_keys(document.value):
        document.note(path, why_unused(path))
    for path, message in (*left_open(document.value), *remarks(document.value)):
        document.note(path, message)
    return sorted(document.notes, key=lambda note: note.line or 0)


def read_values(text: str, source_name: str) -> Document:
    """The values of a config in today's spelling, unchecked. Raises ConfigError when it is not YAML."""
    document = read_yaml(text, source_name)
    rewrite(document)
    document.problems.clear()  # `parse_config` reports them
    return document


def apply_overrides(config: TrainingConfig, overrides: Mapping[str, Any]) -> TrainingConfig:
    """A config with some values changed: `{"marian-args.training-student.after": "50u"}`.

    Keys are dotted paths in today's spelling; a value that is a mapping is merged into the section of that
    name. Raises ConfigError with everything that the overrides make wrong.
    """
    values = config.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if overrides:  # one option of the student's is changed, not all: a section that is given stands alone
        student = dict(config.marian_args.training_student)
        values.setdefault("marian-args", {}).setdefault("training-student", student)
    document = Document(OVERRIDES, values)
    for key, value in overrides.items():
        _override(document, _split(key), value)
    return _validated(document)


def read_text(path: Path, kind: str = "training config") -> str:
    """The text of a file of some kind, in UTF-8. Raises ConfigError when it cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except IsADirectoryError as error:
        raise ConfigError.of(f"is a folder; give the YAML file of a {kind}", str(path)) from error
    except FileNotFoundError as error:
        raise ConfigError.of("there is no such file", str(path)) from error
    except OSError as error:
        raise ConfigError.of(f"cannot be read: {error.strerror}", str(path)) from error
    if len(content) > MOST_BYTES:
        raise ConfigError.of(f"has more than {MOST_BYTES:,} bytes; is it a {kind}?", str(path))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        message = f"is not UTF-8 (byte {content[error.start]:#04x}); save it as UTF-8"
        raise ConfigError.of(message, str(path), line) from error


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


def _split(key: str) -> KeyPath:
    """The parts of a dotted key. The names of thresholds and of Marian's options may hold dots themselves."""
    parts: list[str] = []
    section: type[Section] | None = TrainingConfig
    rest = key
    while rest:
        head, _, rest = rest.partition(".") if section else (rest, "", "")
        parts.append(head)
        field = by_key(section).get(head) if section else None
        section = section_in(field.annotation) if field else None
    return tuple(parts)


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
