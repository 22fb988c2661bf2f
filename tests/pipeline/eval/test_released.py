"""The model that Firefox ships, fetched from a server that answers as Remote Settings does."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import zstandard

from pipeline.common.archives import members
from pipeline.common.errors import InputError
from pipeline.common.packed import unpack
from pipeline.eval.fetch_compared import main as fetch_compared
from pipeline.eval.released import is_released, main
from pipeline.eval.unpacking import unpack_file
from tests.http_server import http_server

DESKTOP = "env.appinfo.OS != 'Android' || env.channel != 'release'"
NIGHTLY = "env.channel == 'default' || env.channel == 'nightly'"
MODEL, LEX, VOCAB = "model.enru.intgemm.alphas.bin", "lex.50.50.enru.s2t.bin", "vocab.enru.spm"

Answers = dict[str, bytes]


@contextmanager
def server(answers: Answers) -> Iterator[str]:
    """A server that gives each path, with its query, its answer."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = answers.get(self.path, b"")
            self.send_response(200 if found else 404)
            self.send_header("Content-Length", str(len(found)))
            self.end_headers()
            self.wfile.write(found)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http_server(Handler) as address:
        yield address


def record(answers: Answers, name: str, version: str, seen_by: str = "", **more: Any) -> dict[str, Any]:
    """A record in the layout of `translations-models-v2`, whose attachment is put among the answers."""
    content = f"{name} of {version} for {seen_by}".encode()
    packed = zstandard.compress(content)
    location = f"main-workspace/translations-models-v2/{hashlib.md5(content).hexdigest()}.zst"
    answers[f"/cdn/{location}"] = packed
    told = {
        "name": name,
        "schema": 1749570042331,
        "version": version,
        "fileType": name.partition(".")[0],
        "attachment": {
            "hash": hashlib.sha256(packed).hexdigest(),
            "size": len(packed),
            "filename": f"{name}.zst",
            "location": location,
            "mimetype": "application/zstd",
        },
        "architecture": "base-memory",
        "sourceLanguage": "en",
        "targetLanguage": "ru",
        "decompressedHash": hashlib.sha256(content).hexdigest(),
        "decompressedSize": len(content),
        "filter_expression": seen_by,
        "id": hashlib.md5(location.encode()).hexdigest(),
        "last_modified": 1749570511392,
    }
    return {**told, **more}


def remote_settings(answers: Answers, records: list[dict[str, Any]]) -> None:
    """Add the answer of Remote Settings itself."""
    asked = "/v1/buckets/main/collections/translations-models-v2/records?sourceLanguage=en&targetLanguage=ru"
    answers[asked] = json.dumps({"data": records}).encode()


def fetched(answers: Answers, folder: Path) -> Path:
    with server(answers) as address:
        servers = ["--server", f"{address}/v1", "--attachments", f"{address}/cdn"]
        main(["--src", "en", "--trg", "ru", *servers, "--output", str(folder / "out")])
    return unpack(folder / "out" / "model.tar", folder / "files")


def test_the_newest_whole_release_is_fetched(tmp_path: Path) -> None:
    answers: Answers = {}
    old = [record(answers, name, "2.0") for name in (MODEL, VOCAB, LEX)]
    new = [record(answers, name, "3.1", DESKTOP) for name in (LEX, VOCAB, MODEL)]
    android = [record(answers, name, "3.1", "env.appinfo.OS == 'Android'") for name in (MODEL, VOCAB)]
    nightly = [record(answers, name, "4.0", NIGHTLY) for name in (MODEL, VOCAB)]
    trial = [record(answers, name, "3.1a2") for name in (MODEL, VOCAB)]
    half = [record(answers, MODEL, "3.2")]
    other = [
        record(answers, MODEL, "9.0", targetLanguage="uk"),
        record(answers, VOCAB, "9.0", targetLanguage="uk"),
    ]
    quality = [record(answers, "qualityModel.enru.bin", "3.1", DESKTOP)]
    remote_settings(answers, [*nightly, *old, *new, *android, *trial, *half, *other, *quality])
    files = fetched(answers, tmp_path)
    assert {path.name for path in files.iterdir()} == {MODEL, LEX, VOCAB}
    for path in files.iterdir():
        assert path.read_text() == f"{path.name} of 3.1 for {DESKTOP}"
    stats = json.loads((tmp_path / "out" / "stats.json").read_text())
    assert stats["revision"] == "3.1"
    digests = {told["attachment"]["hash"] for told in new}
    assert {source["sha256"] for source in stats["source"]} == digests
    told = json.loads((tmp_path / "out" / "records.json").read_text())
    assert {one["id"] for one in told} == {one["id"] for one in new}


@pytest.mark.parametrize(
    ("seen_by", "released"),
    [
        ("", True),
        (DESKTOP, True),
        ("env.appinfo.OS != 'Android'", True),
        ('env.channel == "release" && env.appinfo.OS != "Android"', True),
        ("env.channel == 'release' && env.appinfo.OS == 'Android'", False),
        ("env.channel == 'default' || env.channel == 'nightly' || env.channel == 'beta'", False),
        (NIGHTLY, False),
        ("env.version|versionCompare('150.0a1') >= 0", False),
        ("env.channel == 'release' && env.version|versionCompare('150.0a1') >= 0", False),
    ],
)
def test_who_sees_a_record(seen_by: str, released: bool) -> None:
    assert is_released(seen_by) is released


def test_a_model_with_two_vocabularies_and_no_shortlist(tmp_path: Path) -> None:
    answers: Answers = {}
    names = [MODEL, "srcvocab.enru.spm", "trgvocab.enru.spm"]
    remote_settings(answers, [record(answers, name, "3.0") for name in names])
    assert sorted(path.name for path in fetched(answers, tmp_path).iterdir()) == sorted(names)


def test_a_pair_without_a_release_is_told(tmp_path: Path) -> None:
    answers: Answers = {}
    remote_settings(answers, [record(answers, name, "3.0", NIGHTLY) for name in (MODEL, VOCAB)])
    with pytest.raises(InputError, match=r"no model from en to ru.*final-evaluation\.released to false"):
        fetched(answers, tmp_path)
    assert not any((tmp_path / "out").iterdir())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"decompressedHash": "0" * 64}, f"{MODEL} has the SHA-256 .* says 0000"),
        ({"attachment": {"hash": "0" * 64}}, "is not the file that was published: its SHA-256 is"),
    ],
)
def test_a_file_that_is_not_that_of_its_record_is_refused(
    tmp_path: Path, change: dict[str, Any], says: str
) -> None:
    answers: Answers = {}
    model, vocab = (record(answers, name, "3.0") for name in (MODEL, VOCAB))
    attachment = {"attachment": {**model["attachment"], **change.get("attachment", {})}}
    remote_settings(answers, [{**model, **change, **attachment}, vocab])
    with pytest.raises(InputError, match=says):
        fetched(answers, tmp_path)
    assert not any((tmp_path / "out").iterdir())


@pytest.mark.parametrize("answer", [b"[]", b"no JSON", b'{"data": [{"name": "model"}]}', b'{"data": null}'])
def test_another_layout_of_the_server_is_told(tmp_path: Path, answer: bytes) -> None:
    answers: Answers = {}
    remote_settings(answers, [])
    answers = {path: answer if "records" in path else old for path, old in answers.items()}
    with pytest.raises(InputError, match="does not answer as Remote Settings did"):
        fetched(answers, tmp_path)


def test_a_folder_of_mozillas_bucket_is_fetched_unpacked(tmp_path: Path) -> None:
    content = {MODEL: b"model", VOCAB: b"vocabulary", LEX: b"shortlist"}
    answers = {f"/exported/{name}.gz": gzip.compress(text) for name, text in content.items()}
    with server(answers) as address:
        source = ["--form", "firefox", "--src", "en", "--trg", "ru", "--url", f"{address}/exported/"]
        fetch_compared([*source, "--output", str(tmp_path / "out")])
    files = unpack(tmp_path / "out" / "model.tar", tmp_path / "files")
    assert {path.name: path.read_bytes() for path in files.iterdir()} == content
    stats = json.loads((tmp_path / "out" / "stats.json").read_text())
    assert [source["sha256"] for source in stats["source"]] == [
        hashlib.sha256(answers[f"/exported/{name}.gz"]).hexdigest() for name in (MODEL, VOCAB, LEX)
    ]


@pytest.mark.parametrize(("end", "cut"), [(".zst", 0.9), (".gz", 0.9), (".zst", 0), (".gz", 0), ("", 0)])
def test_a_file_that_was_cut_off_is_no_model(tmp_path: Path, end: str, cut: float) -> None:
    """An interrupted copy leaves such; zstd may say nothing if it is cut between two blocks."""
    content = random.Random(1).randbytes(1_000_000)
    whole = gzip.compress(content) if end == ".gz" else zstandard.compress(content)
    file = tmp_path / f"{MODEL}{end}"
    file.write_bytes(whole[: int(cut * len(whole))])
    with pytest.raises(InputError, match=rf"{file.name} is damaged \(.*\)\. Fetch it again"):
        unpack_file(file, tmp_path / "unpacked")


@pytest.mark.parametrize(
    "vocabulary",
    [
        ["shared_vocabulary.json"],
        ["source_vocabulary.json", "target_vocabulary.json"],
        ["source_vocabulary.json", "target_vocabulary.json", "tokens.json"],
    ],
)
def test_a_folder_of_ctranslate2_is_fetched(tmp_path: Path, vocabulary: list[str]) -> None:
    names = ["model.bin", "config.json", "source.spm", "target.spm", *vocabulary]
    (tmp_path / "model").mkdir()
    for name in [*names, "README.md"]:
        (tmp_path / "model" / name).write_text(name)
    source = ["--form", "ctranslate2", "--src", "en", "--trg", "ru", "--url", (tmp_path / "model").as_uri()]
    fetch_compared([*source, "--output", str(tmp_path / "out")])
    assert members(tmp_path / "out" / "model.tar") == sorted(names)


def test_a_folder_that_lacks_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / f"{MODEL}").write_text("model")
    source = ["--form", "firefox", "--src", "en", "--trg", "ru", "--url", tmp_path.as_uri()]
    with pytest.raises(InputError, match=r"holds neither vocab\.enru\.spm nor srcvocab\.enru\.spm"):
        fetch_compared([*source, "--output", str(tmp_path / "out")])
