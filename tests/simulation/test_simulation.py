"""The simulation itself: what it finds can be repeated, and made smaller. Many schedules: `make simulate`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulation import simulate
from tests.simulation.checks import Checks
from tests.simulation.crashes import SCENARIOS, crash_states
from tests.simulation.plan import draw
from tests.simulation.simulate import carry_out, schedules, shrunk

SEEDS = 16


@pytest.mark.parametrize("first", range(0, SEEDS, 4))
def test_no_invariant_is_broken(first: int) -> None:
    reached = schedules(first, 4)
    assert reached.broken == {}
    assert reached.schedules == 4
    assert len(reached.states) > 100


@pytest.mark.slow
def test_processes_that_have_done_their_share_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulate, "BATCH", 2)
    monkeypatch.setattr(simulate, "BATCHES", 1)
    assert simulate.in_processes(0, 6, processes=2, seconds=1e9).schedules == 6


def test_a_seed_makes_the_same_schedule_each_time() -> None:
    traces: list[list[str]] = [[], []]
    for trace in traces:
        assert carry_out(draw(5), trace=trace.append) == ""
    assert traces[0] == traces[1]
    assert len(traces[0]) > 100


def test_what_breaks_an_invariant_is_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken whenever somebody pins a run: one run, however it began, and one pin are left."""
    monkeypatch.setattr(Checks, "_note_pin", _refuse)
    plan = next(plan for plan in map(draw, range(100)) if any(one.kind == "pin" for one in plan.happenings))
    broken = carry_out(plan)
    assert broken.startswith("Broken: a run was pinned")
    small = shrunk(plan, broken)
    kinds = [one.kind for one in small.happenings]
    assert kinds[0] in ("run", "start", "other space")
    assert kinds[1:] == ["pin"]
    assert small.faults == {}


def _refuse(checks: Checks, name: str) -> None:
    checks.require(False, "a run was pinned")


def test_a_broken_schedule_is_shown_with_its_trace(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Checks, "settled", lambda checks: checks.require(False, "nothing settles"))
    assert simulate.show(draw(0)) == "Broken: nothing settles"
    shown = capsys.readouterr().out
    assert "create steps/" in shown
    assert shown.endswith("Broken: nothing settles\n")


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_power_cut_at_any_moment_leaves_what_counts_whole(name: str, tmp_path: Path) -> None:
    operations, number, wrong = crash_states(name, tmp_path)
    assert wrong == []
    assert number > operations
