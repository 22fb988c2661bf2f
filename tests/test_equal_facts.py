"""Facts that stand twice, because one side cannot import the other, are equal on both sides."""

from __future__ import annotations

from pathlib import Path

from pipeline.common import downloads, local_files
from translations_assets.config import sources, web
from translations_assets.records import bundle
from translations_assets.runners.pod import bootstrap
from translations_assets.runners.pod.bundle import worker_bundle


def test_orchestrator_and_scripts_refuse_the_same_folders() -> None:
    assert sources.NEVER == local_files.NEVER


def test_orchestrator_and_scripts_find_buckets_at_the_same_address() -> None:
    assert web.GOOGLE_STORAGE == downloads.GOOGLE_STORAGE


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
