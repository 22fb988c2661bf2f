"""A training config's text, edited where it must be; it stays as it is elsewhere: comments, order, spelling.

Block style (a key or an item a line) is edited, and items within brackets can be taken out. A round trip by
ruamel.yaml changes lines of every fourth config of upstream without any edit, as they indent lists in several
ways.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import yaml

from translations_assets.config.edits import Put
from translations_assets.config.yaml_reader import KeyPath, at, compose

# Values whose scalars are spelled as they shall stand in the text: `100_000`, `'12'`.
Spelled: TypeAlias = "dict[str, Spelled] | list[Spelled] | str"
STEP = 2  # columns of indentation


class NotEditable(ValueError):
    """The text has a form that is not edited."""


class Page:
    """A text in lines, with the nodes of its YAML."""

    def __init__(self, text: str) -> None:
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.lines = text.replace("\r\n", "\n").split("\n")

    @property
    def text(self) -> str:
        """The text as it is now."""
        return self.newline.join(self.lines)

    def find(self, path: KeyPath) -> tuple[yaml.Node, yaml.Node]:
        """The key (of an item: the item) and the value at a path, as the lines are now."""
        root = compose("\n".join(self.lines), "")
        if root is None:
            raise NotEditable
        key = value = root
        for part in path:
            if isinstance(value, yaml.SequenceNode) and isinstance(part, int):
                key = value = value.value[part]
                continue
            pairs = value.value if isinstance(value, yaml.MappingNode) else ()
            found = [pair for pair in pairs if pair[0].value == part]
            if not found:
                raise NotEditable
            key, value = found[0]
        return key, value

    def has(self, path: KeyPath) -> bool:
        """True if there is a key at a path."""
        try:
            self.find(path)
        except NotEditable:
            return False
        return True

    def is_on_one_line(self, path: KeyPath) -> bool:
        """True if a key and its value are on one line."""
        key, value = self.find(path)
        return bool(key.start_mark.line == value.start_mark.line == value.end_mark.line)

    def spelled(self, put: Put, values: Mapping[str, Any]) -> Spelled:
        """Return the value to put, spelled as at its origin unless the value has changed."""
        if not is_same(at(values, put.origin), put.value):
            return spell(put.value)
        return self._spelling(self.find(put.origin)[1], put.value)

    def _spelling(self, node: yaml.Node, value: Any) -> Spelled:
        if isinstance(node, yaml.MappingNode):
            return {key.value: self._spelling(inner, value[key.value]) for key, inner in node.value}
        if isinstance(node, yaml.SequenceNode):
            return [self._spelling(inner, item) for inner, item in zip(node.value, value, strict=True)]
        start, end = node.start_mark, node.end_mark
        if start.line != end.line or start.column == end.column:
            return spell(value)
        return self.lines[start.line][start.column : end.column]

    def replace(self, path: KeyPath, name: str, new: Spelled | None) -> None:
        """Give a key another name, and another value, on the same line, unless that is None."""
        key, value = self.find(path)
        line, column = key.start_mark.line, key.start_mark.column
        if new is not None:
            before = self.lines[line][: value.start_mark.column]
            after = self.lines[line][value.end_mark.column :]
            inline = new if isinstance(new, str) else "" if new else repr(new)
            self.lines[line] = (before + inline).rstrip() + after
            if not inline:
                self.lines[line + 1 : line + 1] = _block(new, column + STEP)
        rest = self.lines[line][key.end_mark.column :]
        self.lines[line] = self.lines[line][:column] + str(spell(name)) + rest

    def replace_value(self, path: KeyPath, new: str) -> None:
        """Give an item of a list, or a key, another value on its line."""
        _, value = self.find(path)
        line = value.start_mark.line
        if line != value.end_mark.line:
            raise NotEditable
        text = self.lines[line]
        self.lines[line] = text[: value.start_mark.column] + new + text[value.end_mark.column :]

    def remove(self, path: KeyPath, keep_comments: bool, line: int | None = None) -> list[str]:
        """Take out a key or an item with all below it; the comments among them. Of two keys: that in a line.

        Comments stay in a key's place if asked to; an item's comment describes the item and goes with it.
        """
        section_key, section = self.find(path[:-1])
        key, value = self.find(path)
        if line is not None:
            key, value = next(pair for pair in section.value if pair[0].start_mark.line == line - 1)
        first, last = key.start_mark.line, _last_line(key, value)
        margin = self.lines[first][: key.start_mark.column]
        if not _is_block(section) or margin.strip() not in ("", "-"):
            raise NotEditable
        comments = self._comments(first, last)
        kept = comments if keep_comments and not isinstance(path[-1], int) else []
        self.lines[first : last + 1] = [margin + comment for comment in kept]
        if len(section.value) == 1 and path[:-1]:
            line, end = section_key.start_mark.line, section_key.end_mark.column
            colon = self.lines[line].index(":", end) + 1
            empty = " []" if isinstance(section, yaml.SequenceNode) else " {}"
            self.lines[line] = self.lines[line][:colon] + empty + self.lines[line][colon:]
        return comments

    def remove_entry(self, path: KeyPath) -> None:
        """Take out a key or an item with all below it and its comments, in block style or within brackets."""
        section = self.find(path[:-1])[1]
        if _is_block(section):
            self.remove(path, keep_comments=False)
            return
        pairs = [pair if isinstance(pair, tuple) else (pair, pair) for pair in section.value]
        places = [place for place, (key, _) in enumerate(pairs) if path[-1] in (place, key.value)]
        if not places:
            raise NotEditable
        place = places[0]
        key, value = pairs[place]
        begin, end = key.start_mark, value.end_mark
        if place + 1 < len(pairs):
            end = pairs[place + 1][0].start_mark
        elif place:
            begin = pairs[place - 1][1].end_mark
        if begin.line != end.line and any("#" in line for line in self.lines[begin.line : end.line + 1]):
            raise NotEditable
        joined = self.lines[begin.line][: begin.column] + self.lines[end.line][end.column :]
        self.lines[begin.line : end.line + 1] = [joined]

    def _comments(self, first: int, last: int) -> list[str]:
        """The comments in some lines, each from its `#` on."""
        ends = dict.fromkeys(range(first, last + 1), 0)
        for token in yaml.scan("\n".join(self.lines), Loader=yaml.CSafeLoader):
            for line in range(token.start_mark.line, token.end_mark.line + 1):
                whole = line < token.end_mark.line
                end = len(self.lines[line]) if whole else token.end_mark.column
                ends[line] = max(ends.get(line, 0), end)
        rests = (self.lines[line][ends[line] :].strip() for line in range(first, last + 1))
        return [rest for rest in rests if rest.startswith("#")]

    def add(self, path: KeyPath, tree: dict[str, Spelled], comments: list[str]) -> None:
        """Add keys at the ends of the sections that they belong to, comments before the first."""
        for name, new in tree.items():
            inner = (*path, name)
            if isinstance(new, dict) and self.has(inner):
                self.add(inner, new, comments)
            else:
                self._append(path, {name: new}, comments)
            comments = []

    def _append(self, path: KeyPath, new: dict[str, Spelled], comments: list[str]) -> None:
        key, section = self.find(path)
        if isinstance(section, yaml.MappingNode) and section.value and _is_block(section):
            last_key, last_value = section.value[-1]
            column, line = section.value[0][0].start_mark.column, _last_line(last_key, last_value)
        elif not section.value and key.start_mark.line == section.end_mark.line:
            column, line = key.start_mark.column + STEP, key.start_mark.line
            colon = self.lines[line].index(":", key.end_mark.column) + 1
            after = max(section.end_mark.column, colon)
            self.lines[line] = self.lines[line][:colon] + self.lines[line][after:]
        else:
            raise NotEditable
        above = [" " * column + comment for comment in comments]
        self.lines[line + 1 : line + 1] = [*above, *_block(new, column)]


def _is_block(node: yaml.Node) -> bool:
    return isinstance(node, yaml.CollectionNode) and not node.flow_style


def _last_line(key: yaml.Node, value: yaml.Node) -> int:
    """The last line of a value; the end that YAML gives a block is behind comments and empty lines."""
    inner = value.value if _is_block(value) else ()
    if inner:
        last = inner[-1]
        return _last_line(*last) if isinstance(last, tuple) else _last_line(last, last)
    if isinstance(value, yaml.ScalarNode) and not value.value and not value.style:
        return int(key.end_mark.line)
    end = value.end_mark
    return int(end.line - 1 if end.column == 0 and end.line > value.start_mark.line else end.line)


def spell(value: Any) -> Spelled:
    """Return a value as it stands in a text that has nothing to follow."""
    if isinstance(value, Mapping):
        return {str(key): spell(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [spell(item) for item in value]
    dumped = yaml.safe_dump(value, default_flow_style=True, width=float("inf"), allow_unicode=True)
    return dumped.removesuffix("...\n").strip()


def _block(new: Spelled, column: int) -> list[str]:
    """The lines of a value in block style."""
    margin = " " * column
    if isinstance(new, str):
        return [margin + new]
    if not new:
        return [margin + repr(new)]
    lines = []
    for name, value in new.items() if isinstance(new, dict) else (("-", item) for item in new):
        head = margin + ("-" if isinstance(new, list) else f"{spell(name)}:")
        if isinstance(value, str) or not value:
            lines.append(f"{head} {value if isinstance(value, str) else repr(value)}")
        elif isinstance(new, list):
            raise NotEditable
        else:
            lines += [head, *_block(value, column + STEP)]
    return lines


def is_same(first: object, second: object) -> bool:
    """True if two values are equal and of one type: 1 is neither 1.0 nor true."""
    return type(first) is type(second) and first == second
