"""A training config of any year, as a text in today's form.

The text is edited where it must be and stays as it is elsewhere: comments, order and spelling. Only block
style (a key or an item a line) is edited, not what stands within brackets or comes from an anchor. A round
trip by ruamel.yaml changes lines of every fourth config of upstream without any edit, as they indent lists in
several ways.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from translations_assets.config.datasets import listed, locate
from translations_assets.config.edits import Edit, Put, apply
from translations_assets.config.errors import ConfigError, Problem
from translations_assets.config.old_spellings import ALL_RULES, rewrite
from translations_assets.config.yaml_reader import KeyPath, at, compose, dotted, read_yaml

# Values whose scalars are spelled as they shall stand in the text: `100_000`, `'12'`.
Spelled: TypeAlias = "dict[str, Spelled] | list[Spelled] | str"
STEP = 2  # columns of indentation


class _NotEditable(ValueError):
    """The text has a form that is not edited."""


def migrated(text: str, file: str) -> tuple[str, list[Problem]]:
    """The text of a config in today's form, and a note for each key that changed; errors call it `file`.

    >>> text, notes = migrated("datasets:\\n  test: # mine\\n  - flores_dev\\n  - flores_dev\\n", "en-ru.yml")
    >>> print(text, notes[0], sep="")
    datasets:
      test: # mine
      - flores_dev
    en-ru.yml:4: datasets.test[1]: 'flores_dev' stands in the list twice; this one is removed
    """
    whole = read_yaml(text, file)
    for path, line in sorted(whole.doubles, key=lambda double: -double[1]):  # so that the other lines stay
        try:
            page = _Page(text)
            page.remove(path, keep_comments=True, line=line)
            text = page.text
        except _NotEditable:
            message = f"{dotted(path)} stands here with nothing in it, and elsewhere, too: remove it"
            raise ConfigError.of(message, file, line) from None
    document = read_yaml(text, file)
    rewrite(whole)
    for rule in ALL_RULES:
        for edit in list(rule(document.value)):
            try:
                text = _edited(text, edit, document.value)
            except _NotEditable:
                message = f"{edit.message}. Write it by hand: brackets and anchors are not rewritten"
                document.add(edit.path, message)
                raise ConfigError(document.problems[-1:]) from None
            apply(edit, document)
    if read_yaml(text, file).value != document.value:
        raise ConfigError.of("cannot be rewritten with the same meaning; write today's keys by hand", file)
    return text, whole.notes


def located(text: str, file: Path) -> str:
    """The text of a config's file with its relative paths written out, for where they count from nowhere."""
    whole, wanted, page = read_yaml(text, str(file)), read_yaml(text, str(file)), _Page(text)
    locate(wanted.value, file.parent.resolve())
    for path, _ in listed(whole.value):
        old, new = at(whole.value, path), at(wanted.value, path)
        if old != new:
            inner = (*path, "dataset") if isinstance(old, Mapping) else path
            with suppress(_NotEditable):
                page.replace_value(inner, json.dumps(at(wanted.value, inner), ensure_ascii=False))
    if read_yaml(page.text, str(file)).value != wanted.value:
        raise ConfigError.of(
            "a dataset's relative path cannot be written out; write one from / on", str(file)
        )
    return page.text


def _edited(text: str, edit: Edit, values: Mapping[str, Any]) -> str:
    """The text, which holds some values, after an edit of them. Raises _NotEditable."""
    page = _Page(text)
    if edit.replaces_an_item:
        page.replace_value(edit.path, str(_spelled(edit.puts[0].value)))
        return page.text
    puts = _tree((put.path, page.spelled(put, values)) for put in edit.puts)
    if not edit.goes:
        page.add((), puts, [])
    elif _takes_the_place(edit, values) and (_is_kept(edit, values) or page.is_on_one_line(edit.path)):
        ((name, new),) = at(puts, edit.path[:-1]).items()
        page.replace(edit.path, name, None if _is_kept(edit, values) else new)
    else:
        page.add((), puts, page.remove(edit.path, keep_comments=not puts))
    return page.text


def _takes_the_place(edit: Edit, values: Mapping[str, Any]) -> bool:
    """True if all new values stand under one key, which is the old one or a new one next to it."""
    keys = {put.path[: len(edit.path)] for put in edit.puts}
    are_siblings = all(key[:-1] == edit.path[:-1] for key in keys)
    return len(keys) == 1 and are_siblings and (keys == {edit.path} or at(values, *keys) is None)


def _is_kept(edit: Edit, values: Mapping[str, Any]) -> bool:
    """True if a key gets another name, and its value stays."""
    first = edit.puts[0]
    return len(first.path) == len(edit.path) and _is_same(at(values, edit.path), first.value)


def _is_same(first: object, second: object) -> bool:
    return type(first) is type(second) and first == second


def _tree(puts: Iterable[tuple[KeyPath, Spelled]]) -> dict[str, Spelled]:
    tree: dict[str, Spelled] = {}
    for path, value in puts:
        section: Any = tree
        for key in path[:-1]:
            section = section.setdefault(key, {})
        section[path[-1]] = value
    return tree


class _Page:
    """A text in lines, with the nodes of its YAML."""

    def __init__(self, text: str) -> None:
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.lines = text.replace("\r\n", "\n").split("\n")

    @property
    def text(self) -> str:
        return self.newline.join(self.lines)

    def find(self, path: KeyPath) -> tuple[yaml.Node, yaml.Node]:
        """The key (of an item: the item) and the value at a path, as the lines are now."""
        root = compose("\n".join(self.lines), "")
        if root is None:
            raise _NotEditable
        key = value = root
        for part in path:
            if isinstance(value, yaml.SequenceNode) and isinstance(part, int):
                key = value = value.value[part]
                continue
            pairs = value.value if isinstance(value, yaml.MappingNode) else ()
            found = [pair for pair in pairs if pair[0].value == part]
            if not found:
                raise _NotEditable
            key, value = found[0]
        return key, value

    def has(self, path: KeyPath) -> bool:
        """True if there is a key at a path."""
        try:
            self.find(path)
        except _NotEditable:
            return False
        return True

    def is_on_one_line(self, path: KeyPath) -> bool:
        """True if a key and its value are on one line."""
        key, value = self.find(path)
        return bool(key.start_mark.line == value.start_mark.line == value.end_mark.line)

    def spelled(self, put: Put, values: Mapping[str, Any]) -> Spelled:
        """Return the value to put, spelled as at its origin unless the value has changed."""
        if not _is_same(at(values, put.origin), put.value):
            return _spelled(put.value)
        return self._spelling(self.find(put.origin)[1], put.value)

    def _spelling(self, node: yaml.Node, value: Any) -> Spelled:
        if isinstance(node, yaml.MappingNode):
            return {key.value: self._spelling(inner, value[key.value]) for key, inner in node.value}
        if isinstance(node, yaml.SequenceNode):
            return [self._spelling(inner, item) for inner, item in zip(node.value, value, strict=True)]
        start, end = node.start_mark, node.end_mark
        if start.line != end.line or start.column == end.column:
            return _spelled(value)
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
        self.lines[line] = self.lines[line][:column] + str(_spelled(name)) + rest

    def replace_value(self, path: KeyPath, new: str) -> None:
        """Give an item of a list, or a key, another value on its line."""
        _, value = self.find(path)
        line = value.start_mark.line
        if line != value.end_mark.line:
            raise _NotEditable
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
            raise _NotEditable
        comments = self._comments(first, last)
        kept = comments if keep_comments and not isinstance(path[-1], int) else []
        self.lines[first : last + 1] = [margin + comment for comment in kept]
        if len(section.value) == 1 and path[:-1]:
            line, end = section_key.start_mark.line, section_key.end_mark.column
            colon = self.lines[line].index(":", end) + 1
            empty = " []" if isinstance(section, yaml.SequenceNode) else " {}"
            self.lines[line] = self.lines[line][:colon] + empty + self.lines[line][colon:]
        return comments

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
            raise _NotEditable
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


def _spelled(value: Any) -> Spelled:
    if isinstance(value, Mapping):
        return {str(key): _spelled(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_spelled(item) for item in value]
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
        head = margin + ("-" if isinstance(new, list) else f"{_spelled(name)}:")
        if isinstance(value, str) or not value:
            lines.append(f"{head} {value if isinstance(value, str) else repr(value)}")
        elif isinstance(new, list):
            raise _NotEditable
        else:
            lines += [head, *_block(value, column + STEP)]
    return lines
