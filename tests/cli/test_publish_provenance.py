"""`publish` puts provenance and a bill of materials beside a model, signed if asked; others can read them."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from google.protobuf import json_format
from in_toto_attestation.predicates.provenance.v1 import provenance_pb2
from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
from in_toto_attestation.v1.statement import Statement

from tests.cli.conftest import Command, make
from tests.defs.runner import STATISTICS, MadeUpRunner
from tests.end_to_end.tiny import PARTITION, Place
from tests.publish.keys import make_key, verify_statement
from translations_assets.project import Project
from translations_assets.running.job import Job

REVISION = "v9"
URL = "https://user:secret@example.org/train.zst?token=1"
SIGNED = {"model.sig", "provenance.sigstore.json"}


class Importing(MadeUpRunner):
    """Imports state their licence, revision and origin; one of them a file of the machine."""

    def _contents(self, job: Job, name: str) -> bytes:
        if name != "stats.json" or not job.label.startswith("dataset-"):
            return super()._contents(job, name)
        url = URL if "train" in job.label else "file:///home/somebody/text.gz"
        told = {"licence": "cc-by-4.0", "revision": REVISION, "source": [{"url": url, "bytes": 3}]}
        return json.dumps({**STATISTICS, "datasets": [], **told}).encode()


@pytest.fixture
def exported(command: Command) -> Command:
    """The command, where the tiny pair is exported and evaluated."""
    make("evaluate_exported", checks=True, runner=Importing())
    return command


def published(command: Command, place: Place, *words: str) -> Path:
    """The folder of the model, after it was published."""
    said = command("publish", PARTITION, "released", "--write", *words)
    assert said.code == 0, said.err
    (metadata,) = (place.root / "released").rglob("metadata.json")
    return metadata.parent.parent


def read(file: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return told


def test_the_statement_is_one_of_in_toto_and_slsa(exported: Command, place: Place) -> None:
    folder = published(exported, place)
    told = read(folder / "provenance.intoto.json")
    subjects = {one["name"]: one["digest"]["sha256"] for one in told["subject"]}
    assert subjects == {
        f"exported/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (folder / "exported").iterdir()
    }
    descriptors = [ResourceDescriptor(name=name, digest={"sha256": hex}).pb for name, hex in subjects.items()]
    Statement(descriptors, told["predicateType"], told["predicate"]).validate()
    assert told["predicateType"] == "https://slsa.dev/provenance/v1"
    read_back = json_format.ParseDict(told["predicate"], provenance_pb2.Provenance())  # no unknown fields
    for one in read_back.build_definition.resolved_dependencies:
        ResourceDescriptor.copy_from_pb(one).validate()


def test_the_statement_says_what_the_records_say(exported: Command, place: Place) -> None:
    predicate = read(published(exported, place) / "provenance.intoto.json")["predicate"]
    definition, details = predicate["buildDefinition"], predicate["runDetails"]
    steps = {one["label"]: one for one in definition["internalParameters"]["steps"]}
    store = Project().store
    made = {label: store.generation(one["key"], one["generation"]) for label, one in steps.items()}
    dependencies = definition["resolvedDependencies"]
    found = {one["digest"]["sha256"]: one for one in dependencies if "sha256" in one.get("digest", {})}
    read_by_steps = {blob.digest for one in made.values() if one for blob in one.provenance.files.values()}
    code = {one.bundle.digest for one in made.values() if one}
    assert set(found) == read_by_steps | code
    assert not any(label.startswith("evaluate") for label in steps)
    assert {"export-en-eo", "train-student-en-eo"} <= set(steps)
    libraries = {one["name"]: one.get("uri") for one in dependencies if "uri" in one}
    (numpy,) = {one.provenance.parts.libraries.get("numpy") for one in made.values() if one} - {None}
    assert libraries["numpy"] == f"pkg:pypi/numpy@{numpy}"
    asked = definition["externalParameters"]
    export = made["export-en-eo"]
    assert export
    assert export.provenance.config
    assert (asked["pair"], asked["partition"]) == ("en-eo", PARTITION)
    assert asked["config"]["digest"]["sha256"] == export.provenance.config.digest
    assert details["metadata"] == {
        "invocationId": "run-1",
        "startedOn": "1970-01-01T00:00:01Z",
        "finishedOn": "1970-01-01T00:00:02Z",
    }


def test_datasets_are_named_with_licences_and_without_secrets(exported: Command, place: Place) -> None:
    folder = published(exported, place)
    text = (folder / "provenance.intoto.json").read_text() + (folder / "sbom.cdx.json").read_text()
    assert "secret" not in text
    assert "/home/somebody" not in text
    dependencies = read(folder / "provenance.intoto.json")["predicate"]["buildDefinition"][
        "resolvedDependencies"
    ]
    noted = [one["annotations"] for one in dependencies if one["name"].startswith("dataset-train")]
    assert noted
    for one in noted:
        assert one["urls"] == ["https://example.org/train.zst"]
        assert (one["licence"], one["revision"]) == ("cc-by-4.0", REVISION)
    parts = read(folder / "sbom.cdx.json")["components"]
    (train,) = (one for one in parts if one["type"] == "data" and one["name"].startswith("train-"))
    assert (train["version"], train["licenses"]) == (REVISION, [{"expression": "CC-BY-4.0"}])
    assert train["externalReferences"] == [{"type": "distribution", "url": "https://example.org/train.zst"}]


def test_the_bill_of_materials_is_cyclonedx(exported: Command, place: Place) -> None:
    file = published(exported, place) / "sbom.cdx.json"
    told = read(file)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(file.read_text(encoding="utf-8")) is None
    model = told["metadata"]["component"]
    assert model["type"] == "machine-learning-model"
    scores = model["modelCard"]["quantitativeAnalysis"]["performanceMetrics"]
    assert {"type": "chrF", "value": "2.0", "slice": "tiny"} in scores
    parts = {one["bom-ref"]: one for one in told["components"]}
    (needs,) = told["dependencies"]
    assert (needs["ref"], set(needs["dependsOn"])) == (model["bom-ref"], set(parts))
    used = {one["ref"] for one in model["modelCard"]["modelParameters"]["datasets"]}
    assert used
    assert used == {reference for reference, one in parts.items() if one["type"] == "data"}
    (numpy,) = (one for one in parts.values() if one["name"] == "numpy")
    assert "BSD" in json.dumps(numpy["licenses"])
    assert any(one["name"] == "translations-assets" for one in parts.values())


def test_a_changed_bill_is_refused(exported: Command, place: Place) -> None:
    told = read(published(exported, place) / "sbom.cdx.json")
    told["components"][0]["type"] = "text"
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(told)) is not None


def test_a_signed_model_is_verified_by_their_own_commands(
    exported: Command, place: Place, tmp_path: Path
) -> None:
    public = make_key(tmp_path / "model.key")
    folder = published(exported, place, "--sign-key", str(tmp_path / "model.key"))
    verify = [sys.executable, "-m", "model_signing", "verify", "key", str(folder / "exported")]
    verify += ["--signature", str(folder / "model.sig"), "--public_key", str(public)]
    assert subprocess.run(verify, check=False).returncode == 0
    statement = verify_statement((folder / "provenance.sigstore.json").read_text(), public)
    assert statement == (folder / "provenance.intoto.json").read_bytes()
    (weights,) = (folder / "exported").glob("model.*.bin")
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    refused = subprocess.run(verify, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert "Hash mismatch" in refused.stderr
    assert weights.name in refused.stderr


def test_published_again_nothing_differs(exported: Command, place: Place, tmp_path: Path) -> None:
    make_key(tmp_path / "model.key")
    words = ("--sign-key", str(tmp_path / "model.key"))
    folder = published(exported, place, *words)
    assert {path.name for path in folder.iterdir()} > SIGNED
    assert exported("publish", PARTITION, "released", "--write", *words).out.startswith("All ")
    make_key(tmp_path / "model.key")
    refused = exported("publish", PARTITION, "released", "--write", *words)
    assert refused.code == 1
    named = refused.err.partition("same names: ")[2].partition(". Nothing")[0]
    assert {Path(name).name for name in named.split(", ")} == SIGNED


def test_without_a_key_nothing_is_signed_and_a_bad_one_is_refused_first(
    exported: Command, place: Place
) -> None:
    said = exported("publish", PARTITION, "released", "--write", "--sign-key", "missing.key")
    assert (said.code, (place.root / "released").exists()) == (1, False)
    assert "The key missing.key cannot be read" in said.err
    folder = published(exported, place)
    assert not SIGNED & {path.name for path in folder.iterdir()}
