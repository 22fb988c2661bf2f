"""Names of classes: each stands for one thing in the whole of `translations_assets`."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import translations_assets

ROOT = Path(translations_assets.__file__).parent
APART = ROOT / "keys" / "code"  # how the code of scripts is read; it has words of its own
# To be renamed; nothing may be added
LEFT = {"Cancelled", "Dropped", "Place", "Progress", "Speed"}


def test_each_name_of_a_class_has_one_meaning() -> None:
    assert several_meanings() == LEFT


def several_meanings() -> set[str]:
    """The names of classes that several modules define."""
    modules = defaultdict[str, set[Path]](set)
    for path in ROOT.rglob("*.py"):
        if not path.is_relative_to(APART):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    modules[node.name].add(path)
    return {name for name, paths in modules.items() if len(paths) > 1}
