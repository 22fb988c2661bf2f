"""Cached graphs of training configs are those that would be made, as long as nothing changes."""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.config.texts import SMALL
from translations_assets.config.load import parse_config
from translations_assets.configs.cached import KnownConfig, KnownConfigs
from translations_assets.configs.training_configs import ReadConfig
from translations_assets.keys import remembered
from translations_assets.project import Project
from translations_assets.records.encoding import seal_bytes

CODE, FILTERS = "pipeline/clean/filters.py", "pipeline/clean/filters/en.json"
LOCK = "requirements/main.lock"

# The steps of a training config, and which of the libraries that only reading one needs were imported.
GRAPH = """
import sys
from translations_assets.cli.main import main
sys.argv = ["translations", "graph", "en-ru.small", "--show", "target", "--target", "train-student"]
try:
    main()
finally:
    print(*sorted({"pydantic", "translations_assets.stages"} & set(sys.modules)), file=sys.stderr)
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A config, its folder, and an empty state."""
    monkeypatch.setenv("TRANSLATIONS_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("TRANSLATIONS_CONFIGS", str(tmp_path / "configs"))
    monkeypatch.delenv("TRANSLATIONS_STORE", raising=False)
    path = tmp_path / "configs" / "en-ru.small.yml"
    path.parent.mkdir()
    path.write_text(SMALL)
    return path


def read(given: str, **overrides: object) -> tuple[ReadConfig, bool]:
    """A config as a new process reads it, and whether it was parsed for that."""
    with patch("translations_assets.config.load.parse_config", side_effect=parse_config) as parse:
        found = Project().configs.read(given, overrides)
        return found, parse.called


def labels(found: ReadConfig) -> list[tuple[object, ...]]:
    return [
        (step.label, step.script, dict(step.args), step.outputs, [up.label for up in step.upstream()])
        for step in found.graph.steps
    ]


def test_a_command_about_a_known_config_parses_nothing(config: Path) -> None:
    def graph() -> tuple[str, str]:
        done = subprocess.run([sys.executable, "-c", GRAPH], capture_output=True, text=True, check=True)
        return done.stdout, done.stderr.splitlines()[-1]

    steps, imported = graph()
    assert "train-student" in steps
    assert imported == "pydantic translations_assets.stages"
    assert graph() == (steps, "")


def test_what_is_known_is_what_would_be_made(config: Path) -> None:
    config.write_text(SMALL.replace("train:", "train:\n    - opus_Tatoeba/v1"))
    made, parsed = read("en-ru.small")
    assert parsed
    known, parsed = read("en-ru.small")
    assert not parsed
    assert labels(known) == labels(made)
    assert (known.partition, known.notes) == (made.partition, made.notes)
    assert (known.graph.stages.keys(), known.graph.target) == (made.graph.stages.keys(), made.graph.target)
    assert (known.graph.upstream, known.graph.checks) == (made.graph.upstream, made.graph.checks)
    assert known.config == made.config


def test_text_name_and_overrides_count(config: Path) -> None:
    read("en-ru.small")
    vocabulary = {"experiment.spm-vocab-size": 8000}
    made, parsed = read("en-ru.small", **vocabulary)
    assert parsed
    known, parsed = read("en-ru.small", **vocabulary)
    assert not parsed
    assert labels(known) == labels(made) != labels(read("en-ru.small")[0])
    assert known.config == made.config
    assert read(str(config))[1]  # its key may be another one then
    config.write_text(SMALL.replace("ParaCrawl/v9", "ParaCrawl/v8"))
    assert read("en-ru.small")[1]


def test_files_of_this_machine_are_checked_each_time(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_FILES", "/")
    for lang in ("en", "ru"):
        config.with_name(f"c.{lang}").touch()
    for path in ("./c.[LANG]", f"url_file://{config.parent}/c.[LANG]"):
        config.write_text(SMALL.replace("opus_ParaCrawl/v9", path))
        assert read("en-ru.small")[1]
        assert read("en-ru.small")[1]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose files are older than this process."""
    monkeypatch.setattr(remembered, "_BEGUN", time.time_ns() + 10**12)
    root = tmp_path / "repository"
    for path in (root / CODE, root / FILTERS, root / LOCK):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one")
    return root


@pytest.fixture
def known(config: Path) -> KnownConfig:
    return read("en-ru.small")[0]


CHANGES: dict[str, Callable[[Path], object]] = {
    "the code": lambda root: (root / CODE).write_text("one, two"),
    "what it reads": lambda root: (root / FILTERS).touch(),
    "the lock": lambda root: (root / LOCK).unlink(),
    "a new file": lambda root: (root / "pipeline/clean/filters/ru.json").write_text("one"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_a_graph_depends_on_counts(
    change: Callable[[Path], object], root: Path, known: KnownConfig, tmp_path: Path
) -> None:
    folder = tmp_path / "known"
    KnownConfigs(root, folder).add(known, SMALL)
    kept = KnownConfigs(root, folder)
    assert kept.get(SMALL)
    change(root)
    assert KnownConfigs(root, folder).get(SMALL) is None
    kept.add(known, "another text")  # which code that has changed meanwhile may have made
    assert len([*folder.iterdir()]) == 1
    with patch("sys.version", "4.0"):
        assert KnownConfigs(root, folder).get(SMALL) is None


def test_a_damaged_file_costs_time_alone(config: Path, tmp_path: Path) -> None:
    read("en-ru.small")
    (file,) = (tmp_path / "state" / "configs").iterdir()
    whole = file.read_bytes()
    for damaged in (whole[:-1], whole[:40], b"", whole[:100] + bytes([whole[100] ^ 1]) + whole[101:]):
        file.write_bytes(damaged)
        assert read("en-ru.small")[1]
        assert file.read_bytes() == whole
    file.unlink()
    file.parent.rmdir()
    file.parent.write_text("")
    assert read("en-ru.small")[1]


class Planted:
    """Object that runs a command when it is read as a pickle."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Callable[[Path], None], tuple[Path]]:
        return Path.touch, (self.file,)


def test_what_is_planted_among_them_runs_nothing(config: Path, tmp_path: Path) -> None:
    read("en-ru.small")
    (file,) = (tmp_path / "state" / "configs").iterdir()
    content = pickle.dumps(Planted(tmp_path / "run"))
    for planted in (content, hashlib.sha256(content).digest() + content, seal_bytes(content)):
        file.write_bytes(planted)
        assert read("en-ru.small")[1]
    assert not (tmp_path / "run").exists()


def test_what_another_user_could_have_kept_is_not_read(
    config: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    read("en-ru.small")
    folder = tmp_path / "state" / "configs"
    assert folder.stat().st_mode & 0o777 == 0o700
    (file,) = folder.iterdir()
    file.chmod(0o666)
    assert read("en-ru.small")[1]
    assert f"What is kept in {folder} is not used: other users may write a file in it" in caplog.text
    assert not read("en-ru.small")[1], "it is kept anew"
    with patch.object(os, "geteuid", return_value=os.geteuid() + 1):
        assert read("en-ru.small")[1]
    assert f"belongs to the user {os.geteuid()}" in caplog.text


def test_a_config_that_was_edited_is_told_by_its_state(config: Path) -> None:
    """Also by an edit that leaves the size, and by one that leaves the time."""
    states = [Project().configs.partitions().states["en-ru.small"]]
    before = config.stat()
    config.write_text(SMALL.replace("small", "large"))
    os.utime(config, ns=(before.st_atime_ns, before.st_mtime_ns + 10**6))
    states.append(Project().configs.partitions().states["en-ru.small"])
    config.write_text(SMALL + "\n")
    os.utime(config, ns=(before.st_atime_ns, before.st_mtime_ns))
    states.append(Project().configs.partitions().states["en-ru.small"])
    assert len(set(states)) == 3
