"""A laptop over production's store: by the commands that people type, with rights to read it only."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.end_to_end.tiny import PARTITION, Place
from tests.store.test_overlay import state

pytestmark = [pytest.mark.slow, pytest.mark.marian]

VOCAB, CHECK = "train-vocab-en-eo", "check-vocab-en-eo"
CHANGED = ("--target", "train_vocab", "--set", "experiment.spm-vocab-size=392")


class Laptop:
    """A place whose store stands over production's; `check` fails once production was written."""

    def __init__(self, place: Place, stores: dict[str, str], check: Callable[[], None]) -> None:
        self.place, self.stores, self.check = place, stores, check

    def run(self, *words: str, code: int = 0) -> str:
        """Output of a command that ends with this code."""
        done = self.place.run("translations", *words, **self.stores)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def plan(self, *words: str) -> dict[str, str]:
        """Label → status."""
        steps = json.loads(self.run("plan", PARTITION, "--json", *words))["steps"]
        return {step["label"]: step["status"] for step in steps}


@pytest.fixture
def laptop(trained: Place, tmp_path: Path) -> Laptop:
    """Over a store in a folder; that a bucket is asked only for GET: tests/store/test_overlay.py."""
    production = trained.root / "state" / "store"
    before = state(production)

    def unchanged() -> None:
        assert state(production) == before

    place = Place(tmp_path / "place")
    shutil.copytree(trained.root / "configs", place.root / "configs")
    stores = {"TRANSLATIONS_STORE": str(tmp_path / "own"), "TRANSLATIONS_STORE_BASE": str(production)}
    return Laptop(place, stores, unchanged)


def test_what_production_made_is_found_and_only_what_is_changed_runs(laptop: Laptop, tmp_path: Path) -> None:
    assert set(laptop.plan("--target", "train_vocab").values()) == {"cached"}
    changed = laptop.plan(*CHANGED)
    assert {label for label, status in changed.items() if status != "cached"} == {VOCAB, CHECK}
    assert "nothing to run" in laptop.run("train", PARTITION, "--target", "train_vocab", "--yes")
    laptop.run("train", PARTITION, *CHANGED, "--yes")
    assert set(laptop.plan(*CHANGED).values()) == {"cached"}
    laptop.check()
    # Production alone still needs the step
    alone = laptop.place.run(
        *("translations", "plan", PARTITION, "--json", *CHANGED),
        TRANSLATIONS_STORE=laptop.stores["TRANSLATIONS_STORE_BASE"],
    )
    assert {s["label"] for s in json.loads(alone.stdout)["steps"] if s["status"] != "cached"} == {
        VOCAB,
        CHECK,
    }

    # Logs, files, reasons and records of both
    assert "vocab" in laptop.run("logs", PARTITION, VOCAB)
    laptop.run("artifacts", PARTITION, "merge-corpus-en-eo", "--download", str(tmp_path / "downloads"))
    assert {path.name for path in (tmp_path / "downloads").iterdir()} >= {"corpus.en.zst", "corpus.eo.zst"}
    laptop.run("explain", PARTITION, VOCAB)
    history = json.loads(laptop.run("artifacts", PARTITION, VOCAB, "--provenance"))
    assert any("url" in source["label"] for source in history["sources"])

    # Upkeep of one's own part
    assert "All is whole." in laptop.run("cache", "verify")
    freed = ("--keep-days", "0", "--keep-refs", "0", "--grace-days", "0", "--delete")
    laptop.run("cache", "gc", *freed)
    assert set(laptop.plan("--target", "train_vocab").values()) == {"cached"}
    laptop.check()
