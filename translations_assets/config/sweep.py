"""Sweeps: a training config and axes along which its keys vary. Every combination is a variant.

A sweep is a file `sweeps/<name>.yml` in a folder of training configs:

    base: en-eo.demo
    axes:
      marian-args.training-student.learn-rate: [0.0003, 0.0005]
      experiment.seeds.student: [1, 2, 3]
      without: ["", opus_Books/v1] # datasets, left out one by one
    exclude:
      - {without: opus_Books/v1, experiment.seeds.student: 3}
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import Field

from translations_assets.config.errors import among
from translations_assets.config.load import validated
from translations_assets.config.partitions import OF_A_KEY, is_key
from translations_assets.config.schema import StageName
from translations_assets.config.section import FROM_LIST, NotEmpty, Section, default
from translations_assets.config.text import read_text
from translations_assets.config.yaml_reader import Found, mapping_at, read_yaml

WITHOUT = "without"  # the axis of datasets that are left out
SEEDS = "experiment.seeds."  # axes whose values differ by chance alone
MOST_VARIANTS = 1000

Values: TypeAlias = Annotated[tuple[Any, ...], FROM_LIST, "list of values"]


class SweepFile(Section):
    """A training config, and how it is varied."""

    base: str = Field(description="the partition of the training config that is varied")
    axes: Mapping[str, NotEmpty[Values]] = Field(
        description="dotted keys of the config, or `without` for datasets to leave out, and their values"
    )
    exclude: Annotated[tuple[Mapping[str, Any], ...], FROM_LIST, "list of mappings"] = default(
        (), "combinations that are left out: those that have all the values of an item"
    )
    target: StageName | None = default(None, "the stage that variants are made up to; none: as in the base")


@dataclass(frozen=True)
class Variant:
    """A combination of values of the axes.

    partition  the key of its partition
    values     axis → value
    """

    partition: str
    values: Mapping[str, Any]

    @property
    def overrides(self) -> dict[str, Any]:
        """The keys of the base config that it changes, and their values."""
        return {axis: value for axis, value in self.values.items() if axis != WITHOUT}

    @property
    def without(self) -> str:
        """The dataset that it leaves out; "" for none."""
        return str(self.values.get(WITHOUT) or "")

    @property
    def setting(self) -> dict[str, Any]:
        """Its values, but for seeds: variants that differ by chance alone have the same."""
        return {axis: value for axis, value in self.values.items() if not axis.startswith(SEEDS)}


@dataclass(frozen=True)
class TrainingSweep:
    """A sweep's name and its file."""

    name: str
    file: SweepFile

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """All combinations that are not excluded, the last axis's values changing fastest."""
        axes = self.file.axes
        combinations = (dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values()))
        return tuple(
            Variant(self._partition(values), values)
            for values in combinations
            if not any(_has(values, excluded) for excluded in self.file.exclude)
        )

    def _partition(self, values: Mapping[str, Any]) -> str:
        names = (f"{short}-{self._words[axis][_text(values[axis])]}" for axis, short in self._short.items())
        return ".".join([self.file.base, self.name, *names])

    @cached_property
    def _words(self) -> dict[str, dict[str, str]]:
        """Axis → value as text → the value in a name, which no other value of the axis has."""
        return {
            axis: dict(zip(map(_text, values), _told_apart(values), strict=True))
            for axis, values in self.file.axes.items()
        }

    @cached_property
    def _short(self) -> dict[str, str]:
        """Axis → the last parts of its key, as many as tell it from other axes."""
        return {axis: _shortest(axis, self.file.axes) for axis in self.file.axes}


def load_sweep(path: Path) -> TrainingSweep:
    """Read a sweep's file. Raises ConfigError with everything that is wrong with it."""
    return parse_sweep(read_text(path, "sweep"), path.stem, str(path))


def parse_sweep(text: str, name: str, source_name: str) -> TrainingSweep:
    """Read the text of a sweep's file; errors call it `source_name`. Raises ConfigError."""
    document = read_yaml(text, source_name, "sweep", "base")
    if not is_key(f"{name}."):
        document.add((), f"a sweep's name must consist of {OF_A_KEY}; rename the file")
    return TrainingSweep(name, validated(document, SweepFile, _problems))


def _problems(values: Mapping[str, Any]) -> Found:
    """The key path and message of every problem with base, axes and exclusions."""
    base = values.get("base")
    if isinstance(base, str) and not is_key(f"{base}."):  # with a '.' behind it, names of variants begin so
        yield ("base",), f"must be the name of a training config, of {OF_A_KEY}"
    axes = {axis: given for axis, given in mapping_at(values, ("axes",)).items() if isinstance(given, list)}
    for axis, given in axes.items():
        if len({_text(value) for value in given}) < len(given):
            yield ("axes", axis), "has a value twice; each makes variants of its own"
        if axis == WITHOUT and not all(isinstance(value, str) for value in given):
            yield ("axes", axis), 'must be names of datasets, and "" for none'
    if (number := math.prod(map(len, axes.values()))) > MOST_VARIANTS:
        yield ("axes",), f"they make {number:,} variants; {MOST_VARIANTS:,} are the most"
    excluded = values.get("exclude")
    for place, item in enumerate(excluded if isinstance(excluded, list) else ()):
        for axis, said in _excluded(item, axes) if isinstance(item, dict) else ():
            yield ("exclude", place, axis), said


def _excluded(item: Mapping[str, Any], axes: Mapping[str, Sequence[Any]]) -> Iterator[tuple[str, str]]:
    for axis, value in item.items():
        known = [_text(one) for one in axes.get(axis, ())]
        if axis not in axes:
            yield axis, f"is no axis.{among(axis, axes)}"
        elif _text(value) not in known:
            yield axis, f"{_text(value)} is no value of this axis; it has {', '.join(known)}"


def _has(values: Mapping[str, Any], excluded: Mapping[str, Any]) -> bool:
    return all(_text(values.get(axis)) == _text(value) for axis, value in excluded.items())


def _shortest(axis: str, axes: Mapping[str, Any]) -> str:
    parts = axis.split(".")
    for length in range(1, len(parts)):
        short = parts[-length:]
        if sum(other.split(".")[-length:] == short for other in axes) == 1:
            return "-".join(short)
    return "-".join(parts)


def _told_apart(values: Sequence[Any]) -> list[str]:
    """Values in names: themselves where they are scalars that names can have, else their numbers."""
    words = [_word(value) for value in values]
    numbers = [f"value-{number}" for number, _ in enumerate(values, 1)]
    named = zip(words, numbers, strict=True)
    told = [word if word and words.count(word) == 1 else number for word, number in named]
    return told if len({*told}) == len(told) else numbers


def _word(value: Any) -> str:
    """A value as names can have it; "" for what is no scalar, or has no such character."""
    if value in ("", None):
        return "none"
    word = re.sub(r"[^A-Za-z0-9._]+", "-", _text(value)).strip("-") if _is_scalar(value) else ""
    return word if word and is_key(f"x-{word}.") else ""  # as it stands between other parts of the name


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _text(value: Any) -> str:
    """A value as text: 0.0003, tiny, true."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def settings_of(variants: Sequence[Variant]) -> Iterator[tuple[dict[str, Any], list[Variant]]]:
    """Each setting, and the variants that have it, in the order in which settings first occur."""
    groups: dict[str, list[Variant]] = {}
    for variant in variants:
        groups.setdefault(json.dumps(variant.setting, sort_keys=True), []).append(variant)
    yield from ((group[0].setting, group) for group in groups.values())
