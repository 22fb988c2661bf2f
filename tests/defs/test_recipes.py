"""Recipes: what shows as stale after an edit of one training config."""

import json
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from tests.end_to_end.tiny import PARTITION, Place, make_place
from translations_assets.dagster_home import prepare
from translations_assets.defs.recipes import observe_recipes, recipe_versions
from translations_assets.project import Project
from translations_assets.stages import STAGES

OTHER = "en-eo.other"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The tiny pair and a copy of it, named by the environment."""
    place = make_place(tmp_path / "place")
    config(place, OTHER).write_text(config(place).read_text())
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for name, value in place.environment.items():
        if name.startswith("TRANSLATIONS_"):
            monkeypatch.setenv(name, value)
    return place


def config(place: Place, partition: str = PARTITION) -> Path:
    return place.root / "configs" / f"{partition}.yml"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {stage for stage in STAGES if before[stage] != after[stage]}


def test_there_is_a_version_for_every_stage_that_only_edits_change(place: Place) -> None:
    first, second = recipe_versions(Project(), PARTITION), recipe_versions(Project(), PARTITION)
    assert first == second
    assert set(first) == set(STAGES)


@pytest.mark.parametrize(
    ("old", "new", "stages"),
    [
        (
            "training-student-finetuned: {after: 20u}",
            "training-student-finetuned: {seed: 5}",
            {"finetune_student"},
        ),
        ("spm-vocab-size: 336", "spm-vocab-size: 328", {"train_vocab"}),
        ("split-chunks: 2", "split-chunks: 2 # as before", set()),
    ],
)
def test_an_edit_changes_the_recipes_that_it_concerns(
    place: Place, old: str, new: str, stages: set[str]
) -> None:
    before = recipe_versions(Project(), PARTITION)
    edit(config(place), old, new)
    assert changed(before, recipe_versions(Project(), PARTITION)) == stages


def test_only_what_changed_is_observed(place: Place) -> None:
    project = Project()
    with dg.DagsterInstance.ephemeral() as instance:
        assert observe_recipes(instance, project, [PARTITION, OTHER]) == 2 * len(STAGES)
        assert observe_recipes(instance, project, [PARTITION, OTHER]) == 0
        edit(config(place), "spm-vocab-size: 336", "spm-vocab-size: 328")
        assert observe_recipes(instance, project, [PARTITION, OTHER]) == 1


@pytest.mark.slow
def test_exactly_what_an_edit_concerns_is_stale(place: Place) -> None:
    """The whole of two partitions, with a runner that makes results up; see `made_up`."""
    prepare(place.root / "dagster")
    made = place.run("python", "-m", "tests.defs.made_up", "make", PARTITION, OTHER)
    assert made.returncode == 0, made.stderr
    assert look(place) == {"skip": "0 recipes changed", "stale": {}}

    edit(config(place, OTHER), "training-student: *model", "training-student: {after: 30u}")
    config(place, "en-eo.broken").write_text("experiment: {\n")
    found = look(place)
    # The student's settings are the start of its finetuning's; evaluate_student is stale once it is trained.
    assert found["stale"] == {"train_student": [OTHER], "finetune_student": [OTHER]}
    assert "en-eo.broken.yml:1: not valid YAML" in found["skip"]


def look(place: Place) -> dict[str, Any]:
    done = place.run("python", "-m", "tests.defs.made_up", "look", PARTITION, OTHER)
    assert done.returncode == 0, done.stderr
    value: dict[str, Any] = json.loads(done.stdout)
    return value
