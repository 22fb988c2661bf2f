"""The tiny pair up to the evaluation of a model, made once a session by three runs at once."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor

from tests.end_to_end.tiny import PARTITION, Place, make_place
from tests.session import once

TARGET = "evaluate_backwards"  # made from a training, which cannot be repeated byte by byte
_OUTPUT = "run-{}.txt"  # what each of the runs printed


def finished() -> Place:
    """The place that all tests share; who changes something takes a copy.

    Two runs were at work on this machine, and one as on another that shares nothing but the store.
    """
    return Place(once("finished", lambda folder: _make(make_place(folder))))


def outputs(place: Place) -> list[str]:
    """Output of the runs that made it."""
    return [path.read_text(encoding="utf-8") for path in sorted(place.root.glob(_OUTPUT.format("*")))]


def _make(place: Place) -> None:
    with ThreadPoolExecutor(3) as pool:
        runs = pool.map(lambda settings: _run(place, **settings), ({}, _another_machine(place), {}))
    done = list(runs)
    for number, run in enumerate(done):
        (place.root / _OUTPUT.format(number)).write_text(run.stdout + run.stderr, encoding="utf-8")
    assert [run.returncode for run in done] == [0, 0, 0], "\n".join(outputs(place))


def _run(place: Place, **environment: str) -> subprocess.CompletedProcess[str]:
    command = ("translations", "train", PARTITION, "--yes", "--target", TARGET)
    return place.run(*command, **environment)


def _another_machine(place: Place) -> dict[str, str]:
    """Settings with which nothing is shared but the store: no slots, no databases."""
    return {
        "TRANSLATIONS_STATE": str(place.root / "other" / "state"),
        "TRANSLATIONS_STORE": str(place.root / "state" / "store"),
        "DAGSTER_HOME": str(place.root / "other" / "dagster"),
    }
