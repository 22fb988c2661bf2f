"""OpusCleaner itself, in an environment of its own, for the filters of which there is no version here."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.clean.filtering.filter_file import FilterStep
from pipeline.common.errors import InputError
from pipeline.common.parallel_blocks import lines_of


class OpusCleaner:
    """Runs one filter on a whole block. Which rows it drops and which it edits, it does not say.

    A filter that compares lines with each other (strip_suffix, bifixer_dedupe) sees those of a block only.

    python  interpreter of the environment that has OpusCleaner
    codes   of the languages, as filter files have them
    """

    def __init__(self, step: FilterStep, python: Path, codes: Sequence[str]) -> None:
        self._step = step
        self._python = python
        self._codes = codes
        self([["a"] for _ in codes])  # so that a mistake in a parameter is told before any work

    def __call__(self, sides: Sequence[list[str]]) -> list[list[str]]:
        """What the filter leaves of a block."""
        text = "".join("\t".join(row) + "\n" for row in zip(*sides, strict=True))
        with TemporaryDirectory() as folder:
            file = Path(folder) / "one.filters.json"
            file.write_text(json.dumps(self._pipeline()), encoding="utf-8")
            rows = [line.split("\t") for line in self._run(file, text)]
        if any(len(row) != len(sides) for row in rows):
            raise InputError(f"{self._step}: a line has tabs that it did not have before.")
        return [[row[side] for row in rows] for side in range(len(sides))]

    def _pipeline(self) -> dict[str, object]:
        language = ",".join(self._codes[side] for side in self._step.sides) or None
        entry = {"filter": self._step.name, "parameters": self._step.parameters, "language": language}
        return {"version": 1, "files": [], "filters": [entry]}

    def _run(self, file: Path, text: str) -> list[str]:
        command = [str(self._python), "-m", "opuscleaner.clean", "--input", "-", str(file), *self._codes]
        path = f"{self._python.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        environment = {"PATH": path, "LC_ALL": "C.UTF-8", "HOME": os.environ.get("HOME", "/")}
        done = subprocess.run(command, input=text.encode(), capture_output=True, env=environment, check=False)
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip()[-1000:]
            raise InputError(f"{self._step}: OpusCleaner ended with {done.returncode}: {said}")
        return lines_of(done.stdout)
