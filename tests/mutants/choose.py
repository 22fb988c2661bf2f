"""Tests that concern a module: those named after it, then those that import it, directly or by others.

Of those that are as near to it, those that name it most often come first: a command's module is imported by
all tests of commands. Commands of the command line are loaded by strings, and tests name them as people do.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

MOST = 6  # files of tests for a module
MOST_IMPORTS = 3  # between it and a test
_SLOW = ("tests/end_to_end/", "tests/mutants/")
_ROOTS = ("pipeline", "translations_assets", "tests")
_COMMANDS = "translations_assets/cli"
_ENTRY = re.compile(r'"([a-z_]+):([a-z_]+)"')  # of the list of commands: module and function


def choose_tests(root: Path, file: str) -> list[str]:
    """The files of tests for a module, the nearest first; without any the folder of its package's tests."""
    folder = f"tests/{Path(file).parent.as_posix().removeprefix('translations_assets').lstrip('/')}/"
    stem, package = Path(file).stem.lstrip("_"), Path(file).parent.name
    words = "|".join({Path(file).stem, *(word for word, by in _commands(root).items() if by == file)})
    word = re.compile(rf"\b({words})\b")
    distances = _distances(root, file)
    named = {path.relative_to(root).as_posix() for path in (root / folder).glob(f"test_{stem}*.py")}
    if not (root / folder).is_dir():  # tests of the package are files beside those of the one around it
        around = (root / folder).parent
        named |= {path.relative_to(root).as_posix() for path in around.glob(f"test_{package}*.py")}
    distances |= dict.fromkeys(named, 1)
    tests = {name: distance for name, distance in distances.items() if _is_test(name)}
    farthest = min(tests.values(), default=0) + 1

    def order(name: str) -> tuple[bool, int, bool, int, str]:
        mentions = len(word.findall((root / name).read_text(encoding="utf-8")))
        return name not in named, tests[name], not name.startswith(folder), -mentions, name

    return sorted((name for name in tests if tests[name] <= farthest), key=order)[:MOST] or [folder]


def _distances(root: Path, file: str) -> dict[str, int]:
    """File → over how many imports it reaches the module."""
    importers = _importers(root)
    found = {file: 0, file.replace("__main__", "__init__"): 0}
    for distance in range(1, MOST_IMPORTS + 1):
        last = [name for name, far in found.items() if far == distance - 1]
        for name in sorted({by for one in last for by in importers.get(one, ())}):
            found.setdefault(name, distance)
    return found


def _is_test(name: str) -> bool:
    return name.startswith("tests/") and Path(name).name.startswith("test_") and not name.startswith(_SLOW)


@cache
def _importers(root: Path) -> Mapping[str, set[str]]:
    """File → the files that import it, or the tests that name it as text: a script that they run."""
    files = [path.relative_to(root).as_posix() for name in _ROOTS for path in (root / name).rglob("*.py")]
    modules = {file.removesuffix(".py").removesuffix("/__init__").replace("/", "."): file for file in files}
    commands, importers = _commands(root), dict[str, set[str]]()
    for file in files:
        tree = ast.parse((root / file).read_text(encoding="utf-8"))
        strings = file.startswith("tests/")
        names = {name for node in ast.walk(tree) for name in _named(node, strings)}
        for name in names & modules.keys():
            importers.setdefault(modules[name], set()).add(file)
        for name in names & commands.keys() if file.startswith("tests/cli/") else ():
            importers.setdefault(commands[name], set()).add(file)
    return importers


@cache
def _commands(root: Path) -> Mapping[str, str]:
    """Command → the file that has it."""
    path = root / _COMMANDS / "commands.toml"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return {function: f"{_COMMANDS}/{module}.py" for module, function in _ENTRY.findall(text)}


def _named(node: ast.AST, strings: bool) -> list[str]:
    """Modules that a piece of code may name; also as text, when strings count."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    if strings and isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    return []
