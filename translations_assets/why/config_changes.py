"""Which keys of the training config made a step another one.

Told by what would be: with an earlier value put back into today's config, is the step's setting the earlier
one again? A graph takes milliseconds to build, so that each key that differs can be tried.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import Any, TypeAlias

from translations_assets.config.errors import ConfigError
from translations_assets.config.schema import TrainingConfig
from translations_assets.errors import TranslationsError
from translations_assets.graph.graph import Graph
from translations_assets.why.differences import ABSENT, Change, KeyPath, changes, settings_of

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
        found = settings_of(step)
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
