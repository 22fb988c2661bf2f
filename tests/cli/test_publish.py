"""`publish`: an exported model in a folder and in a bucket, whole or not at all."""

import json
import re
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Command, make
from tests.defs.runner import MadeUpRunner
from tests.end_to_end.tiny import PARTITION, Place
from tests.store.gcs_server import BUCKET, serve
from translations_assets.common.errors import StoreError
from translations_assets.project import Project
from translations_assets.publish.destination import FolderDestination

EXPORTED = ("model.eneo.intgemm.alphas.bin", "lex.50.50.eneo.s2t.bin", "vocab.eneo.spm")


@pytest.fixture
def exported(command: Command) -> Command:
    """The command, where the tiny pair is exported, and two of its models are evaluated."""
    make("evaluate_exported", checks=True)
    make("evaluate_backwards", run="run-2")
    return command


def files_below(folder: Path) -> dict[str, int]:
    """Each file below a folder, and when it was written."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.stat().st_mtime_ns for path in files}


def test_a_folder_gets_everything_once(exported: Command, place: Place) -> None:
    asked = exported("publish", PARTITION, "released", "--json")
    answer = json.loads(asked.out)
    assert not (place.root / "released").exists()
    said = exported("publish", PARTITION, "released", "--write")
    assert said.code == 0, said.err
    assert exported("cache", "verify").out.endswith("All is whole.\n")
    found = files_below(place.root / "released")
    assert set(found) == {one["name"] for one in answer["files"]}
    name = answer["url"].rpartition("/")[2]
    folder = f"models/en-eo/{name}"
    assert name.startswith("tiny_")
    assert len(name.removeprefix("tiny_")) == 22  # as Mozilla's scripts cut it
    exports = {f"{folder}/exported/{file}{end}" for file in EXPORTED for end in ("", ".zst")}
    assert exports < set(found)
    metrics = {Path(path).parent.name: path for path in found if path.endswith(".metrics.json")}
    assert set(metrics) == {"backward", "exported"}
    assert max(found, key=lambda path: found[path]) == f"{folder}/exported/metadata.json"
    config = yaml.safe_load((place.root / "released" / "experiments/en-eo" / name / "config.yml").read_text())
    assert config["experiment"]["name"] == "tiny"
    assert json.loads((place.root / "released" / metrics["exported"]).read_text())["chrf"] == {
        "score": 2.0,
        "details": {"ci": 0.5, "signature": "made up"},
    }
    again = exported("publish", PARTITION, "released", "--write")
    assert again.out == f"All {len(found)} files are there: {answer['url']}\n"
    assert files_below(place.root / "released") == found
    assert [made.url for made in Project().store.publications()] == [answer["url"]]


def test_what_differs_is_replaced_only_when_asked(exported: Command, place: Place) -> None:
    exported("publish", PARTITION, "released", "--write")
    (report,) = (place.root / "released").rglob("report.html")
    (lost,) = (place.root / "released").rglob("vocab.eneo.spm")
    report.write_text("another")
    lost.unlink()
    assert "other contents" in exported("publish", PARTITION, "released").out
    refused = exported("publish", PARTITION, "released", "--write")
    assert refused.code == 1
    assert "report.html. Nothing was copied." in refused.err
    assert (report.read_text(), lost.exists()) == ("another", False)
    assert exported("publish", PARTITION, "released", "--write", "--replace").code == 0
    assert report.read_text().startswith("<!doctype html>")
    assert lost.exists()


def test_where_copying_ended_no_metadata_stand(
    exported: Command, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = FolderDestination.put_file

    def full(destination: FolderDestination, name: str, source: Path) -> None:
        if name.endswith("config.yml"):
            raise StoreError("the disk is full")
        put(destination, name, source)

    monkeypatch.setattr(FolderDestination, "put_file", full)
    said = exported("publish", PARTITION, "released", "--write")
    assert (said.code, said.err.splitlines()[-1]) == (1, "error: the disk is full")
    assert not list((place.root / "released").rglob("metadata.json"))
    assert Project().store.publications() == []


def test_a_bucket(exported: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(BUCKET) as server:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", server.url)
        url = f"gs://{BUCKET}/released"
        answer = json.loads(exported("publish", PARTITION, url, "--json").out)
        assert server.names() == []
        assert exported("publish", PARTITION, url, "--write").code == 0
        assert set(server.names()) == {f"released/{one['name']}" for one in answer["files"]}
        (page,) = (name for name in server.names() if name.endswith("report.html"))
        assert server.storage.get_file_obj(BUCKET, page)["contentType"] == "text/html"
        sent = len(server.requests)
        again = exported("publish", PARTITION, url, "--write")
        assert again.out.startswith("All ")
        assert {request.split()[0] for request in server.requests[sent:]} == {"GET"}
        server.damage(page, b"another")
        assert exported("publish", PARTITION, url, "--write").code == 1
        assert exported("publish", PARTITION, url, "--write", "--replace").code == 0
        assert server.contents(page).startswith(b"<!doctype html>")


def test_failed_gates_are_named_before_they_are_passed_over(command: Command, place: Place) -> None:
    config = place.root / "configs" / f"{PARTITION}.yml"
    config.write_text(config.read_text().replace("training-collapse: {level: warn}", ""))
    make("evaluate_exported", checks=True, runner=MadeUpRunner({"train-student": 0.5}))
    told = command("publish", PARTITION, "released", "--json")
    (failed,) = json.loads(told.out)["failed_gates"]
    assert failed == "train_student training-collapse"
    refused = command("publish", PARTITION, "released", "--write")
    assert refused.code == 1
    assert failed in refused.err
    assert not (place.root / "released").exists()
    said = command("publish", PARTITION, "released", "--write", "--failed-gates")
    assert (said.code, failed in said.err) == (0, True)


def test_scores_and_gates_that_only_warn_are_told(command: Command, place: Place) -> None:
    make("evaluate_exported", checks=True, runner=MadeUpRunner({"train-student": 0.5}))
    for words in ((), ("--write",)):
        said = command("publish", PARTITION, "released", *words)
        assert said.code == 0
        notes = said.err.splitlines()
        assert any(
            "failed and only warn: " in note and "train_student training-collapse" in note for note in notes
        )
        assert any(re.fullmatch(r"note: its scores on \S+: BLEU 1\.0, chrF 2\.0.*", note) for note in notes)
    answer = json.loads(command("publish", PARTITION, "released", "--json").out)
    assert "train_student training-collapse" in answer["warning_gates"]
    assert [scores["chrf"] for scores in answer["scores"].values()] == [2.0]


def test_what_cannot_be_published(command: Command, place: Place) -> None:
    make("train_vocab")
    for destination, message in (
        ("state/store/released", "is in the store"),
        ("ftp://bucket/released", "Give a folder"),
        (f"configs/{PARTITION}.yml", "must be a folder"),
        ("released", f"To make it: translations train {PARTITION} --target export"),
    ):
        said = command("publish", PARTITION, destination, "--write")
        assert said.code == 1
        assert message in said.err
    assert list(place.root.glob("released*")) == []
