"""Runs of one partition at once, on one machine and on another: each step runs once, and all succeed."""

from __future__ import annotations

import itertools
import re
import subprocess
from pathlib import Path

import pytest

from tests.end_to_end.evidence import defects, graph_of, newest, repeated, scratch
from tests.end_to_end.tiny import BIN, PARTITION, Place, make_place

pytestmark = [pytest.mark.slow, pytest.mark.marian]

TARGET = "evaluate_backwards"  # with a training, which is not repeatable, in the middle


def start(place: Place, **environment: str) -> subprocess.Popen[str]:
    """A run, not waited for."""
    return subprocess.Popen(
        [str(BIN / "translations"), "train", PARTITION, "--yes", "--target", TARGET],
        env=place.environment | environment,
        cwd=place.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def another_machine(place: Place) -> dict[str, str]:
    """Settings with which nothing is shared but the store: no slots, no databases."""
    return {
        "TRANSLATIONS_STATE": str(place.root / "other" / "state"),
        "TRANSLATIONS_STORE": str(place.root / "state" / "store"),
        "DAGSTER_HOME": str(place.root / "other" / "dagster"),
    }


def test_runs_at_once_make_each_step_once(tmp_path: Path) -> None:
    """Two on one machine, and one on another."""
    place = make_place(tmp_path)
    runs = [start(place), start(place, **another_machine(place)), start(place)]
    outputs = [run.communicate(timeout=300)[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0], "\n".join(outputs)

    graph = graph_of(place)
    wanted = {step.label for stage in graph.stage_closure([TARGET]) for step in graph.stages[stage]}
    made = set(newest(place))
    assert made >= wanted
    assert repeated(place) == []
    assert defects(place) == []
    assert scratch(place) == set()
    here = [re.findall(r"\] (\S+) done after", output) for output in outputs]
    assert sorted(sum(here, [])) == sorted(made), "each step was made by one of the runs"
    waited = [re.findall(r"\] (\S+) done$", output, re.MULTILINE) for output in outputs]
    for one, other in itertools.combinations(range(len(runs)), 2):
        assert waited[one] or waited[other], "they were at work at the same time: one waited for a step"
