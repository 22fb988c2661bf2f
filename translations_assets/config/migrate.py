"""A training config of any year, as a text in today's form.

The text is edited where it must be and stays as it is elsewhere: comments, order and spelling. Only block
style (a key or an item a line) is edited, not what stands within brackets or comes from an anchor.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from translations_assets.config.datasets import listed
from translations_assets.config.edits import Edit, apply
from translations_assets.config.errors import ConfigError, Problem
from translations_assets.config.old_spellings import ALL_RULES, rewrite
from translations_assets.config.own_paths import locate, prompts
from translations_assets.config.page import NotEditable, Page, Spelled, is_same, spell
from translations_assets.config.yaml_reader import KeyPath, at, dotted, read_yaml


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
            page = Page(text)
            page.remove(path, keep_comments=True, line=line)
            text = page.text
        except NotEditable:
            message = f"{dotted(path)} stands here with nothing in it, and elsewhere, too: remove it"
            raise ConfigError.of(message, file, line) from None
    document = read_yaml(text, file)
    rewrite(whole)
    for rule in ALL_RULES:
        for edit in list(rule(document.value)):
            try:
                text = _edited(text, edit, document.value)
            except NotEditable:
                message = f"{edit.message}. Write it by hand: brackets and anchors are not rewritten"
                document.add(edit.path, message)
                raise ConfigError(document.problems[-1:]) from None
            apply(edit, document)
    if read_yaml(text, file).value != document.value:
        raise ConfigError.of("cannot be rewritten with the same meaning; write today's keys by hand", file)
    return text, whole.notes


def located(text: str, file: Path) -> str:
    """The text of a config's file with its relative paths written out, for where they count from nowhere."""
    whole, wanted, page = read_yaml(text, str(file)), read_yaml(text, str(file)), Page(text)
    locate(wanted.value, file.parent.resolve())
    for path, _ in (*listed(whole.value), *prompts(whole.value)):
        old, new = at(whole.value, path), at(wanted.value, path)
        if old != new:
            inner = (*path, "dataset") if isinstance(old, Mapping) else path
            with suppress(NotEditable):
                page.replace_value(inner, json.dumps(at(wanted.value, inner), ensure_ascii=False))
    if read_yaml(page.text, str(file)).value != wanted.value:
        raise ConfigError.of("a relative path cannot be written out; write one from / on", str(file))
    return page.text


def _edited(text: str, edit: Edit, values: Mapping[str, Any]) -> str:
    """The text, which holds some values, after an edit of them. Raises NotEditable."""
    page = Page(text)
    if edit.replaces_an_item:
        page.replace_value(edit.path, str(spell(edit.puts[0].value)))
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
    return len(first.path) == len(edit.path) and is_same(at(values, edit.path), first.value)


def _tree(puts: Iterable[tuple[KeyPath, Spelled]]) -> dict[str, Spelled]:
    tree: dict[str, Spelled] = {}
    for path, value in puts:
        section: Any = tree
        for key in path[:-1]:
            section = section.setdefault(key, {})
        section[path[-1]] = value
    return tree
