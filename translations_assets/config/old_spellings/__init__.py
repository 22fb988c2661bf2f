"""Configs of 2021 to 2025, read as today's: one note for each key that is written in another way now.

A rule looks at the values of a config as it was read and yields edits of what it knows; what it does not
know, such as a key of the right name with a value of the wrong form, stays for the schema to refuse. Rules
run one after another, each on what the one before has left: 2021's keys become 2022's, and these today's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from translations_assets.config.edits import Edit, apply, dropped, renamed
from translations_assets.config.errors import ConfigError
from translations_assets.config.old_spellings.generations import differences, old_meanings
from translations_assets.config.old_spellings.history import HISTORY, path_of
from translations_assets.config.old_spellings.rules import FIRST_RULES, RULES
from translations_assets.config.yaml_reader import Document

Rule: TypeAlias = "Callable[[dict[str, Any]], Iterator[Edit]]"

MOST_WORK = 5_000_000  # keys and items with lines, times edits, each of which goes through them all


def _moved(values: dict[str, Any]) -> Iterator[Edit]:
    for old, new, why in HISTORY["moved"]:
        yield from renamed(values, path_of(old), path_of(new), why)


def _removed(values: dict[str, Any]) -> Iterator[Edit]:
    for gone in HISTORY["removed"]:
        for key in gone["keys"]:
            yield from dropped(values, path_of(key), gone["why"])


ALL_RULES: tuple[Rule, ...] = (*FIRST_RULES, old_meanings, _moved, _removed, *RULES)


def rewrite(document: Document) -> list[Edit]:
    """Bring a config into today's form and note what was changed; the edits, in the order of their making.

    Raises ConfigError for a config with so many edits that they would take minutes.
    """
    made = []
    different = [(path, message, document.line(path)) for path, message in differences(document.value)]
    for rule in ALL_RULES:
        for edit in list(rule(document.value)):
            document.note(edit.path, edit.message)
            apply(edit, document)
            made.append(edit)
            if len(made) * len(document.lines) > MOST_WORK:
                said = f"more than {len(made):,} entries stand twice or are spelt as in earlier years"
                raise ConfigError.of(f"{said}: too many", document.file)
    if made:  # what is left of an old config without being a key of any year is for the schema to tell of
        for path, message, line in different:
            document.note(path, message, line)
    document.notes.sort(key=lambda note: note.line or 0)
    return made
