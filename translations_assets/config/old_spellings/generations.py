"""The age of a config, and the meaning that a missing key had at that time.

Configs carry no date, but keys and forms came and went with upstream's releases. `history.yml` has the one
table of them, `marks`. The newest mark in a config tells how old it can be at most, as no key is older than
its invention, while left-over keys were carried along for years. Only a former mark, a key or a form that is
not written today, proves that a config is old: without one it may be a short one of today. Left out are keys
that upstream changed in all its configs at once, however old (`min-fluency-threshold`, `hplt-min-doc-score`,
the sections `mono-max-sentences-…`): they tell nothing.

An old config gets its old meaning, written down (`unsaid`). A config in which no mark decides is read as one
of today, with one note that names what it leaves open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from translations_assets.config.edits import Edit, Put, is_free
from translations_assets.config.old_spellings.history import HISTORY, path_of
from translations_assets.config.schema import UNUSED, TrainingConfig
from translations_assets.config.section import by_key, section_in
from translations_assets.config.yaml_reader import Found, KeyPath, at, dotted, has


class Generation(IntEnum):
    """Times between two changes of what configs mean, by the year and month in which they began."""

    FIRST = 202106
    OPUSCLEANER = 202309
    MODIFIERS = 202404
    STUDENTS = 202410
    CONTINUATION = 202503
    TODAY = 202601


@dataclass(frozen=True)
class Mark:
    """A key, or a form of its value, that is not older than a generation."""

    path: KeyPath
    since: Generation
    former: bool  # not written today
    has_form: Callable[[Any], bool]


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _any_variant(*modifiers: str) -> Callable[[Any], bool]:
    """Make a test: True if a list of datasets has one with any of some modifiers."""
    found = tuple(f"_aug-{modifier}_" for modifier in modifiers)
    return lambda keys: isinstance(keys, list) and any(one in str(key) for key in keys for one in found)


def _has_aliases(datasets: object) -> bool:
    return isinstance(datasets, list) and any(isinstance(item, Mapping) for item in datasets)


FORMS: Mapping[str, Callable[[Any], bool]] = {
    "any": lambda value: True,
    "perplexity": lambda value: value == "perplexity",
    "a number": _is_count,
    "strict modifiers": _any_variant(*HISTORY["strict-modifiers"]),
    "modifiers of 2024": _any_variant("noise", "inline-noise", "punct"),
    "aliases": _has_aliases,
}
MARKS = tuple(
    Mark(path_of(key), Generation[mark["since"]], mark.get("former", False), FORMS[mark.get("form", "any")])
    for mark in HISTORY["marks"]
    for key in mark["keys"]
)


def newest_mark(values: Mapping[str, Any]) -> Generation | None:
    """The generation that a config, as it was read, is of at the least; None when nothing in it shows it."""
    return max((mark.since for mark in MARKS if _is_there(mark, values)), default=None)


def is_old(values: Mapping[str, Any]) -> bool:
    """True if a config, as read and before it is rewritten, has keys or forms that are not written today."""
    return any(mark.former and _is_there(mark, values) for mark in MARKS)


def is_of_upstream(values: Mapping[str, Any]) -> bool:
    """True if a config, as read, has keys that only upstream's pipeline uses, of any year."""
    return is_old(values) or any(has(values, path) for path in UNUSED)


def _is_there(mark: Mark, values: Mapping[str, Any]) -> bool:
    return has(values, mark.path) and mark.has_form(at(values, mark.path))


VARIANTS = ("_aug-title_", "_aug-upper_", "_aug-typos_", "_aug-mix_")


@dataclass(frozen=True)
class Unsaid:
    """A key that, not given, meant `then` until a generation; a path stands for the value there."""

    path: KeyPath
    until: Generation
    then: str | KeyPath
    why: str
    said_by: tuple[KeyPath, ...]  # other keys that decide it


UNSAID = tuple(
    Unsaid(
        path_of(unsaid["key"]),
        Generation[unsaid["until"]],
        unsaid["then"] if "then" in unsaid else path_of(unsaid["then-as"]),
        unsaid["why"],
        tuple(map(path_of, unsaid.get("said-by", ()))),
    )
    for unsaid in HISTORY["unsaid"]
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
    """The note on a config of today, as it was rewritten, that might be old: nothing in it decides."""
    found = [
        f"{dotted(unsaid.path)}: {_default(unsaid.path)} ({then} before {_month(unsaid.until)})"
        for unsaid, then in _open(values)
    ]
    if found and not is_old(values):
        said = f"nothing shows which year this config is of; read as one of today, with {', '.join(found)}"
        yield ("experiment",), f"{said}. Give experiment.student-model, as all configs since October 2024 do"


def differences(values: Mapping[str, Any]) -> Found:
    """Name what an old config, as read, means in another way here, without a key for it."""
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
            "10 % to title case and 10 % to upper case; now they do what docs/datasets.md describes"
        )
        yield ("datasets",), said


def _open(values: Mapping[str, Any]) -> Iterator[tuple[Unsaid, Any]]:
    """The keys that a config leaves out and that had, or may have had, another meaning at its time."""
    newest = newest_mark(values) or Generation.FIRST
    for unsaid in UNSAID:
        then = unsaid.then if isinstance(unsaid.then, str) else at(values, unsaid.then)
        given = any(has(values, path) for path in unsaid.said_by)
        if newest < unsaid.until and then is not None and not given and is_free(values, unsaid.path):
            yield unsaid, then


def _default(path: KeyPath) -> Any:
    """Return the value that a missing key has today."""
    found: Any = TrainingConfig
    for key in map(str, path):
        field = None if isinstance(found, Mapping) else by_key(found)[key]
        found = found.get(key) if field is None else section_in(field.annotation) or field.default
    return "none" if found is None else found


def _month(generation: Generation) -> str:
    return f"{generation // 100}-{generation % 100:02}"
