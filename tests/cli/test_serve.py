"""`serve`: which models the page gets, from the store alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command, make
from tests.end_to_end.tiny import PARTITION, Place
from translations_assets.cli import serve as cli_serve
from translations_assets.project import Project
from translations_assets.ui.playground.server import Playground


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Playground]:
    """Contents that would be served; the files are read while they exist."""
    found: list[Playground] = []

    def serve(shown: Playground, engine: Path, port: int) -> None:
        assert all(path.is_file() for model in shown.models for path in model.files.values())
        found.append(shown)

    monkeypatch.setattr(cli_serve, "serve_page", serve)
    return found


def refused(command: Command, *words: str) -> str:
    said = command("serve", *words)
    assert said.code == 1
    assert said.out == ""
    return said.err


def test_what_is_not_made_is_told_with_the_command_that_makes_it(command: Command) -> None:
    assert f"translations train {PARTITION} --target export" in refused(command, PARTITION)
    make("quantize")
    assert f"translations train {PARTITION} --target export" in refused(command, PARTITION)
    assert "The store has no run 0a0a0a0a" in refused(command, "0a0a0a0a")


def test_a_partition_has_its_teacher_and_examples(
    command: Command, place: Place, served: list[Playground]
) -> None:
    make("evaluate_exported", run="5a0be1ca-run")
    export = place.root / "exported"
    command("artifacts", PARTITION, "export-en-eo", "--download", str(export))
    said = command("serve", PARTITION, "--beside", "5a0be1ca", "--beside", str(export))
    assert (said.code, said.err) == (0, "")
    (shown,) = served
    assert [model.name for model in shown.models] == [PARTITION, f"{PARTITION}, run 5a0be1ca", "exported"]
    assert len({(model.source, model.target, model.bytes) for model in shown.models}) == 1
    assert not any(name.endswith(".zst") for name in shown.models[0].files)
    assert shown.examples == ["A dog."]
    assert shown.teacher
    assert shown.teacher.name == "teacher-1"

    command("serve", str(export))
    assert (served[1].teacher, served[1].examples) == (None, ())


def test_a_teacher_that_is_gone_is_told(
    command: Command, served: list[Playground], monkeypatch: pytest.MonkeyPatch
) -> None:
    make("export")
    store = Project().store
    (weights,) = (
        one.outputs["model.npz"] for one in store.manifests() if one.label == "train-teacher-en-eo-1"
    )
    gone: Any = type(store).has_blob
    monkeypatch.setattr(type(store), "has_blob", lambda self, blob: blob != weights and gone(self, blob))
    said = command("serve", PARTITION)
    assert said.code == 0
    assert "note: The page shows no teacher: train-teacher-en-eo-1" in said.err
    assert served[0].teacher is None


def test_a_run_without_an_exported_model_is_told(command: Command) -> None:
    make("export", run="aaaaaaaa-whole")
    make("train_vocab", run="bbbbbbbb-part")
    assert "Run bbbbbbbb has no exported model" in refused(command, PARTITION, "--beside", "bbbbbbbb")


def test_models_of_other_languages_are_refused(command: Command, place: Place) -> None:
    make("export")
    export = place.root / "other"
    command("artifacts", PARTITION, "export-en-eo", "--download", str(export))
    records = export / "records.json"
    records.write_text(records.read_text().replace('"eo"', '"lt"'))
    assert "other translates en → lt" in refused(command, PARTITION, "--beside", str(export))
    records.write_text(records.read_text().replace('"en"', '"eo"').replace('"lt"', '"en"'))
    assert "other translates eo → en" in refused(command, PARTITION, "--beside", str(export))
    assert "no exported model" in refused(command, str(place.root))
