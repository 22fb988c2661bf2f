"""Small corpora on disk, and the scripts run as a person runs them."""

import json
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from pipeline.common.lines import read_lines, write_lines
from tests import forked


def corpus(path: Path, lines: Sequence[str]) -> Path:
    """Write lines to a new file, whose folder is made, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_lines(path, lines)
    return path


def read(path: Path) -> list[str]:
    """The lines of a file."""
    return list(read_lines(path))


def stats_of(output: Path) -> dict[str, Any]:
    """Contents of stats.json; its lines must add up."""
    stats: dict[str, Any] = json.loads((output / "stats.json").read_text(encoding="utf-8"))
    parts = [stats["lines"], *stats.get("datasets", [])]
    for lines in parts:
        assert lines["in"] == lines["kept"] + sum(lines["dropped"].values())
    return stats


def files_of(folder: Path) -> dict[str, bytes]:
    """Name and bytes of every file in a folder and below."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run_script(name: str, *arguments: object, threads: int = 1) -> CompletedProcess[str]:
    """Run `python -m pipeline.clean.<name>` with the arguments; the exit code is the caller's to check."""
    return forked.run_script(f"pipeline.clean.{name}", arguments, {"TRANSLATIONS_THREADS": threads})
