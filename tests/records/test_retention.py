"""Tests of the rules of retention: runs, refs and manifests, by pins, records and age."""

from __future__ import annotations

from typing import Any

import pytest

from tests.store.values import manifest, ref
from translations_assets.records.retention import DAY, Retention, Rules
from translations_assets.records.run import RunRecord

NOW = 1000 * DAY
RULES = Rules(keep_days=30, keep_refs=2, grace_days=7)


def record(label: str, **times: Any) -> RunRecord:
    """A run's record that uses one step."""
    return RunRecord(uses={label: (label * 64, 1)}, **times)


def test_uses_of_pinned_running_and_recent_runs_are_kept() -> None:
    runs = {
        "a": record("a", started=1, heartbeat=2, ended=3),
        "b": record("b", started=1, heartbeat=2, ended=3),
        "c": record("c", started=NOW - 90 * DAY, heartbeat=NOW - 60),
        "d": record("d", started=1, heartbeat=NOW - 60 * DAY, ended=NOW - 20 * DAY),
        "e": record("e", started=1, heartbeat=NOW - 100 * DAY),
    }
    retention = Retention(RULES, NOW, {"a"}, runs)
    assert {key[0] for key, _ in retention.uses()} == {"a", "c", "d"}
    assert set(retention.running) == {"c"}
    assert list(retention.useless_runs({("e" * 64, 1)})) == ["b"]
    assert list(retention.useless_runs(set())) == ["b", "e"]


@pytest.mark.parametrize(
    ("age", "grace", "is_running"),
    [(600, 0, True), (3600, 0, False), (6 * DAY, 7, True), (8 * DAY, 7, False)],
)
def test_a_run_goes_on_while_its_heartbeat_is_young(age: float, grace: float, is_running: bool) -> None:
    runs = {"a": record("a", started=5.0, heartbeat=NOW - age)}
    retention = Retention(Rules(grace_days=grace), NOW, (), runs)
    assert retention.running == ({"a": 5.0} if is_running else {})


def test_what_was_made_since_the_first_running_run_began_is_kept() -> None:
    runs = {"a": record("a", started=NOW - 90 * DAY, heartbeat=NOW)}
    retention = Retention(RULES, NOW, (), runs)
    assert (retention.since, retention.untouched_since) == (NOW - 90 * DAY, NOW - 90 * DAY)
    idle = Retention(RULES, NOW, (), {})
    assert (idle.since, idle.untouched_since) == (NOW - 30 * DAY, NOW - 7 * DAY)


def test_refs_are_kept_by_number_age_and_run() -> None:
    refs = [
        ref(run, NOW - days * DAY) for run, days in (("n", 1), ("m", 20), ("l", 25), ("k", 40), ("j", 50))
    ]
    retention = Retention(RULES, NOW, {"j"}, {})
    assert [kept.run for kept in retention.kept_refs(refs)] == ["n", "m", "l", "j"]
    assert Retention(Rules(keep_days=0, keep_refs=0), NOW, (), {}).kept_refs(refs) == []


def test_refs_of_variants_are_kept_by_age_and_run_alone() -> None:
    refs = [
        ref(run, NOW - days * DAY, partition="en-ru@0123456789ab")
        for run, days in (("n", 25), ("m", 31), ("l", 40), ("k", 50))
    ]
    retention = Retention(RULES, NOW, {"k"}, {})
    assert [kept.run for kept in retention.kept_refs(refs)] == ["n", "k"]


def test_a_record_without_uses_keeps_nothing() -> None:
    assert list(Retention(RULES, NOW, {"a"}, {"a": RunRecord()}).uses()) == []
    assert not Retention(RULES, NOW, (), {}).keeps_manifest(manifest({}))
