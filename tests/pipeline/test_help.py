"""Every script's `--help` tells a person all that is needed, with no orchestrator near."""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "pipeline"
SCRIPTS = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in PACKAGE.rglob("*.py")
    if '\nif __name__ == "__main__":' in path.read_text(encoding="utf-8")
)

# Runs scripts with `--help`, each in a process forked from here, where the orchestrator cannot be imported.
PROGRAM = """
import os, runpy, sys
sys.modules["translations_assets"] = sys.modules["dagster"] = None
failed = []
for script in sys.argv[1:]:
    if not (child := os.fork()):
        sys.argv = [script, "--help"]
        runpy.run_module(script, run_name="__main__", alter_sys=True)
        os._exit(99)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        failed.append(f"{script}: {code}")
sys.exit(", ".join(failed) or 0)
"""


def ask_for_help(scripts: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run scripts with `--help` in an empty folder and with next to nothing in the environment."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *scripts],
        cwd=folder,
        env={"PATH": os.defpath, "PYTHONPATH": str(ROOT), "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_scripts_are_found() -> None:
    assert len(SCRIPTS) > 25
    assert {"pipeline.train.train", "pipeline.quantize.export", "pipeline.data.parallel_opus"} <= set(SCRIPTS)


@pytest.mark.slow
def test_help_works_in_a_clean_environment(tmp_path: Path) -> None:
    """Each ends with 0, prints to standard output alone, and leaves no file."""
    with ThreadPoolExecutor(2) as pool:
        for done in pool.map(lambda part: ask_for_help(part, tmp_path), (SCRIPTS[::2], SCRIPTS[1::2])):
            assert (done.returncode, done.stderr) == (0, "")
            assert done.stdout.count("usage: ") >= len(SCRIPTS) // 2
    assert list(tmp_path.iterdir()) == []


def test_a_script_that_fails_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import translations_assets\n")
    done = ask_for_help(["pipeline.translate.split", "broken"], tmp_path)
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1] == "broken: 1"


class Asked(Exception):
    """The script's parser, as it is when arguments are read."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self.parser = parser


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_option_is_explained(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the script does, and a word on every option."""

    def stop(self: argparse.ArgumentParser, *_: object) -> NoReturn:
        raise Asked(self)

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", stop)
    with pytest.raises(Asked) as asked:
        importlib.import_module(script).main([])
    parser = asked.value.parser
    assert (parser.description or "").strip()
    options = [action for action in parser._actions if action.dest != "help"]
    assert options
    assert [action.option_strings for action in options if not (action.help or "").strip()] == []
