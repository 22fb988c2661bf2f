"""Tests of the files that a file:// URL may name, by the command that imports datasets."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.common.local_files import NEVER, readable


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("TRANSLATIONS_FILES", "TRANSLATIONS_MIRROR", "TRANSLATIONS_KEYS"):
        monkeypatch.delenv(name, raising=False)
    text = tmp_path / "data" / "text.en"
    text.parent.mkdir()
    text.write_text("A line.\n")
    return text


def imported(tmp_path: Path, url: str) -> subprocess.CompletedProcess[str]:
    options = ["--dataset", url, "--lang", "en", "--code", "en", "--max-sentences", "9", "--output", "out"]
    command = [sys.executable, "-m", "pipeline.data.mono_url", *options]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[3])}
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "file:///proc/self/environ", "file:///etc/passwd?en"])
def test_files_of_the_system_are_never_imported(tmp_path: Path, text: Path, url: str) -> None:
    done = imported(tmp_path, url)
    assert done.returncode == 1
    assert "is a file of the system" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("out/*"))


def test_a_person_imports_any_file_of_their_own(tmp_path: Path, text: Path) -> None:
    done = imported(tmp_path, f"file://{text}")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "mono.en.zst").is_file()


@pytest.mark.parametrize("place", NEVER)
def test_what_leads_to_files_of_the_system_is_one(tmp_path: Path, text: Path, place: str) -> None:
    (tmp_path / "link").symlink_to(place)
    for path in (Path(place), Path(place) / "x", tmp_path / "link" / "x", text.parent / ".." / ".." / "link"):
        if not str(path).endswith("../link"):
            with pytest.raises(InputError, match="is a file of the system"):
                readable(path)


def test_folders_bound_what_may_be_read(tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (text.parent / "link").symlink_to(tmp_path / "other")
    monkeypatch.setenv("TRANSLATIONS_FILES", f"/nowhere:{text.parent}")
    assert readable(text) == text
    outside = [tmp_path / "other", text.parent / ".." / "other", text.parent / "link", tmp_path / "data2"]
    for path in outside:
        with pytest.raises(InputError, match=f"files may lie below /nowhere, {re.escape(str(text.parent))}"):
            readable(path)
    monkeypatch.setenv("TRANSLATIONS_FILES", "/")
    assert readable(tmp_path / "other") == tmp_path / "other"
    with pytest.raises(InputError, match="is a file of the system"):
        readable(Path("/etc/passwd"))


def test_without_folders_only_the_mirror_is_left(
    tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_FILES", "")
    with pytest.raises(InputError, match="files may lie nowhere"):
        readable(text)
    monkeypatch.setenv("TRANSLATIONS_MIRROR", "gs://bucket/mirror")
    with pytest.raises(InputError, match="files may lie nowhere"):
        readable(text)
    monkeypatch.setenv("TRANSLATIONS_MIRROR", str(text.parent))
    assert readable(text) == text


def test_keys_are_no_datasets(tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(text)
    monkeypatch.setenv("TRANSLATIONS_KEYS", f"/nowhere:{text}")
    for path in (text, tmp_path / "link"):
        with pytest.raises(InputError, match="one with keys"):
            readable(path)
    monkeypatch.setenv("TRANSLATIONS_FILES", str(text.parent))
    assert imported(tmp_path, f"file://{text}").returncode == 1
