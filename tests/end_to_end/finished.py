"""The tiny pair up to the evaluation of a model, made once a session by three runs at once."""

from __future__ import annotations

import subprocess

from tests.end_to_end.tiny import BIN, PARTITION, Place, make_place
from tests.session import once

TARGET = "evaluate_backwards"  # made from a training, which cannot be repeated byte by byte
_OUTPUT = "run-{}.txt"  # what each of the runs printed


def finished() -> Place:
    """The place that all tests share; who changes something takes a copy.

    Two runs were at work on this machine, and one as on another that shares nothing but the store.
    """
    return Place(once("finished", lambda folder: _make(make_place(folder))))


def outputs(place: Place) -> list[str]:
    """What the runs that made it printed."""
    return [path.read_text(encoding="utf-8") for path in sorted(place.root.glob(_OUTPUT.format("*")))]


def _make(place: Place) -> None:
    runs = [_start(place), _start(place, **_another_machine(place)), _start(place)]
    for number, run in enumerate(runs):
        output = run.communicate(timeout=300)[0]
        (place.root / _OUTPUT.format(number)).write_text(output, encoding="utf-8")
    assert [run.returncode for run in runs] == [0, 0, 0], "\n".join(outputs(place))


def _start(place: Place, **environment: str) -> subprocess.Popen[str]:
    """A run, not waited for."""
    return subprocess.Popen(
        [str(BIN / "translations"), "train", PARTITION, "--yes", "--target", TARGET],
        env=place.environment | environment,
        cwd=place.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _another_machine(place: Place) -> dict[str, str]:
    """Settings with which nothing is shared but the store: no slots, no databases."""
    return {
        "TRANSLATIONS_STATE": str(place.root / "other" / "state"),
        "TRANSLATIONS_STORE": str(place.root / "state" / "store"),
        "DAGSTER_HOME": str(place.root / "other" / "dagster"),
    }
