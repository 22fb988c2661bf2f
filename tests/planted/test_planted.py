"""The planted bugs stand where they say. Whether each is found: `python -m tests.planted`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.planted.__main__ import ROOT, Bug, bugs, look_for


@pytest.mark.parametrize("bug", bugs(), ids=lambda bug: bug.name)
def test_a_bug_can_be_planted(bug: Bug) -> None:
    text = (ROOT / bug.file).read_text(encoding="utf-8")
    planted = bug.planted(text)
    assert planted != text
    compile(planted, bug.file, "exec")


def test_there_are_ten() -> None:
    assert len(bugs()) == 10


def test_a_bug_is_found(tmp_path: Path) -> None:
    (bug,) = (bug for bug in bugs() if bug.name == "dropped_fsync")
    assert "and is not any more" in look_for(bug, 0, tmp_path / "copy")
