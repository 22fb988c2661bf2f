"""The jobs make what their names say, and can be launched for every training config."""

from pathlib import Path

import pytest
from dagster import Definitions, JobDefinition

from translations_assets.config.sweep import parse_sweep
from translations_assets.definitions import defs
from translations_assets.defs import sweeps
from translations_assets.defs.jobs import FROM, SELECTIONS, UP_TO
from translations_assets.defs.shared import TRAINING_CONFIGS
from translations_assets.graph.stage import stage_order
from translations_assets.instance.server import WANDB
from translations_assets.stages import ASSETS

UPSTREAM = {name: set(ASSETS[name].upstream) for name in stage_order(ASSETS)}


def job(name: str) -> JobDefinition:
    return defs.resolve_job_def(name)


def made_by(name: str) -> set[str]:
    """The stages that a job materializes."""
    return {key.to_user_string() for key in job(name).asset_layer.executable_asset_keys}


def needed_by(stage: str) -> set[str]:
    return {stage}.union(*(needed_by(upstream) for upstream in UPSTREAM[stage]))


def test_all_makes_every_stage() -> None:
    assert made_by("all") == {*ASSETS, WANDB}


@pytest.mark.parametrize("stage", UP_TO)
def test_up_to_a_stage(stage: str) -> None:
    assert made_by(f"up_to_{stage}") == needed_by(stage)


@pytest.mark.parametrize("stage", FROM)
def test_from_a_stage(stage: str) -> None:
    assert made_by(f"from_{stage}") == {WANDB, *(name for name in ASSETS if stage in needed_by(name))}


@pytest.mark.parametrize("name", SELECTIONS)
def test_a_job_is_described_partitioned_and_runs_in_threads(name: str) -> None:
    assert job(name).description
    assert job(name).partitions_def == TRAINING_CONFIGS
    assert job(name).executor_def.name == "threaded"


def test_a_sweep_stands_beside_the_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its comparison has partitions of its own, and would be downstream of every job's stages."""
    base, *_ = TRAINING_CONFIGS.get_partition_keys()
    rates = parse_sweep(f"base: {base}\naxes: {{experiment.seeds.student: [1, 2]}}", "rates", "rates.yml")
    monkeypatch.setattr(sweeps, "usable_sweeps", lambda: ({"rates": (Path("rates.yml"), rates)}, []))
    comparisons = sweeps.sweep_comparisons()
    assert comparisons
    beside = Definitions.merge(defs, Definitions(assets=comparisons))
    for name in SELECTIONS:
        layer = beside.resolve_job_def(name).asset_layer
        assert {key.to_user_string() for key in layer.executable_asset_keys} == made_by(name)
