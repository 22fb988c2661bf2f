"""Models of the Hugging Face hub are fetched from a mirror in its form."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.common import downloads, web
from pipeline.common.errors import InputError
from pipeline.common.packed import unpack
from pipeline.translate.fetch_hugging_face import main

SHA = "0123456789abcdef0123456789abcdef01234567"
NAME = "Helsinki-NLP/opus-mt-en-xx"


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
    answer = hub / "api" / "models" / NAME / "revision" / revision
    answer.parent.mkdir(parents=True, exist_ok=True)
    siblings = [{"rfilename": file} for file in files]
    answer.write_text(json.dumps({"sha": SHA, "siblings": siblings, **told}))


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
        told = mirror / "huggingface.co" / "api" / "models" / NAME / "revision" / "main"
        told.write_text(json.dumps(answer))
    with pytest.raises(InputError, match=said):
        fetched(tmp_path)
    assert not [*tmp_path.glob("out/*")]
