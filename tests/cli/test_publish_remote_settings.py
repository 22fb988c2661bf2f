"""`publish` to Remote Settings: records and attachments as Firefox fetches them."""

import hashlib
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from pipeline.eval import released
from tests.cli.conftest import Command, make
from tests.defs.runner import MadeUpRunner
from tests.end_to_end.tiny import PARTITION
from tests.kinto_server import LOGIN, KintoServer, kinto_server
from tests.publish.keys import make_key
from translations_assets.running.job import Job

LOGIN_VARIABLE = "TRANSLATIONS_REMOTE_SETTINGS_LOGIN"
# In the order of copying
NAMES = ("lex.50.50.eneo.s2t.bin", "vocab.eneo.spm", "model.eneo.intgemm.alphas.bin")


class Exporting(MadeUpRunner):
    """An export whose compressed files and records belong to each other."""

    def _contents(self, job: Job, name: str) -> bytes:
        if job.label.startswith("export") and name.endswith(".zst"):
            return zstandard.compress(contents_of(name.removesuffix(".zst")))
        if job.label.startswith("export") and name == "records.json":
            return json.dumps([record(name) for name in (NAMES[2], *NAMES[:2])]).encode()
        return super()._contents(job, name)


def contents_of(name: str) -> bytes:
    return f"the contents of {name}".encode() * 10


def record(name: str) -> dict[str, object]:
    contents, packed = contents_of(name), zstandard.compress(contents_of(name))
    return {
        "name": name,
        "fileType": name.split(".")[0],
        "sourceLanguage": "en",
        "targetLanguage": "eo",
        "architecture": "tiny",
        "decompressedHash": hashlib.sha256(contents).hexdigest(),
        "decompressedSize": len(contents),
        "attachment": {
            "hash": hashlib.sha256(packed).hexdigest(),
            "size": len(packed),
            "filename": f"{name}.zst",
            "mimetype": "application/zstd",
        },
    }


@pytest.fixture
def exported(command: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command, where the tiny pair is exported and evaluated."""
    make("evaluate_exported", checks=True, runner=Exporting())
    monkeypatch.setenv(LOGIN_VARIABLE, LOGIN)
    return command


@pytest.fixture
def workspace() -> Iterator[KintoServer]:
    with kinto_server("main-workspace") as server:
        yield server


def test_firefox_can_fetch_what_was_published(exported: Command, tmp_path: Path) -> None:
    """By the script that fetches Mozilla's models from Mozilla's server, which checks all digests."""
    with kinto_server("main") as server:
        url = f"{server.url}/buckets/main"
        asked = json.loads(exported("publish", PARTITION, url, "--json").out)
        assert (server.records, [one["name"] for one in asked["files"]]) == (
            None,
            [f"{n}.zst" for n in NAMES],
        )
        said = exported("publish", PARTITION, url, "--write")
        assert said.code == 0, said.err
        attachments = server.url.replace("/v1", "/attachments")
        words = ["--src", "en", "--trg", "eo", "--server", server.url, "--attachments", attachments]
        released.main([*words, "--output", str(tmp_path / "fetched")])
        assert server.status != "to-review"
    with tarfile.open(tmp_path / "fetched/model.tar") as files:
        found = {one.name: files.extractfile(one).read() for one in files}  # type: ignore[union-attr]
    assert found == {name: contents_of(name) for name in NAMES}
    stats = json.loads((tmp_path / "fetched/stats.json").read_text())
    assert stats["revision"] == "3.0"


def test_the_model_comes_last_and_nothing_twice(exported: Command, workspace: KintoServer) -> None:
    said = exported("publish", PARTITION, workspace.url, "--write")
    assert said.code == 0, said.err
    assert [one.rpartition("records/")[2] for one in workspace.requests if one.startswith("POST")] == [
        "en-eo-lex/attachment",
        "en-eo-vocab/attachment",
        "en-eo-model/attachment",
    ]
    assert workspace.status == "to-review"
    sent = len(workspace.requests)
    again = exported("publish", PARTITION, workspace.url, "--write")
    assert again.out.startswith("All 3 files are there: ")
    assert {request.split()[0] for request in workspace.requests[sent:]} == {"GET"}


def test_an_earlier_model_is_replaced_only_when_asked(exported: Command, workspace: KintoServer) -> None:
    assert exported("publish", PARTITION, workspace.url, "--write").code == 0
    assert workspace.records is not None
    pair = {"sourceLanguage": "en", "targetLanguage": "eo", "last_modified": 7}
    workspace.records["mozillas"] = {"id": "mozillas", "fileType": "vocab", **pair}
    workspace.records["other"] = {"id": "other", "fileType": "model", **pair, "targetLanguage": "ru"}
    workspace.records["en-eo-model"]["decompressedHash"] = "of another"
    refused = exported("publish", PARTITION, workspace.url, "--write")
    assert "vocab.eneo.spm.zst, model.eneo.intgemm.alphas.bin.zst. Nothing was copied" in refused.err
    assert exported("publish", PARTITION, workspace.url, "--write", "--replace").code == 0
    assert set(workspace.records) == {"en-eo-model", "en-eo-lex", "en-eo-vocab", "other"}
    assert exported("publish", PARTITION, workspace.url, "--write").out.startswith("All 3 files")


def test_what_an_interruption_left_is_done_by_the_next_publication(
    exported: Command, workspace: KintoServer
) -> None:
    """The removal of an earlier model's file broke off after its model, then the request for a review."""
    workspace.records = {}
    pair = {"sourceLanguage": "en", "targetLanguage": "eo", "last_modified": 7}
    workspace.records["mozillas"] = {"id": "mozillas", "fileType": "srcvocab", **pair}
    workspace.refused = {"PATCH": 1}
    assert exported("publish", PARTITION, workspace.url, "--write").code == 1
    assert (set(workspace.records), workspace.status) == (
        {"en-eo-model", "en-eo-lex", "en-eo-vocab"},
        "work-in-progress",
    )
    again = exported("publish", PARTITION, workspace.url, "--write")
    assert (again.code, workspace.status) == (0, "to-review")


def test_signatures_have_no_place_there(exported: Command, workspace: KintoServer, tmp_path: Path) -> None:
    make_key(tmp_path / "model.key")
    said = exported("publish", PARTITION, workspace.url, "--write", "--sign-key", str(tmp_path / "model.key"))
    assert said.code == 1
    assert "takes no signatures. Publish there without --sign-key." in said.err
    assert workspace.records is None


def test_an_answer_that_got_lost(
    exported: Command, workspace: KintoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record was made, the request is made again, and its condition does not hold any more."""
    monkeypatch.setattr("translations_assets.publish.kinto.asked_pause", lambda header: 0.0)
    workspace.lost = 2
    assert exported("publish", PARTITION, workspace.url, "--write").code == 0
    assert len(workspace.records or ()) == 3


def test_a_record_that_somebody_else_writes(
    exported: Command, workspace: KintoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_record = workspace._record

    def overtaken(method: str, name: str, headers: object, body: bytes) -> object:
        assert workspace.records is not None
        workspace.records.setdefault(name, {"id": name, "last_modified": 7})
        return make_record(method, name, headers, body)  # type: ignore[arg-type]

    monkeypatch.setattr(workspace, "_record", overtaken)
    said = exported("publish", PARTITION, workspace.url, "--write")
    assert said.code == 1
    assert "somebody else writes at this moment (412). Publish again." in said.err


def test_logins(exported: Command, workspace: KintoServer, monkeypatch: pytest.MonkeyPatch) -> None:
    host = workspace.url.removeprefix("http://")
    said = exported("publish", PARTITION, f"http://{LOGIN}@{host}")
    assert "must hold no login" in said.err
    monkeypatch.delenv(LOGIN_VARIABLE)
    said = exported("publish", PARTITION, workspace.url, "--write")
    assert said.code == 1
    assert "does not know you (401)" in said.err
    assert workspace.records is None
