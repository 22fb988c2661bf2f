"""What a key that is not given meant in its generation, where it means something else today.

An old config gets its old meaning, written down. A config in which no mark decides (see `generations`) is
read as one of today, with one note that names what it leaves open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from translations_assets.config.edits import Edit, Put, at, has
from translations_assets.config.generations import Generation, is_old, newest_mark
from translations_assets.config.old_spellings.common import is_free
from translations_assets.config.schema import TrainingConfig
from translations_assets.config.section import by_key, section_in
from translations_assets.config.yaml_reader import KeyPath, dotted

Found: TypeAlias = "Iterator[tuple[KeyPath, str]]"
VARIANTS = ("_aug-title_", "_aug-upper_", "_aug-typos_", "_aug-mix_")


@dataclass(frozen=True)
class Unsaid:
    """A key that, not given, meant `then` until a generation; a path stands for the value there."""

    path: KeyPath
    until: Generation
    then: str | KeyPath
    why: str
    said_by: tuple[KeyPath, ...] = ()  # other keys that decide it


UNSAID = (
    Unsaid(
        ("target-stage",),
        Generation.STUDENTS,
        "all",
        "with Snakemake, where it could be left out, all was made",
    ),
    Unsaid(
        ("experiment", "opuscleaner-mode"),
        Generation.OPUSCLEANER,
        "legacy",
        "there was no OpusCleaner then",
        (("experiment", "use-opuscleaner"),),
    ),
    Unsaid(("experiment", "student-model"), Generation.STUDENTS, "tiny", "students were tiny then"),
    Unsaid(
        ("experiment", "dev-max-sentences"),
        Generation.CONTINUATION,
        ("experiment", "corpus-max-sentences"),
        "corpus-max-sentences limited the validation set, too",
    ),
    Unsaid(
        ("marian-args", "training-student", "early-stopping"),
        Generation.STUDENTS,
        "20",
        "the training config said so",
        (("marian-args", "training-student"),),
    ),
)


def old_meanings(values: dict[str, Any]) -> Iterator[Edit]:
    """Writes down what the keys that an old config does not give meant."""
    if is_old(values):
        for unsaid, then in _open(values):
            name = dotted(unsaid.path).removeprefix("experiment.").removeprefix("marian-args.")
            section = unsaid.path[:1] if len(unsaid.path) > 1 and has(values, unsaid.path[:1]) else ()
            message = f"{name} is not given; {unsaid.why}, so read as {then}"
            yield Edit(section, message, (Put(unsaid.path, then, section),), goes=False)


def left_open(values: Mapping[str, Any]) -> Found:
    """The note on a config of today, as it was rewritten, that might be old: nothing in it tells."""
    found = [
        f"{dotted(unsaid.path)}: {_default(unsaid.path)} ({then} before {_month(unsaid.until)})"
        for unsaid, then in _open(values)
    ]
    if found and not is_old(values):
        said = f"nothing tells which year's this config is; read as one of today, with {', '.join(found)}"
        yield ("experiment",), f"{said}. Give experiment.student-model, as all configs since October 2024 do"


def differences(values: Mapping[str, Any]) -> Found:
    """What an old config, as it was read, means in another way here without there being a key for it."""
    values = at(values, ("training_config",)) or values  # in a file of Taskcluster's parameters
    if not is_old(values):
        return
    if at(values, ("experiment", "teacher-mode")) in (None, "two-stage"):
        where = ("experiment", "teacher-mode")
        yield where, "two-stage: patience (early-stopping) counts in the second stage alone, not in both"
    newest = newest_mark(values)
    sets = [at(values, ("datasets", use)) for use in ("devtest", "test")]
    if newest and newest < Generation.MODIFIERS and any(name in str(sets) for name in VARIANTS):
        said = (
            "until spring 2024 aug-title, aug-upper and aug-typos changed 10 % of the lines, and aug-mix "
            "10 % to title case and 10 % to upper case; now they do what docs/datasets.md tells"
        )
        yield ("datasets",), said


def _open(values: Mapping[str, Any]) -> Iterator[tuple[Unsaid, Any]]:
    """What a config leaves open that had another meaning at its time, or may have had, and that meaning."""
    newest = newest_mark(values) or Generation.FIRST
    for unsaid in UNSAID:
        then = unsaid.then if isinstance(unsaid.then, str) else at(values, unsaid.then)
        given = any(has(values, path) for path in unsaid.said_by)
        if newest < unsaid.until and then is not None and not given and is_free(values, unsaid.path):
            yield unsaid, then


def _default(path: KeyPath) -> Any:
    """What a key means today when it is not given."""
    found: Any = TrainingConfig
    for key in map(str, path):
        field = None if isinstance(found, Mapping) else by_key(found)[key]
        found = found.get(key) if field is None else section_in(field.annotation) or field.default
    return "none" if found is None else found


def _month(generation: Generation) -> str:
    return f"{generation // 100}-{generation % 100:02}"


RULES = (old_meanings,)
