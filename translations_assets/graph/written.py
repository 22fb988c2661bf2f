"""Graphs as JSON values: what is written down of one is read as the same graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Folder, Handle, Output, RepoFile, Step

Json: TypeAlias = Any
_PLAIN = frozenset({str, int, float, bool, type(None)})  # a subclass would be read as another type
_ALIKE = ("script", "label", "stage", "worker", "resumable", "repeatable", "attempts")
_TEXTS = ("outputs", "secrets", "programs")


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
    return {
        **{name: _value(getattr(step, name)) for name in _ALIKE},
        **{name: list(getattr(step, name)) for name in _TEXTS},
        "args": {name: _value(arg) for name, arg in step.args.items()},
        "inputs": {name: _value(handles) for name, handles in step.inputs.items()},
        "aliases": dict(step.aliases),
    }


def _read_step(value: Mapping[str, Json], known: dict[str, Step]) -> Step:
    """A step; `known` are those before it by their labels, and it is added to them."""
    fields: dict[str, Any] = {name: value[name] for name in _ALIKE}
    fields |= {name: tuple(value[name]) for name in _TEXTS}
    step = Step(
        **fields,
        args={name: _read(arg, known) for name, arg in value["args"].items()},
        inputs={name: _read(handles, known) for name, handles in value["inputs"].items()},
        aliases=value["aliases"],
    )
    known[step.label] = step
    return step


def _value(value: object) -> Json:
    """An argument or what a step reads: plain values and lists as they are, others under their kind."""
    if type(value) in _PLAIN:
        return value
    if type(value) is list:
        return [*map(_value, value)]
    if type(value) is tuple:
        return {"tuple": [*map(_value, value)]}
    return _handle(value)


def _handle(value: object) -> Json:
    if isinstance(value, Output):
        return {"output": [value.step.label, value.name]}
    if isinstance(value, Folder):
        return {"folder": {name: [one.step.label, one.name] for name, one in value.files.items()}}
    if isinstance(value, RepoFile):
        return {"file": value.path}
    raise TypeError(f"{value!r} of a step cannot be written as JSON")


def _read(value: Json, known: Mapping[str, Step]) -> Any:
    if type(value) is list:
        return [_read(item, known) for item in value]
    if type(value) is not dict:
        return value
    ((kind, inner),) = value.items()
    if kind == "tuple":
        return tuple(_read(item, known) for item in inner)
    return _read_handle(kind, inner, known)


def _read_handle(kind: str, inner: Json, known: Mapping[str, Step]) -> Handle:
    if kind == "folder":
        return Folder({name: known[label][output] for name, (label, output) in inner.items()})
    if kind == "file":
        return RepoFile(inner)
    label, output = inner
    return known[label][output]
