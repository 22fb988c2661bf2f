"""Runs of one partition at once, on one machine and on another: each step runs once, and all succeed."""

from __future__ import annotations

import itertools
import re

import pytest

from tests.end_to_end.evidence import defects, graph_of, newest, repeated, scratch
from tests.end_to_end.finished import TARGET, finished, outputs

pytestmark = [pytest.mark.slow, pytest.mark.marian]


def test_runs_at_once_make_each_step_once() -> None:
    """Two on one machine, and one on another."""
    place = finished()
    printed = outputs(place)
    assert len(printed) == 3
    graph = graph_of(place)
    wanted = {step.label for stage in graph.stage_closure([TARGET]) for step in graph.stages[stage]}
    made = set(newest(place))
    assert made >= wanted
    assert repeated(place) == []
    assert defects(place) == []
    assert scratch(place) == set()
    here = [re.findall(r"\] (\S+) done after", output) for output in printed]
    assert sorted(sum(here, [])) == sorted(made), "each step was made by one of the runs"
    waited = [re.findall(r"\] (\S+) done$", output, re.MULTILINE) for output in printed]
    for one, other in itertools.combinations(range(len(printed)), 2):
        assert waited[one] or waited[other], "they were at work at the same time: one waited for a step"
