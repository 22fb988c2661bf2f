"""The code of a pod's worker: every module of the package that it can import, and nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from translations_assets.keys.code.bundle import pack
from translations_assets.keys.code.syntax import is_for_type_checkers, parse

ENTRY = "translations_assets.runners.pod.main"
_ROOT = Path(__file__).parents[3]  # the folder that holds the package `translations_assets`
_PACKAGE = ENTRY.partition(".")[0]


@cache
def worker_bundle() -> bytes:
    """A tar of the worker's code; the same bytes for the same code."""
    files = worker_modules().values()
    return pack({path.relative_to(_ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files})


def worker_modules() -> dict[str, Path]:
    """Name → file of the modules that the worker can import, in functions, too."""
    found: dict[str, Path] = {}
    waiting = [ENTRY]
    while waiting:
        name = waiting.pop()
        path = _module_file(name)
        if path and name not in found:
            found[name] = path
            waiting += [name.rpartition(".")[0], *_imports(parse(path.read_bytes()))]
    return found


def _module_file(name: str) -> Path | None:
    """The file of a module of the package; None for any other name."""
    if name.partition(".")[0] != _PACKAGE:
        return None
    path = _ROOT.joinpath(*name.split("."))
    files = (path / "__init__.py", path.with_suffix(".py"))
    return next((file for file in files if file.is_file()), None)


def _imports(node: ast.AST) -> Iterator[str]:
    """Names that may be modules, of all import statements but those for type checkers."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        module = node.module or ""
        yield from (module, *(f"{module}.{alias.name}" for alias in node.names))
    typing_only = isinstance(node, ast.stmt) and is_for_type_checkers(node)
    for child in node.orelse if typing_only else ast.iter_child_nodes(node):  # type: ignore[attr-defined]
        yield from _imports(child)
