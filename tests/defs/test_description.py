"""Tests of kinds, tags and links to code in the UI: read off the code, and true of graphs."""

import subprocess
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from tests.golden import CONFIGS, graph_of
from translations_assets.common.revision import web_address
from translations_assets.config.deployment import parse_deployment
from translations_assets.defs import description
from translations_assets.defs.assets import make_asset
from translations_assets.defs.shared import PROJECT
from translations_assets.stages import ASSETS, STAGES
from translations_assets.stages.facts import WORKER_CLASSES, largest_machine, scripts_of


def references(asset: dg.AssetsDefinition) -> list[Any]:
    (metadata,) = asset.metadata_by_key.values()
    found = metadata["dagster/code_references"]
    assert isinstance(found, dg.CodeReferencesMetadataValue)
    return found.code_references


@pytest.mark.parametrize("partition", [path.stem for path in CONFIGS])
def test_scripts_and_machines_of_a_stage_are_those_of_its_steps(partition: str) -> None:
    for name, steps in graph_of(partition).stages.items():
        assert {step.script for step in steps} <= set(scripts_of(STAGES[name]))
        largest = WORKER_CLASSES.index(largest_machine(STAGES[name]))
        assert all(WORKER_CLASSES.index(step.worker) <= largest for step in steps)


def test_kinds_and_tags() -> None:
    made = make_asset(ASSETS["train_student"])
    (spec,) = made.specs
    assert spec.kinds == {"python", "marian"}
    assert spec.tags["translations/machine"] == "large-gpu"
    assert spec.tags["translations/family"] == "student"
    (merged,) = make_asset(ASSETS["export"]).specs
    assert merged.tags["translations/machine"] == "cpu"


def test_every_named_program_is_run_by_a_stage() -> None:
    assert set(description.KINDS) <= {script for stage in STAGES.values() for script in scripts_of(stage)}


def test_the_deployments_machine_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "{store: gs://b, runner: kubernetes, kubernetes: {image: r/w, worker-classes: {gpu: {}, cpu: {}}, "
        "stages: {score: {worker-class: cpu}}}}"
    )
    monkeypatch.setitem(vars(PROJECT), "deployment", parse_deployment(text, "deployment.yml"))
    assert description.tags_of(ASSETS["score"])["translations/machine"] == "cpu"
    assert description.tags_of(ASSETS["translate_corpus"])["translations/machine"] == "gpu"


def test_code_is_where_it_is_said_to_be() -> None:
    for name, stage in ASSETS.items():
        first, *scripts = references(make_asset(stage))
        lines = Path(first.file_path).read_text(encoding="utf-8").splitlines()
        assert any(line.startswith(f"def {name}(") for line in lines[first.line_number - 1 :][:16])
        assert [script.label for script in scripts] == scripts_of(stage)
        assert all(Path(script.file_path).is_file() for script in scripts)


def test_code_is_linked_to_a_repository_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [make_asset(ASSETS["export"])]
    monkeypatch.setattr(description, "web_address", lambda root: "")
    assert description.linked_to_repository(made) is made
    monkeypatch.setattr(description, "web_address", lambda root: "https://github.com/team/translations")
    monkeypatch.setattr(description, "commit", lambda root: "0123abc")
    (linked,) = description.linked_to_repository(made)
    stage, script = references(linked)
    begin = "https://github.com/team/translations/tree/0123abc"
    assert stage.url.startswith(f"{begin}/translations_assets/stages/release.py#L")
    assert script.url == f"{begin}/pipeline/quantize/export.py#L1"


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("git@github.com:team/translations.git", "https://github.com/team/translations"),
        ("https://user:secret@github.com/team/translations", "https://github.com/team/translations"),
        ("ssh://git@gitlab.com:22/a/b/translations.git", "https://gitlab.com/a/b/translations"),
        ("/srv/git/translations", ""),
        ("file:///srv/translations.git", ""),
        ("../translations.git", ""),
    ],
)
def test_the_page_of_a_remote(tmp_path: Path, remote: str, address: str) -> None:
    git = ["git", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "config", "remote.origin.url", remote], check=True)
    assert web_address(tmp_path) == address
