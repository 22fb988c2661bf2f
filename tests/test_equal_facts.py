"""Facts that stand twice, because one side cannot import the other, are equal on both sides."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from pipeline.common import marian_options
from translations_assets.common.settings import repository_root
from translations_assets.config import continuation
from translations_assets.records import bundle
from translations_assets.runners.pod import bootstrap
from translations_assets.runners.pod.bundle import worker_bundle


def test_no_address_stands_in_a_script_and_in_the_orchestrator() -> None:
    """Records of providers read those of the scripts from `config/known.json`."""
    scripts = addresses(repository_root() / "pipeline")
    own = addresses(repository_root() / "translations_assets" / "config")
    assert len(scripts) > 5
    assert len(own) > 3
    twice = [
        (one, other) for one in own for other in scripts if one.startswith(other) or other.startswith(one)
    ]
    assert twice == []


def addresses(folder: Path) -> set[str]:
    """The URLs in the code below a folder, those in f-strings up to the first value."""
    nodes = (node for path in folder.rglob("*.py") for node in ast.walk(ast.parse(path.read_text("utf-8"))))
    texts = {str(node.value) for node in nodes if isinstance(node, ast.Constant)}
    return {text for text in texts if re.match(r"https?://\w", text)}


def test_the_options_that_shape_a_model() -> None:
    assert continuation.SHAPING == marian_options.SHAPING


def test_a_pod_unpacks_a_bundle_as_the_worker_does(tmp_path: Path) -> None:
    """A pod's first code can import nothing of the project."""
    bundle.unpack(worker_bundle(), tmp_path / "worker")
    bootstrap.unpack(worker_bundle(), tmp_path / "pod")
    found, expected = files(tmp_path / "pod"), files(tmp_path / "worker")
    assert len(expected) > 50
    assert found == expected


def files(folder: Path) -> dict[str, bytes]:
    """Path → contents, of all files below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
