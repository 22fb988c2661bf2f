"""Facts about stages that stand in their code, whatever the training config: scripts, machines.

A stage's steps depend on the config, and definitions are made before any is read. The names of scripts and of
worker classes stand as constants in the stage's function and in the functions of this package that it calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, get_args

from translations_assets.common.settings import repository_root
from translations_assets.graph.stage import Stage
from translations_assets.graph.step import WorkerClass

SCRIPTS = "pipeline."
WORKER_CLASSES: tuple[str, ...] = get_args(WorkerClass)  # the larger machine after the smaller


def scripts_of(stage: Stage) -> list[str]:
    """The scripts that a stage's steps may run; of one for each provider, those of all providers."""
    found = {text for text in _constants(stage) if text.startswith(SCRIPTS)}
    return sorted(
        name for text in found for name in (_beginning_with(text) if text.endswith("_") else [text])
    )


def largest_machine(stage: Stage) -> str:
    """The worker class with the largest machines that a stage's steps may ask for."""
    asked = _constants(stage)
    return [name for name in WORKER_CLASSES if name == WORKER_CLASSES[0] or name in asked][-1]


def _beginning_with(text: str) -> Iterator[str]:
    path = Path(*text.split("."))
    for script in (repository_root() / path.parent).glob(f"{path.name}*.py"):
        yield ".".join((*path.parent.parts, script.stem))


@cache
def _constants(stage: Stage) -> frozenset[str]:
    """The texts in the code of a stage."""
    functions: dict[Callable[..., Any], None] = {}
    _reach(stage.function, functions)
    return frozenset(text for function in functions for text in _texts(function.__code__))


def _reach(function: Any, found: dict[Callable[..., Any], None]) -> None:
    """Add a function, and those of this package that its code names."""
    if function in found:
        return
    found[function] = None
    for code in _codes(function.__code__):
        for name in code.co_names:
            value = function.__globals__.get(name)
            if isinstance(value, FunctionType) and value.__module__.startswith(__package__):
                _reach(value, found)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code, and that of the functions and comprehensions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _texts(constant: object) -> Iterator[str]:
    if isinstance(constant, str):
        yield constant
    elif isinstance(constant, CodeType):
        yield from _texts(constant.co_consts)
    elif isinstance(constant, (tuple, frozenset)):
        for each in constant:
            yield from _texts(each)
