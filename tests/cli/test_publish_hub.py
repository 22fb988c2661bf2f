"""`publish` to a repository of the Hugging Face hub: one commit, and a card that the hub accepts."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from huggingface_hub import ModelCard, close_session, constants

from tests.cli.conftest import Command, make
from tests.end_to_end.tiny import PARTITION, Place
from tests.hub_server import NAME, TOKEN, HubServer, hub_server

# The hub's library sends a file as its own library of HTTP would have it otherwise
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")
URL = f"hf://{NAME}"
CARD = "README.md"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """A hub with an empty repository, and a token that may write to it."""
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)  # whose servers are others
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with hub_server() as server:
        monkeypatch.setattr(constants, "ENDPOINT", server.url)
        yield server
        close_session()


@pytest.fixture
def exported(command: Command, place: Place) -> Command:
    """The command, where the tiny pair is exported, evaluated and has a licence."""
    make("evaluate_exported", checks=True)
    state_licence(place, "cc-by-4.0")
    return command


def state_licence(place: Place, licence: str) -> None:
    path = place.root / "configs" / f"{PARTITION}.yml"
    text = "".join(line for line in path.read_text().splitlines(True) if "licence:" not in line)
    path.write_text(text.replace("  trg: eo\n", f"  trg: eo\n  licence: {licence}\n"))


def test_one_commit_has_all_files(exported: Command, hub: HubServer) -> None:
    asked = json.loads(exported("publish", PARTITION, URL, "--json").out)
    assert (hub.commits, asked["url"]) == (1, f"{hub.url}/{NAME}")
    said = exported("publish", PARTITION, URL, "--write")
    assert said.code == 0, said.err
    assert hub.commits == 2
    names = set(hub.files) - {".gitattributes"}
    assert names == {one["name"] for one in asked["files"]}
    assert {"README.md", "report.html", "config.yml", "exported/metadata.json"} < names
    assert {"provenance.intoto.json", "sbom.cdx.json"} < names
    assert {name.split("/")[0] for name in names if "/" in name} == {"exported", "evaluation"}
    assert yaml.safe_load(hub.files["config.yml"])["experiment"]["licence"] == "cc-by-4.0"
    assert "exported/vocab.eneo.spm.zst" in hub.large
    again = exported("publish", PARTITION, URL, "--write")
    assert again.out == f"All {len(names)} files are there: {hub.url}/{NAME}\n"
    assert hub.commits == 2


def test_the_card_is_what_the_hub_reads(exported: Command, hub: HubServer) -> None:
    assert exported("publish", PARTITION, URL, "--write").code == 0
    told: Any = ModelCard(hub.files[CARD].decode()).data
    assert (told.language, told.license, told.pipeline_tag) == (["en", "eo"], "cc-by-4.0", "translation")
    assert (told.library_name, told.metrics, told.datasets) == ("fxtranslate", ["bleu", "chrf"], None)
    assert [(one.dataset_name, one.metric_type, one.metric_value) for one in told.eval_results] == [
        ("tiny", "bleu", 1.0),
        ("tiny", "chrf", 2.0),
    ]
    assert told.model_name == PARTITION
    assert "published under cc-by-4.0" in hub.files[CARD].decode()


def test_without_a_licence_nothing_is_published(command: Command, place: Place, hub: HubServer) -> None:
    make("evaluate_exported")
    for words in ((), ("--write",)):
        said = command("publish", PARTITION, URL, *words)
        assert said.code == 1
        assert "`licence: cc-by-4.0`" in said.err
    assert hub.requests == []


def test_a_licence_that_the_hub_does_not_know(exported: Command, place: Place, hub: HubServer) -> None:
    state_licence(place, "my-own")
    said = exported("publish", PARTITION, URL, "--write")
    assert said.code == 1
    assert '"license" must be one of [cc-by-4.0' in said.err
    assert hub.commits == 1


def test_another_model_replaces_all_of_the_first(exported: Command, place: Place, hub: HubServer) -> None:
    assert exported("publish", PARTITION, URL, "--write").code == 0
    hub.files |= {"exported/lex.old.bin": b"old", "exported/metadata.json": b"{}", "notes.md": b"mine"}
    hub.files |= {"model.sig": b"of another", "provenance.sigstore.json": b"of another"}
    refused = exported("publish", PARTITION, URL, "--write")
    assert "exported/metadata.json. Nothing was copied" in refused.err
    assert hub.commits == 2
    assert exported("publish", PARTITION, URL, "--write", "--replace").code == 0
    assert hub.files["exported/metadata.json"] != b"{}"
    assert not {"exported/lex.old.bin", "model.sig", "provenance.sigstore.json"} & set(hub.files)
    assert hub.files["notes.md"] == b"mine"


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (403, "does not let you write to someone/en-eo (403). Set HF_TOKEN"),
        (412, "Somebody else writes to someone/en-eo at this moment. Publish again."),
        (501, "Publish again later."),
    ],
)
def test_what_the_hub_refuses(exported: Command, hub: HubServer, status: int, message: str) -> None:
    hub.status = status
    said = exported("publish", PARTITION, URL, "--write")
    assert said.code == 1
    assert message in said.err
    assert hub.commits == 1


def test_a_large_file_that_does_not_arrive(
    exported: Command, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = hub.answer

    def lost(method: str, path: str, body: bytes, token: str) -> tuple[int, object]:
        return (507, {}) if method == "PUT" else answer(method, path, body, token)

    monkeypatch.setattr(hub, "answer", lost)
    said = exported("publish", PARTITION, URL, "--write")
    assert (said.code, hub.commits) == (1, 1)
    assert "507" in said.err
    assert "Nothing was published. Publish again later." in said.err


def test_a_commit_of_somebody_else_in_between(
    exported: Command, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = hub._written

    def moved(what: str, body: bytes) -> tuple[int, object]:
        hub.commits += what == "preupload"
        return written(what, body)

    monkeypatch.setattr(hub, "_written", moved)
    assert "Somebody else writes" in exported("publish", PARTITION, URL, "--write").err
    assert set(hub.files) == {".gitattributes"}


def test_repositories_that_cannot_be_found(
    exported: Command, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = exported("publish", PARTITION, "hf://someone/other")
    assert (
        f"no repository of models someone/other that this token can see. Make it at {hub.url}/new" in said.err
    )
    assert "Write hf://owner/name." in exported("publish", PARTITION, "hf://someone").err
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    assert "cannot be reached" in exported("publish", PARTITION, URL).err
