"""The source text of what a script reaches, enough to run it and nothing more.

What is not reached is blanked, so that a function that the fingerprint overlooked cannot be called. Lines
keep their numbers. Type hints that the normal form leaves out are taken away: they may name what is blanked.
"""

from __future__ import annotations

import ast
import io
import re
import tarfile
from collections.abc import Mapping
from copy import copy
from itertools import accumulate

from translations_assets.keys.code.modules import Module, Modules, Unit, encoding_of
from translations_assets.keys.code.reach import Reach
from translations_assets.keys.code.syntax import FUNCTIONS, is_idle

_BETWEEN = re.compile(rb"(?:\s|\\\n|#[^\n]*)*")
_BEFORE_COLON = re.compile(rb"(?:\s|\\\n|#[^\n]*|\))*")
_COMMENT = re.compile(rb"#[^\n]*")


def slice_modules(modules: Modules, reach: Reach) -> dict[str, str]:
    """Relative path → source text of every module that runs, cut down to what is reached."""
    ordered = sorted(reach.modules, key=lambda module: module.name)
    return {
        module.path.relative_to(modules.root).as_posix(): _slice(module, reach)
        for module in ordered
        if module.path
    }


def _slice(module: Module, reach: Reach) -> str:
    if reach.why_whole:
        return module.source
    text = _Text(module.source)
    reached = {node.node for node in reach.nodes if node.module is module and isinstance(node, Unit)}
    for statement in module.tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            _slice_import(text, statement, module, reach)
        elif statement in reached:
            _remove_hints(text, statement)
        elif not is_idle(statement):
            text.replace(statement, "")
    return text.edited()


def _slice_import(text: _Text, statement: ast.Import | ast.ImportFrom, module: Module, reach: Reach) -> None:
    """Keep the names that are needed."""
    names = list(module.imported(statement))
    kept = [imported.alias for imported in names if (module, imported.name) in reach.imports]
    if len(kept) < len(names):
        shorter = copy(statement)
        shorter.names = kept
        text.replace(statement, ast.unparse(shorter) if kept else "")


def _remove_hints(text: _Text, node: ast.AST, module_level: bool = True) -> None:
    """Remove the type hints of plain functions, and those of variables at the top level."""
    if isinstance(node, FUNCTIONS):
        if not node.decorator_list:
            text.remove_function_hints(node)
        module_level = False
    elif isinstance(node, ast.ClassDef):
        module_level = False
    elif isinstance(node, ast.AnnAssign) and module_level:
        text.remove_hint(node.target, node.annotation) if node.value else text.replace(node, "pass")
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            _remove_hints(text, child, module_level)


class _Text:
    """Source text with edits to be made. Positions in it are bytes, as in syntax trees."""

    def __init__(self, source: str) -> None:
        self._source = source.encode("utf-8")
        lines = self._source.split(b"\n")
        self._lines = [0, *accumulate(len(line) + 1 for line in lines)]
        self._edits: list[tuple[int, int, bytes]] = []

    def edited(self) -> str:
        """The text with all edits made."""
        parts: list[bytes] = []
        position = 0
        for start, end, text in sorted(self._edits):
            parts += (self._source[position:start], text)
            position = end
        return b"".join((*parts, self._source[position:])).decode("utf-8")

    def replace(self, statement: ast.stmt, text: str) -> None:
        """Put another statement, or nothing, in the place of a statement; the lines stay as many."""
        start, end = self._span(statement)
        decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
        if decorators:
            start = self._source.rindex(b"@", 0, self._span(decorators[0])[0])
        lines = self._source.count(b"\n", start, end)
        line_start = self._source.rfind(b"\n", 0, start) + 1
        shares_line = self._source[line_start:start].strip() or self._source[end:].lstrip(b" \t")[:1] == b";"
        if shares_line:
            self._edits.append((start, end, (text or "0").encode() + b" \\\n" * lines))
        else:
            self._edits.append((start, end, text.encode() + b"\n" * lines))

    def remove_function_hints(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Remove the hints of a function's parameters and of what it returns."""
        parameters = node.args
        optional = [parameter for parameter in (parameters.vararg, parameters.kwarg) if parameter]
        for parameter in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs, *optional):
            if parameter.annotation:
                self.remove_hint(parameter, parameter.annotation)
        if node.returns:
            start, end = self._span(node.returns)
            arrow = self._source.rindex(b"->", 0, start)
            self._remove(arrow, self._skip(_BEFORE_COLON, end), b" \\\n")

    def remove_hint(self, target: ast.arg | ast.expr, hint: ast.expr) -> None:
        """Remove `: hint` behind a parameter or variable."""
        start, end = self._span(hint)
        name_start, name_end = self._span(target)
        colon = self._source.index(b":", name_start if isinstance(target, ast.arg) else name_end)
        for _ in range(_COMMENT.sub(b"", self._source[colon:start]).count(b"(")):
            end = self._skip(_BETWEEN, end) + 1  # the closing parenthesis
        self._remove(colon, end, b"\n" if isinstance(target, ast.arg) else b" \\\n")

    def _remove(self, start: int, end: int, newline: bytes) -> None:
        self._edits.append((start, end, newline * self._source.count(b"\n", start, end)))

    def _skip(self, pattern: re.Pattern[bytes], position: int) -> int:
        match = pattern.match(self._source, position)
        return match.end() if match else position

    def _span(self, node: ast.stmt | ast.expr | ast.arg) -> tuple[int, int]:
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self._lines[node.lineno - 1] + node.col_offset, self._lines[end_line - 1] + end_column


def pack(files: Mapping[str, str]) -> bytes:
    """An uncompressed tar whose bytes depend on the files' names and texts alone."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, text in sorted(files.items()):
            data = text.encode(encoding_of(text.encode("ascii", "replace")))
            entry = tarfile.TarInfo(name)  # owner 0, mode 644, time 0
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()
