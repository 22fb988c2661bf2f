"""Draws small defects ("mutants") for the scripts and the orchestrator, the same ones for the same seed.

mutmut and cosmic-ray do not fit: the first puts every function into a trampoline, and the code of `pipeline/`
is itself data here, hashed and bundled; the second runs one command for all mutants and draws no sample.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from tests.keys.changes.mutations import Site, mutate, sites

ROOTS = ("pipeline", "translations_assets")
KINDS = ("comparison", "number", "order", "statement")
_TRIES = 1000
_LOGGED = re.compile(r"_?log(ger|ging)?\.")  # what is only logged may be left out
_TOKEN = re.compile(r"[\w.]+|\W")
_SMALL = ("0", "1", "2", "3")  # an index, a step, a bound: not a size or a time limit


@dataclass(frozen=True)
class Mutant:
    """A defect: one changed line.

    file      where, relative to the repository
    function  in which, by its qualified name; "" at the top level
    old, new  the line before and after, as `ast.unparse` writes it
    text      the whole file with the defect
    """

    file: str
    function: str
    old: str
    new: str
    text: str

    def __str__(self) -> str:
        return f"{self.file} {self.function}: {self.change}"

    @property
    def change(self) -> str:
        """The change in words that do not depend on line numbers."""
        return f"{self.old} → {self.new}"


def packages(root: Path) -> list[str]:
    """The packages that defects are drawn for: each folder of `ROOTS` that holds modules."""
    folders = (path for name in ROOTS for path in sorted((root / name).iterdir()) if path.is_dir())
    return [path.relative_to(root).as_posix() for path in folders if _modules(path)]


def draw(root: Path, package: str, number: int, seed: int) -> Iterator[Mutant]:
    """So many defects of a package: each file, and then each kind of change, is as likely as another."""
    random, files, found = Random(f"{seed} {package}"), _modules(root / package), set[str]()
    for _ in range(_TRIES):
        if len(found) == number:
            return
        file, kind = random.choice(files), random.choice(KINDS)
        numbers = [number for number, site in enumerate(_sites(file)) if site.kind == kind]
        mutant = _mutant(root, file, kind, random.choice(numbers)) if numbers else None
        if mutant and str(mutant) not in found:
            found.add(str(mutant))
            yield mutant


def _modules(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*.py")) if path.name != "__init__.py"]


@cache
def _sites(file: Path) -> list[Site]:
    return sites(file.read_text(encoding="utf-8"))


def _mutant(root: Path, file: Path, kind: str, number: int) -> Mutant | None:
    """The defect at a place, None for one that is no defect of interest."""
    text = file.read_text(encoding="utf-8")
    before, after = ast.unparse(ast.parse(text)), mutate(text, number)
    lines = before.splitlines()
    blocks = difflib.SequenceMatcher(None, lines, after.splitlines(), autojunk=False).get_opcodes()
    changed = [block for block in blocks if block[0] != "equal"]
    if len(changed) != 1 or changed[0][2] - changed[0][1] != 1:
        return None
    _, start, _, new, _ = changed[0]
    old, now = lines[start].strip(), after.splitlines()[new].strip()
    if _LOGGED.match(old) or not _is_of_interest(kind, old, now):
        return None
    return Mutant(file.relative_to(root).as_posix(), _function_at(before, start + 1), old, now, after)


def _is_of_interest(kind: str, old: str, new: str) -> bool:
    if kind == "number":
        tokens = zip(_TOKEN.findall(old), _TOKEN.findall(new), strict=False)
        return next((one for one, other in tokens if one != other), "") in _SMALL
    return kind != "statement" or _is_call(old)


def _is_call(line: str) -> bool:
    try:
        (statement,) = ast.parse(line).body
    except (SyntaxError, ValueError):
        return False
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)


def _function_at(text: str, line: int) -> str:
    """The qualified name of the innermost function or class around a line."""
    names: list[str] = []
    body: list[ast.stmt] = ast.parse(text).body
    while True:
        around = [node for node in body if node.lineno <= line <= (node.end_lineno or 0)]
        if not around:
            return ".".join(names)
        (node,) = around
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.append(node.name)
        body = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
