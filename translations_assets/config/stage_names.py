"""Names of stages, of every generation, and the stages of this project that they mean.

Mozilla's pipeline renamed its stages twice; configs, guides and habits hold all the names. Today's names are
those of 2024 with underscores. A name may mean several stages (`dataset`, `evaluate`, `all`), and several
names one stage: splitting, translating and collecting chunks are steps of a single stage here.

`stage_names.json` has all stages in their order, each with its names of other generations, with hyphens.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from translations_assets.config.errors import ConfigError, suggestion

_ALL = ("all", "all-pipeline", "all-pr-pipeline")
_NOT_BUILT = frozenset({"update-db"})
# Upstream compiles its fork of Marian as a stage; here Marian comes with the environment.
_NEVER = {"compile": "Marian is part of the environment and is not compiled"}


@cache
def _table() -> Mapping[str, list[str]]:
    table: Mapping[str, list[str]] = json.loads(
        Path(__file__).with_name("stage_names.json").read_text(encoding="utf-8")
    )
    return table


def stage_names() -> tuple[str, ...]:
    """Today's names of all stages."""
    return tuple(_table())


@cache
def _meant() -> Mapping[str, tuple[str, ...]]:
    """The stages that each name of other generations means."""
    meant: dict[str, tuple[str, ...]] = dict.fromkeys(_ALL, stage_names())
    for stage, names in _table().items():
        for name in names:
            meant[name] = (*meant.get(name, ()), stage)
    return meant


def resolve_stage(name: str) -> tuple[str, ...]:
    """The stages that a name of any generation means; hyphens may stand for underscores.

    Raises ConfigError for a name that is unknown, naming the nearest one, or whose stage is not built.
    """
    if name.replace("-", "_") in stage_names():
        return (name.replace("-", "_"),)
    spelled = name.replace("_", "-")
    if spelled in _meant():
        return _meant()[spelled]
    if spelled in _NOT_BUILT:
        raise ConfigError.of(f"the stage {name!r} is not built yet; the stages: {', '.join(stage_names())}")
    if spelled in _NEVER:
        raise ConfigError.of(f"there is no stage {name!r}: {_NEVER[spelled]}")
    raise ConfigError.of(f"{name!r} is not a stage.{meant_stage(name, known_names())}")


def meant_stage(name: str, names: Iterable[str]) -> str:
    """A hint at what a wrong name may mean: the nearest of some names, or else all stages there are."""
    return suggestion(name, names) or f" The stages: {', '.join(stage_names())}"


def worker_kinds() -> list[str]:
    """The names that worker classes are given by."""
    return ["default", *spellings([*known_names(), *sorted(_NOT_BUILT), *_NEVER])]


def spellings(names: Iterable[str]) -> list[str]:
    """Names, with all that they are when hyphens stand for underscores, or underscores for hyphens."""
    given = list(names)
    others = (name.replace(*marks) for marks in (("_", "-"), ("-", "_")) for name in given)
    return list(dict.fromkeys([*given, *others]))


def is_known(name: str) -> bool:
    """True if any generation has a stage of that name, built or not."""
    return name.replace("_", "-") in {each.replace("_", "-") for each in worker_kinds()[1:]}


def known_names() -> tuple[str, ...]:
    """Today's stage names, and all others that `resolve_stage` takes."""
    return (*stage_names(), *_meant())
