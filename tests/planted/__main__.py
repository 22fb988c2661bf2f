"""Plant each bug in a copy of the tree, and let the simulation look for it.

python -m tests.planted --schedules 2000
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent
LEAST = 9  # bugs that must be found
_NEEDED = ("translations_assets", "tests", "pipeline", "requirements", "pyproject.toml")
_SEED = re.compile(r"Seed (\d+) breaks an invariant: (.*)")

By = Literal["simulate", "crashes"]


@dataclass(frozen=True)
class Bug:
    """A bug: in a file, a text that stands once stands for another one.

    bug  what it does, in words
    by   the program that is to find it
    """

    name: str
    bug: str
    file: str
    old: str
    new: str
    by: By = "simulate"

    def plant(self, root: Path) -> None:
        """Plant it in a copy of the tree."""
        path = root / self.file
        path.write_text(self.planted(path.read_text(encoding="utf-8")), encoding="utf-8")

    def planted(self, text: str) -> str:
        """The file's text with the bug. Raises ValueError when its place is not there once."""
        found = re.finditer("^( *)" + re.escape(_first(self.old)), text, re.MULTILINE)
        matching = [
            (match.start(), textwrap.indent(self.old, match[1]), textwrap.indent(self.new, match[1]))
            for match in found
            if text.startswith(textwrap.indent(self.old, match[1]).rstrip("\n"), match.start())
        ]
        if len(matching) != 1:
            raise ValueError(f"{self.name}: its text stands {len(matching)} times in {self.file}")
        start, old, new = matching[0]
        return text[:start] + new.rstrip("\n") + text[start + len(old.rstrip("\n")) :]


def _first(text: str) -> str:
    return text.partition("\n")[0]


def bugs() -> list[Bug]:
    """All bugs, by name."""
    return [
        Bug(path.stem, **yaml.safe_load(path.read_text(encoding="utf-8")))
        for path in sorted(FOLDER.glob("*.yml"))
    ]


def look_for(bug: Bug, schedules: int, folder: Path) -> str:
    """Plant a bug in a new copy of the tree and look for it; how it was found, empty when it was not."""
    folder.mkdir()
    for name in _NEEDED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    bug.plant(folder)
    options = ["--schedules", str(schedules)] if bug.by == "simulate" else []
    done = subprocess.run(
        [sys.executable, "-m", f"tests.simulation.{bug.by}", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.returncode:
        return ""
    found = _SEED.search(done.stdout)
    return f"seed {found[1]}: {found[2]}" if found else (done.stdout or done.stderr).strip()[-300:]


def main() -> None:
    """Print what became of each bug; the exit code is 1 when too few were found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--schedules", type=int, default=2000, help="with which a bug is looked for")
    parser.add_argument("--only", default="", help="bugs whose name holds this")
    args = parser.parse_args()
    found, planted = 0, [bug for bug in bugs() if args.only in bug.name]
    with tempfile.TemporaryDirectory(prefix="planted.") as folder:
        for bug in planted:
            begun = time.monotonic()
            how = look_for(bug, args.schedules, Path(folder, bug.name))
            found += bool(how)
            print(f"{bug.name:24} {time.monotonic() - begun:6.0f} s  {how or 'NOT FOUND'}", flush=True)
    print(f"{found} of {len(planted)} bugs were found.")
    sys.exit(found < min(LEAST, len(planted)))


if __name__ == "__main__":
    main()
