"""Habits of good tools: help with examples that hold, versions, colours, quiet, exit codes."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

from tests.cli.conftest import Command, make
from tests.end_to_end.tiny import BIN, PARTITION, Place
from tests.test_imports import NO_HELP_NEEDS
from translations_assets.cli import exits
from translations_assets.cli.commands import PANELS, PROGRAM, Entry
from translations_assets.cli.main import app
from translations_assets.cli.reference import reference

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def entries(listed: Iterable[Entry], *path: str) -> Iterator[tuple[tuple[str, ...], Entry]]:
    """Every command, with the words that name it."""
    for entry in listed:
        if entry.commands:
            yield from entries(entry.inner, *path, entry.name)
        else:
            yield (*path, entry.name), entry


ENTRIES = dict(entries(entry for listed in PANELS.values() for entry in listed))


def parse(words: list[str]) -> tuple[str, ...]:
    """Parse a command line as the command does, without running it; the words that name the command."""
    command: Any = typer.main.get_command(app)
    context, named = command.make_context(PROGRAM, list(words)), list[str]()
    while isinstance(command, TyperGroup):
        name, command, words = command.resolve_command(context, [*context._protected_args, *context.args])
        context = command.make_context(name, words, parent=context)
        named.append(str(name))
    return tuple(named)


def written(page: Path) -> Iterator[list[str]]:
    """The words of the command lines that a page shows."""
    text = page.read_text().replace("\\\n", "")
    fenced = "\n".join(re.findall(r"^```.*?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    lines = [*re.findall(r"^    .*$", text, re.MULTILINE), *fenced.splitlines()]
    for line in (line for line in lines if re.search(r"\btranslations ", line)):
        words = shlex.split(line, comments=True)
        for place, word in enumerate(words):
            begins = (
                not place or words[place - 1] in ("|", "--") or all("=" in before for before in words[:place])
            )
            if Path(word).name == PROGRAM and begins:
                rest = words[place + 1 :]
                ends = [rest.index(mark) for mark in ("|", "<", ">", "&&") if mark in rest]
                yield rest[: min(ends, default=len(rest))]


@pytest.mark.parametrize("name", ENTRIES, ids=" ".join)
def test_every_command_has_examples_that_parse(name: tuple[str, ...]) -> None:
    examples = [shlex.split(example) for example in ENTRIES[name].examples]
    assert examples
    for words in examples:
        assert parse(words[: words.index("<")] if "<" in words else words) == name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_command_lines_of_the_pages_parse(page: Path) -> None:
    for words in written(page):
        if words and words[0].startswith("--"):
            continue  # an option of the command itself ends it at once
        assert parse(words) in ENTRIES, words


def test_the_pages_show_command_lines() -> None:
    assert sum(len([*written(page)]) for page in PAGES) > 80


def test_the_page_of_commands_is_made_from_them() -> None:
    assert (ROOT / "docs" / "commands.md").read_text() == reference()


def test_help_lists_commands_by_task_and_exit_codes(command: Command) -> None:
    said = command("-h")
    assert said.code == 0
    assert said.out == command("--help").out
    for panel, listed in PANELS.items():
        assert f"\n{panel}:\n" in said.out
        assert all(re.search(rf"^  {entry.name} +\S", said.out, re.MULTILINE) for entry in listed)
        assert f"\n  translations {listed[0].examples[0]}\n" in said.out
    assert all(f"\n  {code} " in said.out for code in exits.MEANINGS)


def test_help_of_a_command_ends_with_its_examples(command: Command) -> None:
    assert command("logs", "-h").out.startswith("Usage: translations logs [OPTIONS] PARTITION|RUN LABEL\n")
    assert command("status", "-h").out.startswith("Usage: translations status [OPTIONS] [PARTITION|RUN]\n")
    said = command("cache", "verify", "-h")
    assert said.out == command("cache", "verify", "--help").out
    assert "--quiet" in said.out
    assert said.out.endswith(
        "Examples:\n  translations cache verify\n  translations cache verify --sample 10%\n"
        "  translations cache verify --remake 5% --threads 3 --umask 077\n"
    )


def test_a_typing_mistake_is_named_with_exit_code_2(command: Command) -> None:
    said = command("paln", "en-ru")
    assert (said.code, said.out) == (exits.USAGE, "")
    assert "Did you mean 'plan'" in said.err
    assert command("plan", "--stps").code == exits.USAGE


def test_the_version_says_what_this_is(command: Command) -> None:
    said = command("--version")
    python = ".".join(map(str, sys.version_info[:3]))
    assert re.fullmatch(
        rf"translations \d+\.\d+\.\d+ \(Python {re.escape(python)}(, commit [0-9a-f]{{40}}(\+changes)?)?\)\n",
        said.out,
    )


def test_help_and_names_need_nothing_that_takes_long() -> None:
    program = f"""
import sys
from translations_assets.cli.commands import PANELS
def load(entry):
    [*map(load, entry.inner)] if entry.commands else entry.load()
for entries in PANELS.values():
    [*map(load, entries)]
print([name for name in {[*NO_HELP_NEEDS]} if name in sys.modules])
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"


def test_colours_are_for_states_and_terminals(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    make("merge_corpus")
    ask = ("plan", PARTITION, "--target", "train_vocab", "--steps")
    plain = command(*ask).out
    assert "\x1b" not in plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = command(*ask).out
    assert "\x1b[36m\x1b[1mrun\x1b[0m    train-vocab-en-eo  (" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert command(*ask).out == plain


def test_quiet_prints_the_answer_alone(command: Command, place: Place) -> None:
    path = place.root / "configs" / f"{PARTITION}.yml"
    path.write_text(path.read_text() + "previous_group_ids: [abc]\n")  # as it was written in earlier years
    said, quiet = command("plan", PARTITION), command("plan", PARTITION, "-q")
    assert "note: " in said.err
    assert (quiet.code, quiet.out, quiet.err) == (0, said.out, "")
    wrong = command("plan", PARTITION, "-q", "--target", "nothing")
    assert wrong.err.startswith("error: ")


def test_a_reader_that_ends_is_no_error(place: Place) -> None:
    command = f"set -o pipefail; {BIN / PROGRAM} graph {PARTITION} --json | true; echo $?"
    environment = {**os.environ, **place.environment}
    said = subprocess.run(
        ["bash", "-c", command], env=environment, capture_output=True, text=True, check=True
    )
    assert (said.stdout.strip(), said.stderr) == (str(exits.BROKEN_PIPE), "")
