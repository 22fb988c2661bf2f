"""Differences between the parts of two keys, as lines for people, and which keys of the training config made
them.

The latter is found by a trial: with an earlier value put back into today's config, is the step's setting
the earlier one again? A graph takes milliseconds to build, so that each key that differs can be tried.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from translations_assets.common.errors import TranslationsError
from translations_assets.config.errors import ConfigError
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Step
from translations_assets.records.manifest import KeyParts

LONGEST_VALUE = 60  # characters of a value that are shown
DIGITS = 8  # of a digest: enough to tell two apart

KeyPath: TypeAlias = "tuple[str, ...]"


class _Absent:
    """Stands for a value that is not there."""

    def __repr__(self) -> str:
        return "not set"


ABSENT = _Absent()


class Change(NamedTuple):
    """A value that differs; ABSENT where there is none."""

    path: KeyPath
    old: Any
    new: Any

    def lines(self) -> Iterator[str]:
        """`a.b: 15 → 20`; of lists what was added and removed."""
        name = ".".join(self.path)
        if isinstance(self.old, list) and isinstance(self.new, list):
            yield from (f"{name}: {change}" for change in _list_changes(self.old, self.new))
        else:
            yield f"{name}: {short(self.old)} → {short(self.new)}"


def short(value: Any) -> str:
    """A value for people, cut when it is long."""
    text = value if isinstance(value, str) else repr(value) if value is ABSENT else _json(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _list_changes(old: list[Any], new: list[Any]) -> Iterator[str]:
    before, after = Counter(map(_json, old)), Counter(map(_json, new))
    changes = [(item, "added") for item in (after - before)] + [
        (item, "removed") for item in (before - after)
    ]
    if not changes:
        yield "order changed"
    for item, word in changes:
        yield f"{short(json.loads(item))} {word}"


def changes(old: Any, new: Any, path: KeyPath = ()) -> Iterator[Change]:
    """Yield the differences of two values of mappings, lists and scalars; lists are compared as one."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys([*old, *new]):
            yield from changes(old.get(name, ABSENT), new.get(name, ABSENT), (*path, str(name)))
    elif old is ABSENT or new is ABSENT or _json(old) != _json(new):
        yield Change(path, old, new)


def settings(of: KeyParts | Step) -> dict[KeyPath, Any]:
    """Return the parts of a key that a step's config decides: all but code, contents and versions.

    A JSON object among the arguments, such as Marian's options, is taken apart.
    """
    found: dict[KeyPath, Any] = {("script",): of.script}
    for name, value in of.args.items():
        values = _object(value)
        if values is None:
            found["argument", name] = list(value) if isinstance(value, tuple) else value
        else:
            found.update({("argument", name, key): inner for key, inner in values.items()})
    found.update({("input", path): True for path in (of.files() if isinstance(of, Step) else of.inputs)})
    found.update({("output", name): True for name in of.outputs})
    return found


def _object(value: Any) -> dict[str, Any] | None:
    if isinstance(value, str) and value.startswith("{"):
        try:
            parsed = json.loads(value)
        except ValueError:
            return None
        return parsed if isinstance(parsed, dict) else None
    return None


def setting_lines(
    old: Mapping[KeyPath, Any], new: Mapping[KeyPath, Any], explained: Iterable[KeyPath]
) -> Iterator[str]:
    """Arguments and outputs that differ; what is explained already is left out."""
    done = set(explained)
    for path in dict.fromkeys([*old, *new]):
        before, after = old.get(path, ABSENT), new.get(path, ABSENT)
        if path in done or before == after:
            continue
        kind, *names = path
        if kind == "argument":
            option = " ".join(["--" + names[0].replace("_", "-"), *names[1:]])
            yield f"argument {option}: {short(before)} → {short(after)}"
        elif kind == "output":
            yield f"output {names[0]} {'added' if before is ABSENT else 'removed'}"
        elif kind == "script":
            yield f"script {before} → {after}"


def version_lines(old: KeyParts, new: KeyParts) -> Iterator[str]:
    """Libraries and Python versions that differ."""
    for change in changes(old.libraries, new.libraries):
        (name,) = change.path
        if change.old is ABSENT or change.new is ABSENT:
            yield f"library {name} {change.new} added" if change.old is ABSENT else f"library {name} removed"
        else:
            yield f"library {name} {change.old} → {change.new}"
    if old.python != new.python:
        yield f"python {old.python} → {new.python}"


class InputChange(NamedTuple):
    """A file that differs; an empty digest where there is none."""

    path: str
    old: str
    new: str

    @property
    def is_change(self) -> bool:
        """True if there are contents on both sides."""
        return bool(self.old and self.new)


def input_changes(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[InputChange]:
    """Inputs whose contents differ, by path; a new digest that is empty is not known, and not compared.

    Contents that only stand at another place of a list are left out; a list of which nothing else differs is
    named by its option, without digests.
    """
    for option in dict.fromkeys(path.partition("/")[0] for path in [*old, *new]):
        paths = [path for path in dict.fromkeys([*new, *old]) if path.partition("/")[0] == option]
        pairs = [InputChange(path, old.get(path, ""), new.get(path, "")) for path in paths]
        differing = [pair for pair in pairs if pair.old != pair.new and new.get(pair.path) != ""]
        before, after = (Counter(pair[side] for pair in differing) for side in (1, 2))
        rest = [
            InputChange(
                pair.path, pair.old * (pair.old in before - after), pair.new * (pair.new in after - before)
            )
            for pair in differing
        ]
        left = [pair for pair in rest if pair.old or pair.new]
        if differing and not left:
            yield InputChange(option, "", "")
        yield from left


Rebuild: TypeAlias = "Callable[[TrainingConfig], Graph]"

MOST_CHANGES = 30  # keys that are tried; configs that differ in more have little to do with each other


class ConfigChanges:
    """The keys in which an earlier training config differs from a graph's; remembers the graphs it tries."""

    def __init__(self, earlier: Mapping[str, Any], now: Mapping[str, Any], rebuild: Rebuild) -> None:
        self._now, self._rebuild = now, rebuild
        self._changes = list(changes(earlier, now))
        self._graphs: dict[frozenset[int], Graph | None] = {}

    def responsible(
        self, label: str, old: Mapping[KeyPath, Any], new: Mapping[KeyPath, Any]
    ) -> tuple[list[Change], set[KeyPath]]:
        """The keys that changed a step's settings from old to new, and the settings explained by them.

        `label` is the step's with the earlier config.
        """
        wanted = {path for path in {*old, *new} if old.get(path, ABSENT) != new.get(path, ABSENT)}
        if not wanted or not self._changes or len(self._changes) > MOST_CHANGES:
            return [], set()
        named: dict[int, None] = {}
        explained: set[KeyPath] = set()
        for number in self._all:
            if restored := self._restored({number}, label, old, wanted):
                named[number] = None
                explained |= restored
        if together := self._restored(self._all, label, old, wanted - explained):
            named.update(dict.fromkeys(self._needed(together, label, old)))
            explained |= together
        return [self._changes[number] for number in sorted(named)], explained

    @cached_property
    def _all(self) -> range:
        return range(len(self._changes))

    def _needed(self, together: set[KeyPath], label: str, old: Mapping[KeyPath, Any]) -> Iterable[int]:
        """Of keys that only together restore settings those without which they do not; else all."""
        needed = [
            number
            for number in self._all
            if self._restored({*self._all} - {number}, label, old, together) != together
        ]
        return needed or self._all

    def _restored(
        self, numbers: Collection[int], label: str, old: Mapping[KeyPath, Any], wanted: set[KeyPath]
    ) -> set[KeyPath]:
        """The wanted settings that are the old ones again when earlier values of keys are put back."""
        graph = self._graph(frozenset(numbers)) if wanted else None
        step = graph.by_label.get(label) if graph else None
        if step is None:
            return set()
        found = settings(step)
        return {path for path in wanted if found.get(path, ABSENT) == old.get(path, ABSENT)}

    def _graph(self, numbers: frozenset[int]) -> Graph | None:
        """The graph with the earlier values of some keys; None when that is no config."""
        if numbers not in self._graphs:
            values = copy.deepcopy(dict(self._now))
            for number in numbers:
                _put(values, self._changes[number].path, self._changes[number].old)
            try:
                self._graphs[numbers] = self._rebuild(TrainingConfig.model_validate(values))
            except (ValueError, ConfigError, TranslationsError):  # Pydantic's error is a ValueError
                self._graphs[numbers] = None
        return self._graphs[numbers]


def _put(values: dict[str, Any], path: KeyPath, value: Any) -> None:
    for name in path[:-1]:
        inner = values.get(name)
        values[name] = inner if isinstance(inner, dict) else {}
        values = values[name]
    if value is ABSENT:
        values.pop(path[-1], None)
    else:
        values[path[-1]] = value
