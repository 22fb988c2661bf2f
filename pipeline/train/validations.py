"""What Marian's validations have left, so that one which a stop cuts short can be undone.

Told to stop, Marian ends a validation early, takes its scores, which are wrong, for those of the best models
and of its patience, and saves. The weights and the optimizer of that save are right.
"""

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from pipeline.train.checkpoints import MODEL, PROGRESS, take
from pipeline.train.curve import parse_validation

_STALLED = re.compile(r": stalled (\d+) times")


class Validations:
    """Follows a training in Marian's work folder: its best models, and what it records of validations."""

    def __init__(self, folder: Path, metrics: Sequence[str], anew: bool) -> None:
        """`metrics` are those of each validation, in Marian's order; `anew`: patience is counted anew.

        update  of the last whole validation, 0 before there is one
        """
        self.update = 0
        self._folder, self._metrics = folder, metrics
        self._kept = folder / "validated"
        progress = folder / PROGRESS
        recorded = yaml.safe_load(progress.read_text()) if progress.exists() else {}
        self._recorded: dict[str, dict[str, Any]] = recorded.get("validators") or {}
        if anew:
            self._recorded = {name: {**scores, "stalled": 0} for name, scores in self._recorded.items()}
        self._scores: dict[str, dict[str, Any]] = {}  # of a validation that goes on
        self._keep()

    def read(self, line: str) -> None:
        """Take what a line of Marian's log says of a validation."""
        validation = parse_validation(line)
        if not validation:
            return
        update, metric, score = validation
        stalled = _STALLED.search(line)
        best = self._recorded.get(metric, {}).get("last-best", score) if stalled else score
        self._scores[metric] = {"last-best": best, "stalled": int(stalled[1]) if stalled else 0}
        if metric == self._metrics[-1]:
            self.update = update
            self._recorded, self._scores = {**self._recorded, **self._scores}, {}
            self._keep()

    def undo_last(self) -> None:
        """Put back what the last whole validation left, in the save that Marian has made since."""
        for path in self._folder.glob(f"{MODEL}.best-*.npz"):
            path.unlink()
        for path in self._kept.iterdir():
            path.rename(self._folder / path.name)
        file = self._folder / PROGRESS
        saved = file.stat()
        progress = yaml.safe_load(file.read_text())
        progress["validators"] = self._recorded or None
        progress["stalled"] = self._recorded.get(self._metrics[0], {}).get("stalled", 0)
        file.write_text(yaml.safe_dump(progress, sort_keys=False))
        os.utime(file, ns=(saved.st_atime_ns, saved.st_mtime_ns))  # it stays part of that save

    def _keep(self) -> None:
        """Keep the best models, whose files Marian writes anew and renames."""
        shutil.rmtree(self._kept, ignore_errors=True)
        self._kept.mkdir()
        for path in self._folder.glob(f"{MODEL}.best-*.npz"):
            take(path, self._kept / path.name)
