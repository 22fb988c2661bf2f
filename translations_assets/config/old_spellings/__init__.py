"""Configs of 2021 to 2025, read as today's: one note for each key that is written in another way now.

A rule looks at the values of a config as it was read and yields edits of what it knows; what it does not
know, such as a key of the right name with a value of the wrong form, stays for the schema to refuse. Rules
run one after another, each on what the one before has left: 2021's keys become 2022's, and these today's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from translations_assets.config.edits import Edit, apply
from translations_assets.config.errors import ConfigError, Problem
from translations_assets.config.old_spellings import snakemake, taskcluster, unsaid
from translations_assets.config.yaml_reader import Document, dotted

Rule: TypeAlias = "Callable[[dict[str, Any]], Iterator[Edit]]"

MOST_WORK = 5_000_000  # keys and items with lines, times edits, each of which goes through them all

# Those that look for what others take away come first.
RULES: tuple[Rule, ...] = (
    *(*taskcluster.FIRST_RULES, *snakemake.FIRST_RULES, *unsaid.RULES),
    *(*snakemake.RULES, *taskcluster.RULES),
)


def rewrite(document: Document) -> list[Edit]:
    """Bring a config into today's form and note what was changed; the edits, in the order of their making.

    Raises ConfigError for a config with so many edits that they would take minutes.
    """
    made = []
    different = [(message, document.line(path), path) for path, message in unsaid.differences(document.value)]
    for rule in RULES:
        for edit in list(rule(document.value)):
            document.note(edit.path, edit.message)
            apply(edit, document)
            made.append(edit)
            if len(made) * len(document.lines) > MOST_WORK:
                said = (
                    f"more than {len(made):,} entries stand twice or are spelt as in earlier years: too many"
                )
                raise ConfigError.of(said, document.file)
    if made:  # what is left of an old config without being a key of any year is for the schema to tell of
        document.notes += [
            Problem(message, document.file, line, dotted(path)) for message, line, path in different
        ]
    document.notes.sort(key=lambda note: note.line or 0)
    return made
