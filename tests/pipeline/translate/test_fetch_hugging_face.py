"""Models of the Hugging Face hub are fetched from a mirror in its form."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import requests

from pipeline.common import downloads, web
from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.packed import unpack
from pipeline.translate.fetch_hugging_face import main
from tests.http_server import http_server

SHA = "0123456789abcdef0123456789abcdef01234567"
NAME = "Helsinki-NLP/opus-mt-en-xx"
API = f"/api/models/{NAME}/revision/main?blobs=true"
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
MODEL = {"config.json": b"{}", "vocab.json": b"{ }", "model.safetensors": b"weights" * 20_000}


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror, and a network in which nothing else exists."""
    monkeypatch.setenv("TRANSLATIONS_MIRROR", str(tmp_path / "mirror"))

    def nothing(url: str, progress: object) -> web.Chunks:
        raise web.NotFound(f"No file can be read at {url}.")
        yield b""

    monkeypatch.setattr(downloads, "from_server", nothing)
    return tmp_path / "mirror"


def add_model(mirror: Path, files: dict[str, bytes], revision: str = "main", **told: object) -> None:
    """Put a model of the hub into a mirror."""
    hub = mirror / "huggingface.co"
    for file, content in files.items():
        path = hub / NAME / "resolve" / SHA / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    answer = hub / "api" / "models" / NAME / "revision" / f"{revision}?blobs=true"
    answer.parent.mkdir(parents=True, exist_ok=True)
    answer.write_text(json.dumps({"sha": SHA, "siblings": siblings(files), **told}))


def siblings(files: dict[str, bytes]) -> list[dict[str, Any]]:
    """What the hub says of files: of weights the SHA-256, of others the name of their object in git."""
    return [
        {
            "rfilename": name,
            "blobId": git_name(content),
            **({"lfs": {"sha256": hashlib.sha256(content).hexdigest()}} if name in WEIGHTS else {}),
        }
        for name, content in files.items()
    ]


def git_name(content: bytes) -> str:
    """The name of an object of these contents, as `git hash-object` gives it."""
    asked = ["git", "hash-object", "--stdin"]
    return subprocess.run(asked, input=content, capture_output=True, check=True).stdout.decode().strip()


def fetched(folder: Path, revision: str = "main") -> tuple[dict[str, bytes], Any]:
    output = folder / "out"
    main(["--model", NAME, "--revision", revision, "--output", str(output)])
    model = unpack(output / "model.tar", folder / "model")
    files = {path.name: path.read_bytes() for path in model.iterdir()}
    return files, json.loads((output / "stats.json").read_text())


def test_what_a_conversion_needs_is_fetched_and_nothing_else(tmp_path: Path, mirror: Path) -> None:
    needed = {name: name.encode() for name in ("config.json", "vocab.json", "source.spm", "target.spm")}
    needed["pytorch_model.bin"] = b"weights"
    other = {"README.md": b"?", "tf_model.h5": b"?", "rust_model.ot": b"?"}
    add_model(mirror, needed | other, "v1", cardData={"license": "cc-by-4.0"})
    files, stats = fetched(tmp_path, "v1")
    assert files == needed
    assert (stats["revision"], stats["licence"]) == (SHA, "cc-by-4.0")
    weights = stats["source"][-1]
    assert weights["url"].endswith(f"{NAME}/resolve/{SHA}/pytorch_model.bin")
    assert weights["sha256"] == hashlib.sha256(b"weights").hexdigest()


def test_some_files_alone_are_fetched_without_weights(tmp_path: Path, mirror: Path) -> None:
    add_model(mirror, {**MODEL, "spiece.model": b"pieces"})
    words = ["--model", NAME, "--revision", "main", "--files", "spiece.model"]
    main([*words, "--output", str(tmp_path / "out")])
    assert [path.name for path in unpack(tmp_path / "out/model.tar", tmp_path / "m").iterdir()] == [
        "spiece.model"
    ]
    with pytest.raises(InputError, match=f"{NAME} has no other.model"):
        main([*words, "other.model", "--output", str(tmp_path / "none")])


def test_safetensors_come_before_pickles_and_parts_with_their_index(tmp_path: Path, mirror: Path) -> None:
    parts = {"model-1.safetensors": b"one", "model-2.safetensors": b"two"}
    index = {
        "weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors", "c": "model-1.safetensors"}
    }
    files = {"config.json": b"{}", "model.safetensors.index.json": json.dumps(index).encode(), **parts}
    add_model(mirror, files | {"pytorch_model.bin": b"old"}, cardData={"license": ["mit", "apache-2.0"]})
    found, stats = fetched(tmp_path)
    assert found == files
    assert stats["licence"] == "mit, apache-2.0"


@pytest.mark.parametrize(
    ("files", "answer", "said"),
    [
        ({"config.json": b"{}"}, None, "It has no weights"),
        ({"config.json": b"{}", "model.safetensors.index.json": b"{}"}, None, "is no index of weights"),
        ({"config.json": b"{}"}, {"sha": "main"}, "names no commit, or no files"),
    ],
)
def test_what_is_no_model_is_told(
    tmp_path: Path, mirror: Path, files: dict[str, bytes], answer: dict[str, str] | None, said: str
) -> None:
    add_model(mirror, files)
    if answer:
        told = mirror / "huggingface.co" / "api" / "models" / NAME / "revision" / "main?blobs=true"
        told.write_text(json.dumps(answer))
    with pytest.raises(InputError, match=said):
        fetched(tmp_path)
    assert not [*tmp_path.glob("out/*")]


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ({"license": "other", "license_name": "nllb"}, "nllb"),
        ({"license": "other"}, "other"),
        ({}, ""),
    ],
)
def test_a_licence_that_the_hub_has_no_name_for(
    tmp_path: Path, mirror: Path, declared: dict[str, str], expected: str
) -> None:
    add_model(mirror, MODEL, cardData=declared)
    assert fetched(tmp_path)[1]["licence"] == expected


def test_a_part_that_the_commit_lacks_is_told(tmp_path: Path, mirror: Path) -> None:
    index = json.dumps({"weight_map": {"a": "model-9.safetensors"}}).encode()
    add_model(mirror, {"config.json": b"{}", "model.safetensors.index.json": index})
    with pytest.raises(InputError, match=r"names model-9\.safetensors, which .* lacks"):
        fetched(tmp_path)


def test_a_small_file_that_is_another_one_is_refused(tmp_path: Path, mirror: Path) -> None:
    add_model(mirror, MODEL)
    (mirror / "huggingface.co" / NAME / "resolve" / SHA / "vocab.json").write_bytes(b"{x}")
    with pytest.raises(InputError, match=r"vocab\.json is not the file that was published: git calls it"):
        fetched(tmp_path)
    assert not [*tmp_path.glob("out/*")]


@dataclass
class Hub:
    """Path → what is there; `first` are statuses of the first answers for a path, `cut` half of a file."""

    files: dict[str, bytes] = field(default_factory=dict)
    first: dict[str, list[int]] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    tokens: set[str] = field(default_factory=set)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A server on this machine that answers in the hub's place."""
    hub = Hub({f"/{NAME}/resolve/{SHA}/{name}": content for name, content in MODEL.items()})
    hub.files[API] = json.dumps({"sha": SHA, "siblings": siblings(MODEL)}).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hub.tokens.add(self.headers.get("Authorization", ""))
            content, waiting = hub.files.get(self.path, b""), hub.first.get(self.path, [])
            status = waiting.pop(0) if waiting else 200 if self.path in hub.files else 404
            self.send_response(status)
            self.send_header("Retry-After", "1")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            cut = self.path in hub.cut
            hub.cut.discard(self.path)
            self.wfile.write(content[: len(content) // 2] if cut else content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    monkeypatch.setattr(web, "PAUSE", 0.001)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.delenv("TRANSLATIONS_MIRROR", raising=False)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    get = requests.get
    with http_server(Handler) as here:

        def from_here(url: str, **options: Any) -> requests.Response:
            return get(url.replace("https://huggingface.co", here), **options)

        monkeypatch.setattr(requests, "get", from_here)
        yield hub


def test_answers_that_fail_and_files_that_are_cut_off_are_asked_for_again(tmp_path: Path, hub: Hub) -> None:
    weights = f"/{NAME}/resolve/{SHA}/model.safetensors"
    hub.first = {API: [503, 429], weights: [500]}
    hub.cut = {weights}
    files, stats = fetched(tmp_path)
    assert files == MODEL
    assert stats["revision"] == SHA


def test_a_hub_that_is_down_is_worth_another_attempt(tmp_path: Path, hub: Hub) -> None:
    hub.first = {API: [503] * 9}
    with pytest.raises(TemporaryError, match="the server answered 503"):
        fetched(tmp_path)


def test_weights_that_are_other_ones_are_refused(tmp_path: Path, hub: Hub) -> None:
    hub.files[f"/{NAME}/resolve/{SHA}/model.safetensors"] = b"other" * 28_000
    with pytest.raises(
        InputError, match=r"model\.safetensors is not the file that was published: its SHA-256"
    ):
        fetched(tmp_path)
    assert not [*tmp_path.glob("out/*")]


@pytest.mark.parametrize("status", [401, 403, 404])
@pytest.mark.parametrize("path", [API, f"/{NAME}/resolve/{SHA}/config.json"])
def test_a_gated_model_is_told_with_the_remedy(tmp_path: Path, hub: Hub, path: str, status: int) -> None:
    hub.first = {path: [status]}
    with pytest.raises(
        InputError, match=rf"answered {status} .*accept its licence at .*/{NAME}, and set HF_TOKEN"
    ):
        fetched(tmp_path)


def test_the_token_is_sent_where_there_is_one(
    tmp_path: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched(tmp_path / "without")
    assert hub.tokens == {""}
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    fetched(tmp_path / "with")
    assert hub.tokens == {"", "Bearer hf_secret"}
    assert b"hf_secret" not in b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
