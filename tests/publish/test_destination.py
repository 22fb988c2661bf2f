"""The files of a destination: durable in the order that leaves nothing half there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from translations_assets.publish.destination import FolderDestination


def test_a_file_is_durable_before_it_has_its_name_and_then_its_name_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order of fsync and rename: after a power cut a name has whole contents, or is none."""
    (tmp_path / "model").write_bytes(b"weights")
    calls: list[str] = []
    replace = Path.replace

    def sync(descriptor: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        size = path.stat().st_size if path.is_file() else -1
        calls.append("sync folder" if path.is_dir() else f"sync {size} bytes under {path.suffix}")

    def renamed(path: Path, target: Path) -> Path:
        calls.append(f"rename to {target.name}")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", renamed)
    destination = FolderDestination(tmp_path / "published")
    destination.put_file("models/en-eo/model.bin", tmp_path / "model")
    assert calls == ["sync 7 bytes under .new", "rename to model.bin", "sync folder"]
    assert (tmp_path / "published/models/en-eo/model.bin").read_bytes() == b"weights"
    assert destination.state("models/en-eo/model.bin", tmp_path / "model") == "same"
    (tmp_path / "model").write_bytes(b"others.")
    assert destination.state("models/en-eo/model.bin", tmp_path / "model") == "different"
    assert destination.state("models/en-eo/other.bin", tmp_path / "model") == "new"
    assert [path.name for path in (tmp_path / "published/models/en-eo").iterdir()] == ["model.bin"]
