"""Asset checks: what Dagster knows of the gates, and what it does when one fails."""

import shlex
from typing import Any

import pytest
from dagster import AssetCheckKey, AssetKey

from tests.defs.test_recipes import made_up_runs
from tests.end_to_end.tiny import PARTITION
from translations_assets.checks.gates import GATES, Finding, Gate
from translations_assets.definitions import defs
from translations_assets.defs.assets import _check_result
from translations_assets.defs.jobs import SELECTIONS
from translations_assets.defs.shared import TRAINING_CONFIGS
from translations_assets.stages import ASSETS, STAGES

GRAPH = defs.get_repository_def().asset_graph


def key(gate: Gate) -> AssetCheckKey:
    return AssetCheckKey(AssetKey(gate.stage), gate.identifier)


def test_every_gate_is_a_check_of_its_asset_and_nothing_else_is() -> None:
    assert set(GRAPH.asset_check_keys) == {key(gate) for gate in GATES}
    assert {gate.stage for gate in GATES} <= set(ASSETS)


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: f"{gate.stage}-{gate.name}")
def test_a_check_is_partitioned_and_described(gate: Gate) -> None:
    spec = GRAPH.get_check_spec(key(gate))
    assert spec.partitions_def == TRAINING_CONFIGS
    assert str(spec.description).startswith(gate.description)
    assert spec.blocking  # those of level `warn` fail with a severity that blocks nothing


@pytest.mark.parametrize(
    ("state", "level", "passed", "severity"),
    [
        ("failed", "error", False, "ERROR"),
        ("failed", "warn", False, "WARN"),
        ("not computed", "error", False, "WARN"),
        ("off", "off", True, "WARN"),
        ("passed", "error", True, "WARN"),
    ],
)
def test_what_was_not_judged_stops_no_run(state: Any, level: str, passed: bool, severity: str) -> None:
    result = _check_result(Finding(GATES[0], level, state, "", {}, {}))
    assert (result.passed, result.severity.value) == (passed, severity)


def test_a_check_waits_for_all_that_it_reads() -> None:
    """The inputs of its numbers come before the asset; other stages' scores are dependencies."""
    for gate in GATES:
        known = {gate.stage, *_upstream(gate.stage)}
        waited = {dep.asset_key.to_user_string() for dep in GRAPH.get_check_spec(key(gate)).additional_deps}
        for stage in gate.reads:
            needed = STAGES[stage].upstream if STAGES[stage].checks else (stage,)
            assert set(needed) <= known | waited, (gate.stage, gate.name)
        assert not any(gate.stage in _upstream(stage) for stage in waited)


def _upstream(stage: str) -> set[str]:
    return set(STAGES[stage].upstream).union(*map(_upstream, STAGES[stage].upstream))


@pytest.mark.parametrize("name", SELECTIONS)
def test_jobs_check_what_they_make(name: str) -> None:
    layer = defs.resolve_job_def(name).asset_layer
    made = {asset.to_user_string() for asset in layer.executable_asset_keys}
    checked = {(found.asset_key.to_user_string(), found.name) for found in layer.asset_graph.asset_check_keys}
    assert checked == {(gate.stage, gate.identifier) for gate in GATES if gate.stage in made}


@pytest.fixture(scope="module")
def runs() -> tuple[dict[str, Any], ...]:
    """A run whose teacher is worse than the backwards model, and two with that gate overridden.

    The first of them ends with the evaluation of the exported student, and does not make the float one's.
    """
    stopped, partial, whole, *_ = made_up_runs()
    return stopped, partial, whole


@pytest.mark.slow
def test_a_bad_teacher_stops_distillation(runs: tuple[dict[str, Any], ...]) -> None:
    stopped, *_ = runs
    found = stopped["checks"]["train_teacher teacher_margin"]
    assert (found["passed"], found["severity"], found["partition"]) == (False, "ERROR", PARTITION)
    assert (
        "chrF 20.0 of teacher-1 on the validation set, 50.0 of backwards in the opposite"
        in found["description"]
    )
    assert found["metadata"]["checks.teacher-margin.margin"] == -20
    assert found["metadata"]["chrF, backwards"] == 50
    assert stopped["missed"] == {"failed": ["teacher_margin"]}
    look, go_on = stopped["next"]  # not a rerun, which the gate would stop as well
    assert look == f"It waits for a decision: translations checks {PARTITION}"
    assert go_on.startswith(f"To go on all the same: translations train {PARTITION} ")
    assert shlex.split(go_on)[-1] == '--set=checks.teacher-margin.level="warn"'
    assert stopped["status"] == "FAILURE"
    assert {"train_teacher", "train_backwards", "translate_mono_trg"} <= set(stopped["made"])
    assert not {"translate_corpus", "translate_mono_src", "train_student"} & set(stopped["made"])


@pytest.mark.slow
def test_the_gate_can_be_overridden_for_a_run_which_is_recorded(
    runs: tuple[dict[str, Any], ...],
) -> None:
    *_, overridden = runs
    found = overridden["checks"]["train_teacher teacher_margin"]
    assert found["passed"]
    assert found["description"].startswith(
        "overridden for this run (checks.teacher-margin.level: off): off; it would have failed: chrF 20.0"
    )
    assert found["metadata"]["overridden for this run"] == {"level": "off"}
    assert overridden["missed"] == {}
    assert overridden["status"] == "SUCCESS"
    assert set(overridden["made"]) == set(ASSETS)


@pytest.mark.slow
def test_a_gate_whose_numbers_the_target_does_not_make_has_not_failed(
    runs: tuple[dict[str, Any], ...],
) -> None:
    _, partial, _ = runs
    assert partial["status"] == "SUCCESS"
    assert partial["missed"] == {"not computed": ["exported_gap", "exported_loss"]}
    found = partial["checks"]["evaluate_exported exported_gap"]
    assert (found["passed"], found["severity"]) == (False, "WARN")
    assert found["metadata"]["state"] == "not computed"


@pytest.mark.slow
def test_every_check_has_a_result_in_the_partition(runs: tuple[dict[str, Any], ...]) -> None:
    checks = runs[-1]["checks"]
    assert set(checks) == {f"{gate.stage} {gate.identifier}" for gate in GATES}
    assert {found["partition"] for found in checks.values()} == {PARTITION}
    assert [name for name, found in checks.items() if not found["passed"]] == []
    assert checks["merge_corpus held_out_exact"]["metadata"]["lines, en"] == 0


@pytest.mark.slow
def test_what_overrides_change_is_no_event_of_the_assets() -> None:
    """Nor is what is made from it; what they leave as it is, is one as ever. Gates stop such runs, too."""
    *_, stopped, whole = made_up_runs()
    for variant in (stopped, whole):
        assert "train_backwards" in variant["made"]
        assert not {"train_teacher", "evaluate_teacher"} & set(variant["made"])
        judged = {name.split()[0] for name in variant["checks"]}
        assert "train_backwards" in judged
        assert "train_teacher" not in judged
    assert "teacher_margin" in stopped["missed"]["failed"]
    assert (stopped["status"], whole["status"]) == ("FAILURE", "SUCCESS")
