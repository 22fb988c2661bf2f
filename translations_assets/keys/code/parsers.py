"""Whether the docstring that a script gives its parser as the text of --help can show anywhere else.

It cannot while parsers are only made, given arguments to know and asked to parse: under no name is one
written as a text, nobody takes the description from it, and no text in the code is an argument that asks for
help.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from translations_assets.keys.code import outside
from translations_assets.keys.code.modules import Module


@dataclass
class _Named:
    """Names that parsers have, or functions that return one, and the parameters of functions."""

    parsers: set[str] = field(default_factory=set)
    makers: set[str] = field(default_factory=lambda: {"ArgumentParser", "add_parser"})
    functions: dict[str, dict[str, list[str]]] = field(default_factory=dict)  # by name, then by module

    def add(self, module: Module) -> None:
        """Note the names that a module gives."""
        for node in module.of(ast.Assign):
            targets = [target.id for target in node.targets if isinstance(target, ast.Name)]
            self.parsers.update(targets if self.is_parser(node.value) else ())
        for node in module.of(ast.arg):
            self.parsers.update(
                [node.arg] if node.annotation and "ArgumentParser" in ast.unparse(node.annotation) else ()
            )
        for node in module.of(ast.FunctionDef):
            self.functions.setdefault(node.name, {})[module.name] = [one.arg for one in node.args.args]
            returned = (inner.value for inner in node.body if isinstance(inner, ast.Return) and inner.value)
            self.makers.update([node.name] if any(map(self.is_parser, returned)) else ())

    def is_parser(self, node: ast.AST) -> bool:
        """Whether a value is a parser."""
        function = node.func if isinstance(node, ast.Call) else None
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        return name in self.makers or (isinstance(node, ast.Name) and node.id in self.parsers)

    def harmless(self, module: Module) -> Iterator[ast.AST]:
        """What is only given a name, returned, asked for an attribute, or handed on under a known name."""
        yield from (node.value for node in module.of(ast.Attribute, ast.Return, ast.Expr))
        for node in module.of(ast.Assign):
            yield from [node.value] if all(isinstance(target, ast.Name) for target in node.targets) else ()
        for node in module.of(ast.Call):
            known = self.functions.get(node.func.id, {}) if isinstance(node.func, ast.Name) else {}
            imported = module.imports.get(node.func.id) if known else None
            home = imported.target.module if imported else module.name
            functions = [known[home]] if home in known else [*known.values()]
            for place, argument in enumerate(node.args if functions else ()):
                if all(len(names) > place and names[place] in self.parsers for names in functions):
                    yield argument


def may_show_help(modules: Sequence[Module], shows_help: Callable[[Module], bool]) -> str:
    """Why a docstring may show, for people; empty when no parser has one, or it cannot."""
    if not any(map(shows_help, modules)):
        return ""
    if {"--", "help"} <= {text for module in modules for text in _asking(module)}:
        return "the texts '--' and 'help' may ask a parser for its help, which is a docstring"
    with_parsers = [module for module in modules if _has_parsers(module)]
    named = _Named()
    for module in with_parsers * 3:  # a name of a name of a name
        named.add(module)
    return next(
        filter(None, (*map(_reads, modules), *(_shows(module, named) for module in with_parsers))), ""
    )


@lru_cache(1000)
def _asking(module: Module) -> set[str]:
    return {text for text in module.texts if text in ("--", "help") or outside.asks_for_help(text)}


@lru_cache(1000)
def _has_parsers(module: Module) -> bool:
    return "arser" in module.source


@lru_cache(1000)
def _reads(module: Module) -> str:
    """What in a module reads a parser's help, or asks for it."""
    if text := next(iter(sorted(_asking(module) - {"--", "help"})), ""):
        return f"{module.name}: the text {text!r} may ask a parser for its help, which is a docstring"
    for node in module.of(ast.Attribute):
        if outside.reads_help(node.attr):
            return f"{module.name}, line {node.lineno}: `.{node.attr}` may be a parser's help, a docstring"
    for node in module.of(ast.keyword):
        if node.arg == "action" and getattr(node.value, "value", "") == "help":
            return f"{module.name}, line {node.lineno}: an option shows a parser's help, which is a docstring"
    return ""


def _shows(module: Module, named: _Named) -> str:
    """What in a module may write a parser as a text."""
    harmless = set(map(id, named.harmless(module)))
    for node in module.of(ast.Call, ast.Name):
        if (
            named.is_parser(node)
            and id(node) not in harmless
            and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        ):
            return f"{module.name}, line {node.lineno}: a parser with a docstring may be written as a text"
    return ""
