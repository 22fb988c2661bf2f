"""A training config of any year, as a text in today's form."""

from __future__ import annotations

from translations_assets.config.edits import apply
from translations_assets.config.errors import ConfigError, Problem
from translations_assets.config.old_spellings import RULES, rewrite
from translations_assets.config.text_edits import NotEditable, edited, without_double
from translations_assets.config.yaml_reader import dotted, read_yaml


def migrated(text: str, file: str) -> tuple[str, list[Problem]]:
    """The text of a config in today's form, and a note for each key that changed; errors call it `file`.

    All else stays as it is: order, comments, spelling. What is wrong with the config stays wrong. Raises
    ConfigError when the text is not YAML, or an old key stands where a text cannot be edited safely.
    """
    whole = read_yaml(text, file)
    for path, line in sorted(whole.doubles, key=lambda double: -double[1]):  # so that the other lines stay
        try:
            text = without_double(text, path, line)
        except NotEditable:
            message = f"{dotted(path)} stands here with nothing in it, and elsewhere, too: remove it"
            raise ConfigError.of(message, file, line) from None
    document = read_yaml(text, file)
    rewrite(whole)
    for rule in RULES:
        for edit in list(rule(document.value)):
            try:
                text = edited(text, edit, document.value)
            except NotEditable:
                message = f"{edit.message}. Write it by hand: brackets and anchors are not rewritten"
                document.add(edit.path, message)
                raise ConfigError(document.problems[-1:]) from None
            apply(edit, document)
    if read_yaml(text, file).value != document.value:
        raise ConfigError.of("cannot be rewritten with the same meaning; write today's keys by hand", file)
    return text, whole.notes
