"""Changes that must be noticed: places in `pipeline/`, and who is concerned by a change there."""

from __future__ import annotations

import ast
import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from tests.keys.changes.mutations import Site, mutate, sites
from tests.keys.changes.states import CODE, SCRIPTS, Repository
from translations_assets.keys.code.fingerprint import CodeBase


@cache
def all_sites() -> Mapping[str, list[Site]]:
    """File → the places in it where something can be changed."""
    return {file: sites(text) for file, text in CODE.items()}


def file_of(why_whole: str) -> str:
    """The file of a module that counts as a whole, from the words that say why; "" for none."""
    return f"{why_whole.partition(',')[0].replace('.', '/')}.py" if why_whole else ""


@dataclass(frozen=True)
class Changed:
    """Plan after one change.

    place      file, line and kind
    reruns     whether any step runs
    unnoticed  steps that should run, or wait for such, and are cached
    needless   steps that should be cached and are not, or run and only wait
    """

    place: str
    reruns: bool
    unnoticed: tuple[str, ...]
    needless: tuple[str, ...]


def sample(kind: str, number: int, seed: int = 1) -> list[tuple[str, int]]:
    """Places for changes of a kind, as (file, number of the place); each file is as likely as another.

    None in `if __name__ == "__main__":`, which would then run the file where others only import it.
    """
    places = {
        file: [number for number, site in enumerate(found) if site.kind == kind]
        for file, found in all_sites().items()
    }
    files = [file for file, found in places.items() if found]
    choice = random.Random(f"{kind} {seed}")
    drawn = [(file, choice.choice(places[file])) for file in choice.choices(files, k=number)]
    return [(file, place) for file, place in drawn if not _is_guard(all_sites()[file][place].statement)]


def _is_guard(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "__name__" in ast.dump(statement.test)


def change(repository: Repository, file: str, number: int) -> Changed:
    """Change one place, and plan.

    A change by which a module counts as a whole, as it may look at code, concerns all who import from it.
    """
    site, changed = all_sites()[file][number], {file: mutate(CODE[file], number)}
    concerned = repository.running(file, site.statement)
    planned = repository.plan(changed)
    if site.kind == "attribute":
        with repository.changed(changed):
            code = CodeBase(repository.root)
            concerned |= {script for script in SCRIPTS if file_of(code.fingerprint(script).why_whole) == file}
    expected = repository.expected(lambda step: step.script in concerned)
    wrong = [label for label, status in expected.items() if planned[label] != status]
    unnoticed = tuple(label for label in wrong if planned[label] == "cached")
    needless = tuple(label for label in wrong if planned[label] != "cached")
    place = f"{file}:{site.line}, another {site.kind}"
    return Changed(place, set(planned.values()) != {"cached"}, unnoticed, needless)
