"""The page of all commands: `python -m translations_assets.cli.reference > docs/commands.md`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import typer

from translations_assets.cli import exits
from translations_assets.cli.commands import PANELS, PROGRAM, Entry, help_records

_HEAD = """# Commands

Made from the code by `python -m translations_assets.cli.reference`; do not edit.

[The command line](command-line.md) describes completion, output streams and colours of all commands. Every
command also has `--help`, `-h`, `--quiet` and `-q`.

The form of `--json` output is described like this: `{steps: [{label, key}]}` is an object with a list of
objects. A name in `<>` stands for any name. A name in parentheses may be missing, and any value may be
`null`. With `--json`, `train`, `rerun` and `cache accept` need `--yes`, and print nothing else.

## Exit codes

| code | meaning |
|---|---|
"""


def reference() -> str:
    """The page, in Markdown."""
    codes = "".join(f"| {code} | {_cell(meaning)} |\n" for code, meaning in exits.MEANINGS.items())
    ends = "\n`translate` and `shell` exit with the exit code of the program that they start.\n"
    panels = (f"\n## {panel}\n{''.join(_of_all(entries, PROGRAM))}" for panel, entries in PANELS.items())
    return _HEAD + codes + ends + "".join(panels)


def _of_all(entries: Sequence[Entry], path: str) -> Iterator[str]:
    for entry in entries:
        inner = _of_all(entry.inner, f"{path} {entry.name}")
        yield from inner if entry.commands else _of_command(entry, f"{path} {entry.name}")


def _of_command(entry: Entry, path: str) -> Iterator[str]:
    command = entry.load()
    yield f"\n### `{path}`\n\n{inspect.cleandoc(command.help or '')}\n\n"
    yield "".join(f"    {PROGRAM} {example}\n" for example in entry.examples)
    yield from _table(command)
    yield "".join(f"\n`--json`: `{form}`\n" for form in entry.json)


def _table(command: Any) -> Iterator[str]:
    listed = help_records(command, typer.Context(command)).values()
    records = [record for records in listed for record in records]
    own = [record for record in records if record[0] not in ("-h, --help", "-q, --quiet")]
    if own:
        yield "\n| argument, option | |\n|---|---|\n"
        yield from (f"| `{_cell(name)}` | {_cell(help)} |\n" for name, help in own)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    print(reference(), end="")
