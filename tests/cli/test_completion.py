"""Tests of completion: by a shell's own protocol, and in a real bash whose key is pressed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Command, make
from tests.end_to_end.tiny import BIN, PARTITION, Place
from tests.terminal import Terminal
from translations_assets.project import Project


def offered(command: Command, monkeypatch: pytest.MonkeyPatch, line: str) -> list[str]:
    """Completions at the end of a line, as bash requests them."""
    words = line.split(" ")
    with monkeypatch.context() as patch:
        patch.setenv("_TRANSLATIONS_COMPLETE", "complete_bash")
        patch.setenv("COMP_WORDS", line)
        patch.setenv("COMP_CWORD", str(len(words) - 1))
        said = command()
    assert said.err == ""
    return said.out.split()


def test_commands_and_options(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert offered(command, monkeypatch, "translations p") == ["plan", "publish"]
    assert offered(command, monkeypatch, "translations cache pi") == ["pin", "pins"]
    assert offered(command, monkeypatch, "translations plan --st") == ["--start", "--steps"]
    assert offered(command, monkeypatch, "translations translate x --model q") == ["quantized"]


def test_names(command: Command, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    make("train_vocab", run="5a0be1ca-run")
    Project().store.add_config("en-eo.kept", (place.root / "configs" / f"{PARTITION}.yml").read_text())
    for words in ("plan", "train", "results", "config check", "checks", "cache accept"):
        names = offered(command, monkeypatch, f"translations {words} en-")
        assert names == [PARTITION, "en-eo.kept"], words
    assert offered(command, monkeypatch, "translations plan x --target train_s") == ["train_student"]
    assert offered(command, monkeypatch, "translations plan x --start train_t") == ["train_teacher"]
    for words in ("rerun", "cancel", "status", "cache pin", "plan x --previous-run"):
        assert offered(command, monkeypatch, f"translations {words} 5a") == ["5a0be1ca"], words
    for before in (f"logs {PARTITION}", "logs 5a0be1ca", f"artifacts {PARTITION}", f"shell {PARTITION}"):
        found = offered(command, monkeypatch, f"translations {before} train-voc")
        assert found == ["train-vocab-en-eo"], before


def test_nothing_is_offered_where_something_is_wrong(
    command: Command, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place.root / "configs" / "en-eo.broken.yml").write_text("experiment: [")
    assert offered(command, monkeypatch, "translations logs en-eo.broken train") == []
    monkeypatch.setenv("TRANSLATIONS_CONFIGS", str(place.root / "gone"))
    assert offered(command, monkeypatch, "translations plan en") == []


def test_in_a_real_bash(place: Place, tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash
    environment = {
        **os.environ,
        **place.environment,
        "HOME": str(tmp_path),
        "PATH": f"{BIN}:{os.environ['PATH']}",
    }
    installed = subprocess.run(
        [BIN / "translations", "--install-completion"],
        env={**environment, "SHELL": bash},
        capture_output=True,
        text=True,
        check=False,
    )
    assert installed.returncode == 0, installed.stderr
    with (tmp_path / ".bashrc").open("a") as file:
        file.write("PS1='ready> '\n")
    with Terminal([bash, "--rcfile", str(tmp_path / ".bashrc"), "-i"], environment, place.root) as terminal:
        terminal.read_until("ready> ", 20)
        terminal.type("translations plan en-eo.t\t--targ\t\t")
        terminal.read_until(rf"translations plan {PARTITION} --target ", 20)
