"""Graphs as JSON values: what is written down of one is read as the same graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Folder, Output, RepoFile, Step

Json: TypeAlias = Any
_PLAIN = frozenset({str, int, float, bool, type(None)})  # a subclass would be read as another type
_MAPPINGS = ("args", "inputs", "aliases")  # fields of a step


def to_json(graph: Graph) -> dict[str, Json]:
    """A graph as JSON values. Raises TypeError for what these cannot say, as a file of this machine."""
    return {
        "stages": {name: [_step(step) for step in steps] for name, steps in graph.stages.items()},
        "upstream": {name: list(names) for name, names in graph.upstream.items()},
        "checks": dict(graph.checks),
        "target": graph.target,
    }


def from_json(value: Mapping[str, Json]) -> Graph:
    """The graph that was written. Raises KeyError, TypeError, ValueError for anything else."""
    known: dict[str, Step] = {}
    stages = {
        name: tuple(_read_step(step, known) for step in steps) for name, steps in value["stages"].items()
    }
    upstream = {name: tuple(names) for name, names in value["upstream"].items()}
    return Graph(stages, upstream, value["checks"], value["target"])


def _step(step: Step) -> dict[str, Json]:
    return {name: _each(value) if name in _MAPPINGS else _value(value) for name, value in vars(step).items()}


def _read_step(value: Mapping[str, Json], known: dict[str, Step]) -> Step:
    """A step; `known` are those before it by their labels, and it is added to them."""
    fields: dict[str, Any] = {
        name: _read_each(given, known) if name in _MAPPINGS else _read(given, known)
        for name, given in value.items()
    }
    step = Step(**fields)
    known[step.label] = step
    return step


def _each(values: Mapping[str, object]) -> dict[str, Json]:
    return {name: _value(value) for name, value in values.items()}


def _value(value: object) -> Json:
    """A field, an argument, an input: plain values and lists as they are, others under their kind."""
    if type(value) in _PLAIN:
        return value
    if type(value) is list:
        return [*map(_value, value)]
    if type(value) is tuple:
        return {"tuple": [*map(_value, value)]}
    if isinstance(value, Output):
        return {"output": [value.step.label, value.name]}
    if isinstance(value, Folder):
        return {"folder": _each(value.files)}
    if isinstance(value, RepoFile):
        return {"file": value.path}
    raise TypeError(f"{value!r} of a step cannot be written as JSON")


def _read_each(values: Mapping[str, Json], known: Mapping[str, Step]) -> dict[str, Any]:
    return {name: _read(value, known) for name, value in values.items()}


def _read(value: Json, known: Mapping[str, Step]) -> Any:
    if type(value) is list:
        return [_read(item, known) for item in value]
    if type(value) is not dict:
        return value
    ((kind, inner),) = value.items()
    if kind == "tuple":
        return tuple(_read(item, known) for item in inner)
    if kind == "folder":
        return Folder(_read_each(inner, known))
    if kind == "file":
        return RepoFile(inner)
    label, name = inner
    return known[label][name]
