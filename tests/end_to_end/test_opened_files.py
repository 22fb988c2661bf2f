"""Steps of the tiny pipeline open their bundle, their inputs, what they write, and the environment's files.

What else a script read would be in no key, and could be missing on another machine.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.end_to_end.tiny import BIN, PARTITION, make_place
from tests.runners.opened import needs_strace, traced

pytestmark = [pytest.mark.slow, pytest.mark.marian, needs_strace]


def test_steps_open_nothing_else(tmp_path: Path) -> None:
    place = make_place(tmp_path / "place")
    config = place.root / "configs" / f"{PARTITION}.yml"
    config.write_text(config.read_text().replace("split-chunks: 2", "split-chunks: 1"))  # fewer of the same
    home = tmp_path / "home"
    home.mkdir()
    environment = {**place.environment, "HOME": str(home), "PATH": os.environ["PATH"]}
    command = [str(BIN / "translations"), "train", PARTITION, "--yes"]
    scripts = traced(command, tmp_path / "traces", environment, place.root, 1500)
    strays = {script.name: sorted(script.strays) for script in scripts if script.strays}
    assert strays == {}
    assert len({script.name for script in scripts}) > 20
    assert {file for script in scripts for file in script.files if "/marian" in file}
