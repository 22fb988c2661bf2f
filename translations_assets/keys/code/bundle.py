"""The source text of what a script reaches, enough to run it and nothing more.

What is not reached is blanked, so that a function that the fingerprint overlooked cannot be called. Lines
keep their numbers. Type hints that the normal form leaves out are taken from parameters, as libraries convert
values by them, and replaced elsewhere: they may name what is blanked.
"""

from __future__ import annotations

import ast
import io
import tarfile
from collections.abc import Iterator, Mapping
from copy import copy
from itertools import accumulate

from translations_assets.keys.code.modules import Module, Modules, encoding_of
from translations_assets.keys.code.reach import Reach
from translations_assets.keys.code.syntax import FUNCTIONS, is_idle


def slice_modules(modules: Modules, reach: Reach) -> dict[str, str]:
    """Relative path → source text of every module that runs, cut down to what is reached."""
    return {
        module.path.relative_to(modules.root).as_posix(): _slice(module, reach)
        for module in sorted(reach.modules, key=lambda module: module.name)
        if module.path
    }


def _slice(module: Module, reach: Reach) -> str:
    if reach.why_whole:
        return module.source
    text = _Text(module.source)
    reached = {unit.node for unit in reach.units if unit.module is module}
    for statement in module.tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            _slice_import(text, statement, module, reach)
        elif statement in reached:
            for hinted in _hinted(statement):
                text.replace(hinted, hinted.arg if isinstance(hinted, ast.arg) else "0")
        elif not is_idle(statement):
            text.replace(statement, "")
    return text.edited()


def _slice_import(text: _Text, statement: ast.Import | ast.ImportFrom, module: Module, reach: Reach) -> None:
    """Keep the names that are needed."""
    names = list(module.imported(statement))
    kept = [imported.alias for imported in names if imported in reach.imports]
    if len(kept) < len(names):
        shorter = copy(statement)
        shorter.names = kept
        text.replace(statement, ast.unparse(shorter) if kept else "")


def _hinted(unit: ast.stmt) -> Iterator[ast.expr | ast.arg]:
    """The parameters of functions that have hints, the hints of results, and that of a top-level variable."""
    if isinstance(unit, ast.AnnAssign):
        yield unit.annotation
    for node in ast.walk(unit):
        if isinstance(node, ast.arg) and node.annotation:
            yield node
        elif isinstance(node, FUNCTIONS) and node.returns:
            yield node.returns


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

    def replace(self, node: ast.stmt | ast.expr | ast.arg, text: str) -> None:
        """Put something else, or nothing, in the place of a statement or an expression, on as many lines."""
        start, end = self._span(node)
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        if decorators:
            start = self._source.rindex(b"@", 0, self._span(decorators[0])[0])
        lines = self._source.count(b"\n", start, end)
        line_start = self._source.rfind(b"\n", 0, start) + 1
        shares_line = self._source[line_start:start].strip() or self._source[end:].lstrip(b" \t")[:1] == b";"
        if shares_line:
            self._edits.append((start, end, (text or "0").encode() + b" \\\n" * lines))
        else:
            self._edits.append((start, end, text.encode() + b"\n" * lines))

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
