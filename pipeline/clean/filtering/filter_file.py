"""Filter files, in the form in which OpusCleaner's interface saves them.

    {"version": 1, "files": [], "filters": [
        {"filter": "max_length", "parameters": {"MAXLENGTH": 150, "MINLENGTH": 1}, "language": null},
        {"filter": "normalize_whitespace", "parameters": {"COLLAPSE": true}, "language": "<src>"}]}

`language` names the side, or sides, that a filter of one language works on. `<src>` and `<trg>` stand for
the codes of the two languages, so that a file may serve many pairs; in files for text of one language it is
`<lang>`. `files`, which names what the interface showed, is not asked.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.common.errors import InputError

logger = logging.getLogger(__name__)

PLACEHOLDERS = {1: ("<lang>",), 2: ("<src>", "<trg>")}  # by the number of languages
EXAMPLE = '{"version": 1, "files": [], "filters": [{"filter": "…", "parameters": {}, "language": null}]}'


@dataclass
class FilterStep:
    """One filter of a file, with its parameters.

    sides   those that a filter of one language works on, 0 for the source; none for a filter of pairs
    asked   the parameters that the filter has asked for
    """

    file: str
    number: int
    name: str
    sides: tuple[int, ...]
    parameters: Mapping[str, Any]
    asked: set[str] = field(default_factory=set)

    def value(self, name: str, default: Any) -> Any:
        """A parameter as it stands in the file; the default, which is OpusCleaner's, when it is left out."""
        self.asked.add(name)
        return self.parameters.get(name, default)

    def number_of(self, name: str, default: float) -> float:
        """A parameter that is a number, or a text that spells one."""
        given = self.value(name, default)
        try:
            return float(given)
        except (TypeError, ValueError):
            raise InputError(f"{self}: {name} is {given!r}, not a number.") from None

    def flag(self, name: str, default: bool) -> bool:
        """A parameter that is true or false."""
        return bool(self.value(name, default))

    def text(self, name: str, default: str) -> str:
        """A parameter that is a text."""
        return str(self.value(name, default))

    def warn_of_unknown(self) -> None:
        """Say in the log which parameters no one has asked for."""
        for name in sorted(self.parameters.keys() - self.asked):
            logger.warning("%s: the parameter %s is not known and has no effect", self, name)

    def __str__(self) -> str:
        return f"{self.file}, filter {self.number} ({self.name})"


def read_filter_file(path: Path, codes: Sequence[str]) -> list[FilterStep]:
    """The steps of a filter file for languages of these codes, source first, or for one.

    Raises InputError for a file that is not one, and for a language that is none of these.
    """
    text = path.read_text(encoding="utf-8")
    for placeholder, code in zip(PLACEHOLDERS[len(codes)], codes, strict=True):
        text = text.replace(placeholder, code)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path.name} is not JSON: {error}. Save it from OpusCleaner again.") from error
    filters = value.get("filters") if isinstance(value, dict) else None
    if not isinstance(filters, list) or not all(map(_is_filter, filters)):
        raise InputError(f"{path.name} is no filter file of OpusCleaner; it should read {EXAMPLE}")
    return [_step(path.name, number, entry, codes) for number, entry in enumerate(filters, start=1)]


def _is_filter(entry: object) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("filter"), str)
        and isinstance(entry.get("parameters"), dict)
        and isinstance(entry.get("language"), str | None)
    )


def _step(file: str, number: int, entry: Mapping[str, Any], codes: Sequence[str]) -> FilterStep:
    languages = entry["language"].split(",") if entry.get("language") else []
    sides = tuple(codes.index(language) for language in languages if language in codes)
    step = FilterStep(file, number, entry["filter"], sides, entry["parameters"])
    unknown = [language for language in languages if language not in codes]
    if unknown:
        known = " or ".join(f'"{placeholder}"' for placeholder in PLACEHOLDERS[len(codes)])
        raise InputError(
            f"{step} is for the language {unknown[0]!r}, but the corpus has {' and '.join(codes)}. "
            f"Write {known}."
        )
    return step
