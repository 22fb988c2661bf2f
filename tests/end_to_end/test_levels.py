"""Levels of trust with real workers, which get the places of their run by one URL."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end_to_end.tiny import PARTITION, Place, make_place
from tests.store.test_overlay import state

pytestmark = pytest.mark.slow

NAMES = ("release", "branch", "anyone")
DATASET, CLEANED = "dataset_train", "clean_corpus"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """The tiny pair, and a deployment file with three levels in folders."""
    place = make_place(tmp_path / "place")
    levels = [{"name": name, "store": str(place.root / name)} for name in NAMES]
    (place.root / "deployment.yml").write_text(json.dumps({"levels": levels}))
    for name in NAMES:
        run(place, name, "levels", "--mark")
    return place


def run(place: Place, level: str, *words: str) -> str:
    """Output of a command at a level."""
    named = {"TRANSLATIONS_DEPLOYMENT": str(place.root / "deployment.yml"), "TRANSLATIONS_STORE": ""}
    done = place.run("translations", *words, **named, TRANSLATIONS_LEVEL=level)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def planned(place: Place, level: str) -> dict[str, str]:
    """Stage → status of its step."""
    said = run(place, level, "plan", PARTITION, "--target", CLEANED, "--json")
    return {step["stage"]: step["status"] for step in json.loads(said)["steps"]}


def test_a_branch_makes_the_rest_and_a_release_makes_its_own(place: Place) -> None:
    run(place, "release", "train", PARTITION, "--target", DATASET, "--yes")
    before = state(place.root / "release")
    run(place, "branch", "train", PARTITION, "--target", CLEANED, "--yes")
    assert state(place.root / "release") == before
    assert planned(place, "branch") == planned(place, "anyone") == {DATASET: "cached", CLEANED: "cached"}
    assert planned(place, "release") == {DATASET: "cached", CLEANED: "run"}
    assert "kept" in run(place, "anyone", "sample", PARTITION, CLEANED), "what a branch has made is read"
