"""YAML into plain values, with the line of every key and list item.

Scalars are read by the rules of YAML 1.2, in which `no`, `on` and `1:30` are text: `src: no` is Norwegian.
Underscores in numbers, as in `10_000_000`, are allowed, and so are merge keys (`<<: *name`). PyYAML's C
parser does the parsing: large configs take milliseconds, and its nodes know their lines. A key that stands
twice is an error, where YAML libraries take the last one in silence. A path of keys names a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import yaml

from translations_assets.config.errors import ConfigError, Problem
from translations_assets.config.text import MOST_CHARACTERS

KeyPath: TypeAlias = "tuple[str | int, ...]"
Found: TypeAlias = "Iterator[tuple[KeyPath, str]]"  # what a check finds: where, and what is wrong there


def dotted(path: KeyPath) -> str:
    """A key path for people: `datasets.train[2]`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def at(values: Any, path: KeyPath) -> Any:
    """The value at a path; None when there is none."""
    for part in path:
        if isinstance(part, int):
            values = values[part] if isinstance(values, list) and part < len(values) else None
        else:
            values = values.get(part) if isinstance(values, Mapping) else None
    return values


def has(values: Any, path: KeyPath) -> bool:
    """True if a key is written at a path, even with nothing behind it."""
    parent = at(values, path[:-1])
    return isinstance(parent, Mapping) and path[-1] in parent


def mapping_at(values: Any, path: KeyPath) -> Mapping[str, Any]:
    """The mapping at a path; an empty one when there is something else, or nothing."""
    found = at(values, path)
    return found if isinstance(found, Mapping) else {}


_Pair: TypeAlias = "tuple[yaml.Node, yaml.Node]"

DEEPEST = 20  # keys and items around a value; what is deeper is reported with the other problems
DEEPEST_NODES = 100
MERGE = "<<"
BLOCKS = ("|", ">")  # styles of texts on lines of their own, whose last line break belongs to no URL or name
MOST_VALUES = 200_000
MOST_DIGITS = 18  # of a whole number; what has more is text


class _Loader(yaml.CSafeLoader):
    yaml_implicit_resolvers: dict[Any, Any] = {}  # without those of YAML 1.1


_TAG = "tag:yaml.org,2002:"
for _name, _pattern, _first in (
    ("null", r"|~|null|Null|NULL", ["", "~", "n", "N"]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", rf"[-+]?(?:0|[1-9][0-9_]{{0,{MOST_DIGITS - 1}}})", list("-+0123456789")),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+",
        list("-+.0123456789"),
    ),
):
    _Loader.add_implicit_resolver(f"{_TAG}{_name}", re.compile(rf"^(?:{_pattern})$"), _first)


@dataclass
class Document:
    """A YAML document: a mapping, and the line (from 1) of every key path in it."""

    file: str
    value: dict[str, Any] = field(default_factory=dict)
    lines: dict[KeyPath, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    doubles: list[tuple[KeyPath, int]] = field(default_factory=list)  # empty, where another is not, by line

    def line(self, path: KeyPath) -> int | None:
        """The line of a key, or that of the nearest mapping around it when it is not there."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)

    def add(self, path: KeyPath, message: str, line: int | None = None) -> None:
        """Record a problem at a key."""
        self.problems.append(Problem(message, self.file, line or self.line(path), dotted(path)))

    def note(self, path: KeyPath, message: str, line: int | None = None) -> None:
        """Record what people should know of a key, although nothing is wrong with it."""
        self.notes.append(Problem(message, self.file, line or self.line(path), dotted(path)))


def _is_empty(node: yaml.Node, depth: int = 2) -> bool:
    """True if a value holds nothing, or only keys that hold nothing."""
    if isinstance(node, yaml.ScalarNode):
        return node.tag == f"{_TAG}null" or not node.value
    inner = [item[1] if isinstance(item, tuple) else item for item in node.value]
    return not inner or (depth > 1 and all(_is_empty(item, depth - 1) for item in inner))


def _is_merge(key: yaml.Node) -> bool:
    """True if a key is `<<`; in quotes it is text like any other."""
    return isinstance(key, yaml.ScalarNode) and key.value == MERGE and not key.style


def read_yaml(
    text: str, file: str, kind: str = "training config", keys: str = "experiment and datasets"
) -> Document:
    """Read one mapping. Errors call the text `file`; it should be of some `kind`, which needs some `keys`.

    Raises ConfigError when the text is not YAML or not a mapping. Problems that leave the rest readable (keys
    that stand twice, unknown tags) are in the document's `problems`.
    """
    document = Document(file)
    root = compose(text, file)
    if root is None:
        raise ConfigError.of(f"is empty; a {kind} has at least {keys}", file)
    if not isinstance(root, yaml.MappingNode):
        raise ConfigError.of(f"is not a mapping; a {kind} consists of `key: value` lines", file, 1)
    document.lines[()] = root.start_mark.line + 1
    document.value = _Reader(document).mapping(root, ())
    return document


def compose(text: str, file: str) -> yaml.Node | None:
    """The nodes of a text, with their locations; None for an empty one. ConfigError if not YAML."""
    if len(text) > MOST_CHARACTERS:
        raise ConfigError.of(f"has more than {MOST_CHARACTERS:,} characters", file)
    try:
        _bound(text, file)
        return yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise _not_yaml(error, text, file) from error


def _bound(text: str, file: str) -> None:
    """Raises ConfigError for a text that is nested too deeply, or has too many values, to be made nodes of.

    PyYAML makes nodes by recursion in C, which ends the process where the stack does; its events come one by
    one.
    """
    depth = values = 0
    for event in yaml.parse(text, Loader=_Loader):
        values += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.ScalarEvent) and "\0" in event.value:
            line = event.start_mark.line + 1 if event.start_mark else None
            raise ConfigError.of("holds the character NUL, which no name may have", file, line)
        if depth > DEEPEST_NODES:
            line = event.start_mark.line + 1 if event.start_mark else None
            raise ConfigError.of(f"is nested more than {DEEPEST_NODES} levels deep", file, line)
        if values > 2 * MOST_VALUES:  # keys are nodes, too
            raise ConfigError.of(f"holds more than {MOST_VALUES} values", file)


def _not_yaml(error: yaml.YAMLError, text: str, file: str) -> ConfigError:
    if isinstance(error, yaml.reader.ReaderError):
        line = text.encode()[: error.position].count(b"\n")
        said = f"holds the character {error.character!r}, which YAML does not allow"
        return ConfigError.of(said, file, line + 1)
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return ConfigError.of(f"not valid YAML: {error}", file)
    lines = text.rstrip().split("\n")
    line = min(error.problem_mark.line, len(lines) - 1)  # a bracket left open is missed behind the last line
    said = error.problem or ""
    if error.context and error.context_mark:
        said += f", {error.context} that begins in line {error.context_mark.line + 1}"
    if "\t" in lines[line][: len(lines[line]) - len(lines[line].lstrip())]:
        said = "there is a tab; YAML is indented with spaces only"
    return ConfigError.of(f"not valid YAML: {said}", file, line + 1)


class _Reader:
    """Makes values of nodes, and bounds them: with aliases a few lines can stand for billions of values."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.values = 0

    def value(self, node: yaml.Node, path: KeyPath) -> Any:
        self.values += 1
        if self.values > MOST_VALUES:
            raise ConfigError.of(f"holds more than {MOST_VALUES} values", self.document.file)
        if len(path) > DEEPEST:
            self.document.add(path[:3], "is nested too deeply, or contains itself")
            return None
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return self.sequence(node, path)
        return self.scalar(node, path)

    def mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        """A mapping; its own keys win over those that it merges, and of these the first."""
        values: dict[str, Any] = {}
        nodes: dict[str, yaml.Node] = {}
        own = [pair for pair in node.value if not _is_merge(pair[0])]
        for key, value in own:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                self.document.add(path, "a key must be text", line)
                continue
            inner = (*path, key.value)
            if key.value in nodes and not self.counts(inner, nodes[key.value], value, line):
                continue
            nodes[key.value] = value
            self.document.lines[inner] = line
            values[key.value] = self.value(value, inner)
        for key, value in self.merged(node, path, set()):
            if isinstance(key, yaml.ScalarNode) and key.value not in values:
                self.document.lines[(*path, key.value)] = key.start_mark.line + 1
                values[key.value] = self.value(value, (*path, key.value))
        return values

    def counts(self, path: KeyPath, first: yaml.Node, second: yaml.Node, line: int) -> bool:
        """True if the second of two equal keys counts, as it has a value; two with values are a problem."""
        before = self.document.lines[path]
        if not (_is_empty(first) or _is_empty(second)):
            self.document.add(path, f"stands here a second time; first in line {before}", line)
            return False
        goes, stays = (before, line) if _is_empty(first) else (line, before)
        self.document.doubles.append((path, goes))
        said = f"stands here a second time; the one in line {goes} is empty, so that in line {stays} counts"
        self.document.note(path, said, line)
        return goes == before

    def merged(self, node: yaml.MappingNode, path: KeyPath, seen: set[int]) -> Iterator[_Pair]:
        """Keys and values of the mappings that a mapping's merge keys name, and of those that they name."""
        seen.add(id(node))  # a mapping that merges itself, or one that is merged again, adds nothing
        for key, value in node.value:
            if not _is_merge(key):
                continue
            for mapping in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if not isinstance(mapping, yaml.MappingNode):
                    line = key.start_mark.line + 1
                    self.document.add((*path, MERGE), "must be a mapping, or a list of mappings", line)
                elif id(mapping) not in seen:
                    yield from (pair for pair in mapping.value if not _is_merge(pair[0]))
                    yield from self.merged(mapping, path, seen)

    def sequence(self, node: yaml.SequenceNode, path: KeyPath) -> list[Any]:
        values = []
        for index, item in enumerate(node.value):
            self.document.lines[(*path, index)] = item.start_mark.line + 1
            values.append(self.value(item, (*path, index)))
        return values

    def scalar(self, node: yaml.Node, path: KeyPath) -> Any:
        text, kind = str(node.value), node.tag.removeprefix(_TAG)
        if kind == "str":
            return text.rstrip("\n") if getattr(node, "style", None) in BLOCKS else text
        try:
            return _SCALARS[kind](text)
        except (KeyError, ValueError):
            self.document.add(path, f"the tag !{node.tag} cannot be used for {text!r}")
            return None


_SCALARS: dict[str, Callable[[str], Any]] = {
    "null": lambda text: None,
    "bool": lambda text: {"true": True, "false": False}[text.lower()],
    "int": lambda text: int(text.replace("_", "")),
    "float": float,
}
