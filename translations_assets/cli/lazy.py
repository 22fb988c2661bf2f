"""Commands that are imported when they are called: help and completion need their names alone."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_args

import typer
from typer._coercion import RuntimeParam, build_runtime_param
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from translations_assets.cli import exits
from translations_assets.cli.output import be_quiet
from translations_assets.cli.streams import write_out

if TYPE_CHECKING:
    from typer._click import Command as AnyCommand
    from typer._click import Context as AnyContext
    from typer._click import HelpFormatter, Parameter
    from typer.core import _TyperParameter

PROGRAM = "translations"
SETTINGS: dict[str, Any] = {"help_option_names": ["--help", "-h"], "max_content_width": 110}


class _AsGiven(RuntimeParam):
    """Reads the words of an argument or an option; what stays as it was given needs no Pydantic.

    Typer reads all with it, what is not given as well, which takes longer than all else of a short command.
    """

    def coerce(self, value: Any, param: _TyperParameter, ctx: AnyContext) -> Any:
        """The value of the words."""
        if value is None or self.annotation in (str, list[str]) or value in get_args(self.annotation):
            return super().coerce(value, param, ctx)
        return build_runtime_param(param.type_descriptor).coerce(value, param, ctx)

    def _coerce_value(self, value: Any, param: _TyperParameter, ctx: AnyContext) -> Any:
        return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True)
class Entry:
    """A command, or a group of commands, in the list of a group.

    summary   what that list says of it
    where     its module in this package and its function there, `plan:explain`; or the group
    examples  what may stand behind `translations`; the first one stands in the help of all
    """

    name: str
    summary: str
    where: str | type[LazyGroup]
    examples: Sequence[str] = ()

    def load(self) -> AnyCommand:
        """The command; its module is imported only now."""
        if not isinstance(self.where, str):
            help = inspect.getdoc(self.where)
            return self.where(
                name=self.name,
                help=help,
                no_args_is_help=True,
                context_settings=SETTINGS,
                rich_markup_mode=None,
            )
        module, _, name = self.where.partition(":")
        command = _command(getattr(import_module(f"{__package__}.{module}"), name), self.name)
        command.examples = self.examples
        command.params += _common_options()
        return command


class _Command(TyperCommand):
    """A command whose help ends with examples."""

    examples: Sequence[str] = ()

    def get_params(self, ctx: AnyContext) -> list[Parameter]:
        """The arguments and the options."""
        return _read_as_given(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: AnyContext) -> list[str]:
        """Return the arguments as the first line of the help shows them."""
        arguments = [param for param in self.params if isinstance(param, TyperArgument) and not param.hidden]
        names = ((param.required, param.display_name_raw.strip("[]")) for param in arguments)
        return ["[OPTIONS]", *(name if required else f"[{name}]" for required, name in names)]

    def format_options(self, ctx: AnyContext, formatter: HelpFormatter) -> None:
        """Write the arguments and the options."""
        for title, records in help_records(self, ctx).items():
            with formatter.section(title):
                formatter.write_dl(records)

    def format_epilog(self, ctx: AnyContext, formatter: HelpFormatter) -> None:
        """Write the examples."""
        if self.examples:
            with formatter.section("Examples"):
                _write_examples(formatter, self.examples)


class LazyGroup(TyperGroup):
    """A group of commands; its help lists them by what they are for, each list with an example.

    panels  what they are for → the commands
    """

    panels: ClassVar[Mapping[str, Sequence[Entry]]]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._entries = {entry.name: entry for entries in self.panels.values() for entry in entries}
        self.commands = {
            name: TyperCommand(name, short_help=entry.summary) for name, entry in self._entries.items()
        }

    def get_params(self, ctx: AnyContext) -> list[Parameter]:
        """The arguments and the options."""
        return _read_as_given(super().get_params(ctx))

    def resolve_command(
        self, ctx: AnyContext, args: list[str]
    ) -> tuple[str | None, AnyCommand | None, list[str]]:
        """The command that the first word names, and the other words."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else self._entries[name].load(), rest

    def invoke(self, ctx: AnyContext) -> Any:
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

    def format_commands(self, ctx: AnyContext, formatter: HelpFormatter) -> None:
        """Write the lists of commands."""
        for panel, entries in self.panels.items():
            with formatter.section(panel):
                formatter.write_dl([(entry.name, entry.summary) for entry in entries])
                formatter.write("\n")
                _write_examples(formatter, entries[0].examples[:1])


def help_records(command: AnyCommand, ctx: AnyContext) -> dict[str, list[tuple[str, str]]]:
    """Arguments and options, each with its help; arguments without their types."""
    found: dict[str, list[tuple[str, str]]] = {}
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record and isinstance(param, TyperArgument):
            found.setdefault("Arguments", []).append((param.display_name_raw, record[1]))
        elif record:
            found.setdefault("Options", []).append(record)
    return found


def _write_examples(formatter: HelpFormatter, examples: Sequence[str]) -> None:
    indent = " " * formatter.current_indent
    for example in examples:
        formatter.write(f"{indent}{PROGRAM} {example}\n")


def _command(function: Any, name: str) -> _Command:
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command(name, cls=_Command, context_settings=SETTINGS)(function)
    command = typer.main.get_command(app)
    assert isinstance(command, _Command)
    return command


def _read_as_given(params: list[Parameter]) -> list[Parameter]:
    for param in params:
        if isinstance(param, TyperArgument | TyperOption):
            given = param.type_descriptor
            param._runtime_param = _AsGiven(given.parameter_info, given.annotation)
    return params


@cache
def _common_options() -> list[Parameter]:
    """The options that every command has."""

    def common(
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
    ) -> None: ...

    common.__annotations__ = inspect.get_annotations(common, eval_str=True, locals=locals())
    return _command(common, "").params
