"""Check that docstrings begin with an action or a thing: `python -m tests.docstrings`, a part of `make lint`.

A docstring that begins with a question word ("What is left", "Whether it ended") makes a noun of a clause.
The share of these is printed for each folder; a folder above its limit is an error, with the places named.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = frozenset(["what", "whether", "how", "where", "who", "whom", "whose", "why", "when", "which"])
# Folder → the largest share of its docstrings
LIMITS = {"translations_assets": 0.02, "benchmarks": 0.02, "tests": 0.02}


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of the docstrings of a module, its classes and its functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield node.body[0].lineno, text


def begins_with_question(docstring: str) -> bool:
    """True if the first word is a question word.

    >>> begins_with_question("Whether a run has ended."), begins_with_question("True if a run has ended.")
    (True, False)
    """
    return docstring.split()[0].strip(".,:;`'\"").lower() in QUESTIONS


def main() -> int:
    """Print each folder's share, and the places of a folder above its limit; 1 if there is one."""
    failed = False
    for folder, limit in LIMITS.items():
        found = [
            (f"{path.relative_to(ROOT)}:{line}", text.splitlines()[0])
            for path in sorted((ROOT / folder).rglob("*.py"))
            for line, text in docstrings(path.read_text(encoding="utf-8"))
        ]
        bad = [(place, text) for place, text in found if begins_with_question(text)]
        share = len(bad) / len(found)
        print(f"{folder}: {share:.1%} of {len(found)} docstrings ask a question (limit {limit:.0%})")
        if share > limit:
            failed = True
            print("\n".join(f"{place}: {text}" for place, text in bad))
    if failed:
        print("Begin with an action or a thing: see CONTRIBUTING.md.")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
