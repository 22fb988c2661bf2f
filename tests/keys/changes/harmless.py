"""Changes that must not matter, made to every file of `pipeline/` at once."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.keys.changes.states import CODE, module_name
from tests.keys.code.changes import HARMLESS, movable_functions, move_function

Files = Mapping[str, str]


def other_line_length() -> Files:
    """As ruff formats it with lines of 60 characters."""
    with TemporaryDirectory() as folder:
        for file, text in CODE.items():
            path = Path(folder, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        ruff = Path(sys.executable).with_name("ruff")
        command = [str(ruff), "format", "--isolated", "--quiet", "--line-length", "60", "."]
        subprocess.run(command, cwd=folder, check=True)
        return {file: Path(folder, file).read_text(encoding="utf-8") for file in CODE}


def moved(which: Callable[[int], int]) -> Files:
    """One function of each file in a new module beside it; `which` of so many."""
    files: dict[str, str] = {}
    for file, text in CODE.items():
        names = movable_functions(text)
        if names:
            target = file.removesuffix(".py") + "_moved.py"
            name = names[which(len(names))]
            files[file], files[target] = move_function(text, module_name(file), name, module_name(target))
    return files


def mixed(seed: int) -> Files:
    """Any of the kinds for each file, or none."""
    choice = random.Random(seed)
    kinds: list[Callable[[str], str]] = [*HARMLESS.values(), str]
    return {file: choice.choice(kinds)(text) for file, text in CODE.items() if text.strip()}


def everywhere(*kinds: str) -> Files:
    """Changes of some kinds, one after another, to each file."""
    files = {file: text for file, text in CODE.items() if text.strip()}
    for kind in kinds:
        files = {file: HARMLESS[kind](text) for file, text in files.items()}
    return files


KINDS: Mapping[str, Callable[[], Files]] = {
    **{kind: partial(everywhere, kind) for kind in HARMLESS},
    "another line length": other_line_length,
    "first function moved to a new module": lambda: moved(lambda count: 0),
    "middle function moved to a new module": lambda: moved(lambda count: count // 2),
    "last function moved to a new module": lambda: moved(lambda count: count - 1),
    "a mixture": lambda: mixed(1),
    "another mixture": lambda: mixed(2),
}

# The same, with those of one file made together: one that mattered would have the file run again all the same
GROUPS = (
    ("docstrings", "type hints added", "comments", "blanks and empty lines"),
    ("formatting", "type hints removed", "imports reordered", "unused definitions"),
    ("type hints changed", "functions moved inside the file", "locals renamed"),
)
GROUPED: Mapping[str, Callable[[], Files]] = {
    **{", ".join(group): partial(everywhere, *group) for group in GROUPS},
    **{kind: KINDS[kind] for kind in KINDS if kind not in (*HARMLESS, "another mixture")},
}
