"""All commands, by task: `commands.toml` lists them, and each is imported when it is called or completed."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_args

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from translations_assets.cli import exits
from translations_assets.cli.output import be_quiet
from translations_assets.cli.streams import write_out

PROGRAM = "translations"
SETTINGS: dict[str, Any] = {"help_option_names": ["--help", "-h"], "max_content_width": 110}
Formatter: TypeAlias = Any  # of help; Typer has no public name for it, nor for the contexts below


LIST = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True)
class Entry:
    """A command, or a group of commands, in the list of a group: see `commands.toml`."""

    name: str
    summary: str
    examples: Sequence[str]
    where: str = ""
    help: str = ""
    json: Sequence[str] = ()
    commands: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def list_of(cls, listed: Mapping[str, Mapping[str, Any]]) -> list[Entry]:
        """Make the entries of a list."""
        return [cls(name, **values) for name, values in listed.items()]

    @property
    def inner(self) -> list[Entry]:
        """The commands of a group."""
        return Entry.list_of(self.commands)

    def load(self) -> TyperCommand | LazyGroup:
        """The command; its module is imported only now."""
        if self.commands:
            return LazyGroup(
                panels={"Commands": self.inner},
                name=self.name,
                help=self.help,
                no_args_is_help=True,
                context_settings=SETTINGS,
                rich_markup_mode=None,
            )
        module, _, name = self.where.partition(":")
        command = _command(getattr(import_module(f"{__package__}.{module}"), name), self.name)
        command.examples = self.examples
        command.params += _command(_common, "").params
        return command


def _as_given(param: TyperArgument | TyperOption, ctx: Any, value: Any, read: Callable[..., Any]) -> Any:
    """The value of an argument's or an option's words, which are read only if they do not stay as they are.

    Typer reads all with Pydantic, what is not given as well, which takes longer than all else of a short
    command.
    """
    kind = param.type_descriptor.annotation
    is_missing = param.required and value in (None, ())
    if is_missing or not (value is None or kind in (str, list[str]) or value in get_args(kind)):
        return read(ctx, value)
    if value is None and (param.multiple or param.nargs == -1):
        value = ()
    return param.callback(ctx, param, value) if param.callback else value


class _Argument(TyperArgument):
    def process_value(self, ctx: Any, value: Any) -> Any:
        return _as_given(self, ctx, value, super().process_value)


class _Option(TyperOption):
    def process_value(self, ctx: Any, value: Any) -> Any:
        return _as_given(self, ctx, value, super().process_value)


class _Command(TyperCommand):
    """A command whose help ends with examples."""

    examples: Sequence[str] = ()

    def get_params(self, ctx: Any) -> list[Any]:
        """The arguments and the options."""
        return _read_as_given(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the arguments as the first line of the help shows them."""
        arguments = [param for param in self.params if isinstance(param, TyperArgument) and not param.hidden]
        names = ((param.required, param.display_name_raw.strip("[]")) for param in arguments)
        return ["[OPTIONS]", *(name if required else f"[{name}]" for required, name in names)]

    def format_options(self, ctx: Any, formatter: Formatter) -> None:
        """Write the arguments and the options."""
        for title, records in help_records(self, ctx).items():
            with formatter.section(title):
                formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Formatter) -> None:
        """Write the examples."""
        if self.examples:
            with formatter.section("Examples"):
                _write_examples(formatter, self.examples)


class LazyGroup(TyperGroup):
    """A group of commands; its help lists them by what they are for, each list with an example.

    panels  what they are for → the commands
    """

    def __init__(self, *, panels: Mapping[str, Sequence[Entry]], **settings: Any) -> None:
        super().__init__(**settings)
        self.panels = panels
        self._entries = {entry.name: entry for entries in panels.values() for entry in entries}
        self.commands = {
            name: TyperCommand(name, short_help=entry.summary) for name, entry in self._entries.items()
        }

    def get_params(self, ctx: Any) -> list[Any]:
        """The arguments and the options."""
        return _read_as_given(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command that the first word names, and the other words."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else self._entries[name].load(), rest

    def invoke(self, ctx: Any) -> Any:
        """Call the command that is named."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            write_out()
            raise typer.Exit(exits.BROKEN_PIPE) from error
        except typer.Abort as error:
            if isinstance(error.__context__, KeyboardInterrupt):  # at a question
                raise typer.Exit(exits.CANCELLED) from error
            raise

    def format_commands(self, ctx: Any, formatter: Formatter) -> None:
        """Write the lists of commands."""
        for panel, entries in self.panels.items():
            with formatter.section(panel):
                formatter.write_dl([(entry.name, entry.summary) for entry in entries])
                formatter.write("\n")
                _write_examples(formatter, entries[0].examples[:1])


PANELS = {
    panel: Entry.list_of(listed) for panel, listed in tomllib.loads(LIST.read_text(encoding="utf-8")).items()
}


class Commands(LazyGroup):
    """All commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(panels=PANELS, **settings)

    def format_epilog(self, ctx: Any, formatter: Formatter) -> None:
        """Write the exit codes."""
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in exits.MEANINGS.items()])


def help_records(command: TyperCommand, ctx: Any) -> dict[str, list[tuple[str, str]]]:
    """Arguments and options, each with its help; arguments without their types."""
    found: dict[str, list[tuple[str, str]]] = {}
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record and isinstance(param, TyperArgument):
            found.setdefault("Arguments", []).append((param.display_name_raw, record[1]))
        elif record:
            found.setdefault("Options", []).append(record)
    return found


def _write_examples(formatter: Formatter, examples: Sequence[str]) -> None:
    indent = " " * formatter.current_indent
    for example in examples:
        formatter.write(f"{indent}{PROGRAM} {example}\n")


def _command(function: Any, name: str) -> _Command:
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command(name, cls=_Command, context_settings=SETTINGS)(function)
    command = typer.main.get_command(app)
    assert isinstance(command, _Command)
    return command


def _read_as_given(params: list[Any]) -> list[Any]:
    for param in params:
        param.__class__ = _Argument if isinstance(param, TyperArgument) else _Option
    return params


def _common(
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            callback=be_quiet,
            expose_value=False,
            help="Print only the answer and errors: no notes, no progress.",
        ),
    ] = False,
) -> None:
    """The options that every command has."""
