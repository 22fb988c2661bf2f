"""What Marian's validations leave, on file systems with and without hard links."""

import errno
import os
from pathlib import Path

import pytest
import yaml

from pipeline.train.checkpoints import MODEL, PROGRESS
from pipeline.train.validations import Validations

BEST = f"{MODEL}.best-chrf.npz"
LINE = "Ep. 1 : Up. 20 : chrf : 31.5 : new best"


def refuse(source: object, target: object) -> None:
    raise PermissionError(errno.EPERM, "Operation not permitted")


def write(path: Path, text: str) -> None:
    """As Marian writes its models: anew, under another name first."""
    path.with_suffix(".new").write_text(text)
    path.with_suffix(".new").rename(path)


@pytest.mark.parametrize("links", [True, False])
def test_the_best_model_of_the_last_whole_validation_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    if not links:
        monkeypatch.setattr(os, "link", refuse)
    write(tmp_path / BEST, "of update 10")
    validations = Validations(tmp_path, ["chrf"], anew=False)
    write(tmp_path / BEST, "of update 20")
    validations.read(f"[2026-01-01 00:00:00] [valid] {LINE}")
    assert validations.update == 20
    write(tmp_path / BEST, "of a validation that was cut short")
    (tmp_path / PROGRESS).write_text("stalled: 0\nvalidators: {chrf: {last-best: 99, stalled: 0}}\n")
    validations.undo_last()
    assert (tmp_path / BEST).read_text() == "of update 20"
    progress = yaml.safe_load((tmp_path / PROGRESS).read_text())
    assert progress["validators"] == {"chrf": {"last-best": 31.5, "stalled": 0}}
