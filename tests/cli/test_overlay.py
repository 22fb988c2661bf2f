"""Commands over a store that stands over production's: what they say of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Command, make
from tests.end_to_end.tiny import PARTITION, Place
from tests.store.test_overlay import state

VOCAB = "train-vocab-en-eo"


@pytest.fixture
def production(command: Command, place: Place, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with a merged corpus, over which the commands' own store stands by now."""
    make("merge_corpus", "run-production")
    production = place.root / "state" / "store"
    monkeypatch.setenv("TRANSLATIONS_STORE", str(place.root / "own"))
    monkeypatch.setenv("TRANSLATIONS_STORE_BASE", str(production))
    return production


def test_a_run_of_ones_own_is_pinned_and_what_it_does_not_keep_is_said(
    command: Command, production: Path
) -> None:
    before = state(production)
    make("train_vocab", "run-mine")
    said = command("cache", "pin", "run-mine", "--reason", "a trial")
    assert said.code == 0, said.err
    assert f"are those of {production}, where this pin keeps nothing" in said.out
    refused = command("cache", "pin", "run-production")
    assert refused.code == 1
    assert "which is only read" in refused.err
    assert "run-mine" in command("cache", "pins").out
    assert command("cache", "unpin", "run-mine").code == 0
    assert state(production) == before


def test_the_deployment_file_names_both(
    command: Command, production: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRANSLATIONS_STORE")
    monkeypatch.delenv("TRANSLATIONS_STORE_BASE")
    file = place.root / "deployment.yml"
    file.write_text(f"store: {place.root / 'mine'}\nstore-base: {production}\n")
    monkeypatch.setenv("TRANSLATIONS_DEPLOYMENT", str(file))
    said = command("plan", PARTITION, "--target", "merge_corpus")
    assert said.code == 0, said.err
    assert "5 cached, 1 run" in said.out, "all but the check, which was not made"
    assert not (place.root / "mine").exists(), "a plan writes nothing"


def test_a_store_in_production_is_refused(
    command: Command, production: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_STORE", str(production / "mine"))
    said = command("plan", PARTITION)
    assert said.code == 1
    assert "one is inside the other" in said.err
