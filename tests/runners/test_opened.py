"""The look at the files that a script opens finds those that it must not open."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.runners.opened import Script, needs_strace, traced
from translations_assets.common.settings import repository_root

ROOT = repository_root()
DRIVER = """
import sys
from pathlib import Path
from tests.runners.scripts import job, output, run, written
from translations_assets.runners.local import LocalRunner
from translations_assets.store.local import LocalStore

place = Path(sys.argv[1])
store = LocalStore(place / "store")
runner = LocalRunner(place / "state", cpus=2, gpus=[])
print(output(store, run(runner, store, job(store, written(sys.argv[2])))))
"""
FILES = {
    "a file of the checkout": (f"open({str(ROOT / 'README.md')!r}).read()", ROOT / "README.md"),
    "a file of the user": ("(pathlib.Path(HOME) / 'stray.txt').read_text()", Path("home/stray.txt")),
    "another program": (
        f"import subprocess; subprocess.run(['cat', {str(ROOT / 'README.md')!r}], check=True)",
        ROOT / "README.md",
    ),
    "another Python": (
        "import subprocess; subprocess.run([sys.executable, '-c', "
        "'import sys; print(open(sys.argv[1] + \"/stray.txt\"))', HOME], check=True)",
        Path("home/stray.txt"),
    ),
    "a folder": ("os.listdir(HOME)", Path("home")),
    "a file that it makes": ("(pathlib.Path(HOME) / 'new.txt').write_text('x')", Path("home/new.txt")),
}
OWN = """
import json, sqlite3, subprocess, tempfile
import numpy, yaml
import pipeline
(out / "more.txt").write_text("more")
tempfile.NamedTemporaryFile().write(b"x")
subprocess.run(["cat", "out/more.txt"], check=True)
"""


def look(place: Path, script: str) -> Script:
    """Run a script that does something."""
    home = place / "home"
    home.mkdir()
    (home / "stray.txt").write_text("stray")
    environment = {**os.environ, "HOME": str(home), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", DRIVER, str(place), script]
    (found,) = traced(command, place / "traces", environment, ROOT, 120)
    return found


@needs_strace
@pytest.mark.parametrize("what", FILES)
def test_a_stray_file_is_found(tmp_path: Path, what: str) -> None:
    script, file = FILES[what]
    home = f"HOME = {str(tmp_path / 'home')!r}  # of the user; the script's own is another\n"
    assert look(tmp_path, home + script).strays == {str(tmp_path / file)}


@needs_strace
def test_its_own_files_are_no_strays(tmp_path: Path) -> None:
    found = look(tmp_path, OWN)
    assert found.name == "pipeline.script"
    assert found.strays == set()
    assert {file.rpartition("/")[2] for file in found.files} >= {"more.txt", "script.py", "launcher.py"}
