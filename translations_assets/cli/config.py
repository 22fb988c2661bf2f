"""`translations config`: check, generate, rewrite and describe training configs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import typer
from rich.filesize import decimal

from translations_assets.cli import completion, exits
from translations_assets.cli.common import Json
from translations_assets.cli.output import number_of, print_answer, print_json, print_note, print_table
from translations_assets.common.settings import mirror, new_config_folder
from translations_assets.common.whole_file import write_whole
from translations_assets.config.errors import ConfigError, Problem
from translations_assets.config.partitions import SUFFIXES
from translations_assets.config.text import read_text
from translations_assets.config.web import Answer
from translations_assets.project import this_project

if TYPE_CHECKING:
    from translations_assets.config.providers.provider import Found, Query
    from translations_assets.config.sources import Wanted
    from translations_assets.configs.own_corpus import Given

Source = Annotated[
    str, typer.Argument(metavar="SRC", help="A language's code, such as `en`, `lt`, `zh_hant`.")
]
Target = Annotated[str, typer.Argument(metavar="TRG", help="Another language's code.")]
Pair: TypeAlias = tuple[Path, Path] | None
TWO = "SRC TRG"


def check(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Paths of YAML files, or names of training configs.",
            autocompletion=completion.partitions,
        ),
    ],
    online: Annotated[
        bool, typer.Option("--online", help="Look up whether datasets and models exist, and their sizes.")
    ] = False,
    names: Annotated[
        bool, typer.Option("--names", help="Print the names of datasets, for thresholds and weights.")
    ] = False,
    json: Json = False,
) -> None:
    """Print all problems of training configs, each with file and line, and notes; exit 1 if there is any.

    Keys of earlier years are read as today's, with a note for each; `translations config migrate` rewrites
    them.
    """
    checked = [_check(file, online) for file in files]
    if json:
        print_json([_as_json(found) for found in checked])
    else:
        for found in checked:
            _print(found)
            if names:
                _print_names(found)
    if any(found.problems for found in checked):
        raise typer.Exit(exits.FAILED)


def generate(
    src: Source,
    trg: Target,
    name: Annotated[
        str | None,
        typer.Option(
            help="The experiment's name, a part of the file's name. With --files, defaults to `own`, "
            "or `trial`."
        ),
    ] = None,
    files: Annotated[
        Pair,
        typer.Option(metavar=TWO, help="Your files to train on, a sentence a line; nothing is searched."),
    ] = None,
    dev: Annotated[
        Pair, typer.Option(metavar=TWO, help="Files of a dev set; else it is taken from --files.")
    ] = None,
    test: Annotated[
        Pair, typer.Option(metavar=TWO, help="Files of a test set; else it is taken from --files.")
    ] = None,
    mono_src: Annotated[Path | None, typer.Option(help="A file of more text in the source language.")] = None,
    mono_trg: Annotated[
        Path | None, typer.Option(help="A file of text in the target language, to translate back.")
    ] = None,
    trial: Annotated[
        bool,
        typer.Option("--trial", help="With --files: tiny models and few updates, to see all stages run."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(help="The file to write. Defaults to SRC-TRG.NAME.yml in the folder of configs."),
    ] = None,
    json: Json = False,
) -> None:
    """Write a training config for a language pair, from a search for datasets or from your files.

    It searches OPUS, mtdata, sacreBLEU, Hugging Face, HPLT and the News Crawl. Comments in the file give
    sizes and licences, and the datasets left out, with reasons. Read it before training.

    When a source cannot be reached, the config uses the others, the file and standard error name what is
    missing, and the exit code is 1.

    With --files, no source is searched. Files may be plain, .gz or .zst. The text goes
    into a folder beside the config, dev and test sets apart from the rest.
    """
    from translations_assets.configs import own_corpus
    from translations_assets.configs.generate import check_name, pair_of
    from translations_assets.configs.generate import generate as generate_config

    query = pair_of(src, trg, mirror())
    given = own_corpus.Given(files, dev, test, mono_src, mono_trg) if files else None
    if not given and (dev or test or mono_src or mono_trg or trial):
        raise typer.BadParameter("--dev, --test, --mono-src, --mono-trg and --trial go with --files.")
    name = name or (own_corpus.TRIAL_NAME if trial else own_corpus.NAME if given else None)
    if name is None:
        raise typer.BadParameter("give --name for a search, or --files with two files of your own.")
    check_name(name, query)
    path = output or new_config_folder() / f"{src}-{trg}.{name}.yml"
    if path.suffix not in SUFFIXES:
        raise ConfigError.of(f"give a file as --output that ends in {' or '.join(SUFFIXES)}", str(path))
    if not path.parent.is_dir():
        raise ConfigError.of(
            "there is no such folder; make it, or give another file as --output", str(path.parent)
        )
    if given:
        _generate_own(name, query, given, path, trial, json)
        return
    generated = generate_config(name, query)
    _write(path, generated.text)
    chosen, left_out = generated.choice.chosen, len(generated.choice.skipped)
    counts = ", ".join(f"{len(found)} {category}" for category, found in chosen.items())
    keys = {category: [each.key for each in found] for category, found in chosen.items()}
    print_answer(
        json,
        {"file": str(path), "datasets": keys, "left_out": left_out},
        f"{path}: {counts}; {left_out} left out",
    )
    _end(generated.problems)


def _generate_own(name: str, query: Query, given: Given, path: Path, trial: bool, json: bool) -> None:
    """Write a config of files of one's own, and their text into a folder beside it."""
    from translations_assets.configs import own_corpus

    folder = own_corpus.data_folder(path)
    with own_corpus.split(query, given, path.parent) as made:
        made.refuse_other(folder)
        _write(path, own_corpus.write(name, query, made, path, trial=trial))
        made.move(folder)
    counted = [f"{made.lines('train'):,} pairs to train on", f"{made.lines('dev'):,} in the dev set"]
    counted += [f"{made.lines('test'):,} in the test set", f"{made.left_out:,} left out"]
    lines = {part: made.lines(part) for part in ("train", "dev", "test")}
    print_answer(
        json,
        {"file": str(path), "folder": str(folder), "lines": lines, "left_out": made.left_out},
        f"{path}: {', '.join(counted)}",
        f"{folder}: the text; dev and test sets are in no other file of it",
    )


def migrate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The YAML file of a training config.")],
    write: Annotated[bool, typer.Option("--write", help="Rewrite the file.")] = False,
    json: Json = False,
) -> None:
    """Print a training config in today's form, comments and order kept, and a note for each changed key."""
    from translations_assets.config.migrate import migrated

    text, notes = migrated(read_text(file), str(file))
    for note in notes:
        print_note(note)
    if not write:
        print_answer(json, {"file": str(file), "text": text, "is_written": False}, text.removesuffix("\n"))
        return
    if notes:
        try:
            write_whole(file, text)
        except OSError as error:
            raise ConfigError.of(f"cannot be written: {error.strerror}", str(file)) from error
    said = "rewritten" if notes else "is in today's form already"
    print_answer(json, {"file": str(file), "text": text, "is_written": bool(notes)}, f"{file}: {said}")


def schema() -> None:
    """Print the JSON Schema of training configs, by which an editor completes and checks them.

    Save it next to the configs, and begin a config with `# yaml-language-server: $schema=schema.json`.
    """
    from translations_assets.config.json_schema import json_schema

    print_json(json_schema())


def _source(names: list[str] | None) -> list[str] | None:
    if not names:
        return names
    from translations_assets.configs.generate import SOURCES

    for name in names:
        if name not in SOURCES:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(SOURCES)}.")
    return names


def find_corpus(
    src: Source,
    trg: Target,
    importer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE",
            callback=_source,
            autocompletion=completion.sources,
            help="Ask this source only, such as opus; may be repeated. All but huggingface_any by default.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List the datasets of a language pair, and what a generated config uses them for.

    Sizes with ~ are estimates from sizes of files. JSON also has the addresses.

    When a source cannot be reached, the others are listed, standard error names
    it, and the exit code is 1.
    """
    from translations_assets.configs.generate import USUAL, judge, pair_of, search

    query = pair_of(src, trg, mirror())
    searched = search(query, importer or USUAL)
    found = list(judge(searched.found))
    if json:
        problems = [{"importer": each.key, "message": each.message} for each in searched.problems]
        print_json({"datasets": list(map(asdict, found)), "problems": problems})
    else:
        _print_found(found)
    _end(searched.problems)


class _Checked(NamedTuple):
    """A checked config: its contents, None when it cannot be read, and the results of look-ups."""

    file: str
    problems: list[Problem]
    notes: Sequence[Problem] = ()
    values: Any = None
    found: Sequence[tuple[Wanted, Answer]] = ()


def _check(file: str, online: bool) -> _Checked:
    from translations_assets.config.load import config_notes, read_values

    project = this_project()
    try:
        text, place = project.configs.text(file)
        notes = config_notes(text, place)
        document = read_values(text, str(place))
    except ConfigError as error:
        return _Checked(file, error.problems)
    problems: list[Problem] = []
    try:
        project.configs.parse(text, place)
    except ConfigError as error:
        problems = error.problems
    found: list[tuple[Wanted, Answer]] = []
    if online:
        from translations_assets.config.own_paths import locate
        from translations_assets.config.sources import look_up

        if isinstance(place, Path):
            locate(document.value, place.parent.resolve())
        found = look_up(document.value, mirror())
        for wanted, answer in found:
            if answer.problem:
                document.add(wanted.path, answer.problem)
        problems = sorted([*problems, *document.problems], key=lambda problem: problem.line or 0)
    return _Checked(file, problems, notes, document.value, found)


def _print(checked: _Checked) -> None:
    for note in checked.notes:
        typer.echo(f"note: {note}")
    for wanted, answer in checked.found:
        if not answer.problem:
            size = "unknown" if answer.size is None else decimal(answer.size)
            typer.echo(f"{size:>10}  {wanted.name}")
    for problem in checked.problems:
        typer.echo(f"error: {problem}", err=True)
    if number := len(checked.problems):
        typer.echo(f"{checked.file}: {number_of(number, 'problem')}", err=True)
    else:
        typer.echo(f"{checked.file}: no problems")


def _print_names(checked: _Checked) -> None:
    """A line for each dataset that can be read: its location, its name, its key."""
    from translations_assets.config.datasets import listed

    for path, dataset in listed(checked.values or {}):
        typer.echo(f"{path[1]:9} {dataset.short_name}  {dataset.key}")


def _as_json(checked: _Checked) -> dict[str, Any]:
    return {
        "file": checked.file,
        "problems": list(map(asdict, checked.problems)),
        "notes": list(map(asdict, checked.notes)),
        "datasets": [{"name": wanted.name, **asdict(answer)} for wanted, answer in checked.found],
    }


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all; one with other content may have been edited and stays."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        os.link(part, path)
    except FileExistsError:
        if path.read_bytes() != text.encode():
            message = "exists, and would have changed; remove it, or give another file as --output"
            raise ConfigError.of(message, str(path)) from None
    finally:
        part.unlink(missing_ok=True)


def _end(problems: Sequence[Problem]) -> None:
    """Name the sources that could not be reached; exit code 1 when there are any."""
    for problem in problems:
        typer.echo(f"warning: {problem}", err=True)
    if problems:
        raise typer.Exit(exits.FAILED)


def _print_found(found: Sequence[Found]) -> None:
    from rich.table import Table
    from rich.text import Text

    from translations_assets.configs.generate import size_text

    table = Table("dataset", "size", "licence", "used for")
    before = ""
    for each in found:
        if before and each.importer != before:
            table.add_section()
        before = each.importer
        used = f"not used: {each.skipped}" if each.skipped else each.use
        table.add_row(*map(Text, (each.key, size_text(each), each.licence, used)))
    print_table(table)
