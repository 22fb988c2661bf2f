"""Tests of the check of docstrings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import docstrings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is left.", True),
        ("whether it ended", True),
        ("Where: a folder.", True),
        ("`Which` of two.", True),
        ("True if it ended.", False),
        ("Whatever is left goes.", False),
        ("Howard's rule.", False),
    ],
)
def test_begins_with_question(text: str, expected: bool) -> None:
    assert docstrings.begins_with_question(text) is expected


def test_docstrings_of_modules_classes_and_functions() -> None:
    source = (
        '"""Module."""\nclass A:\n    """Class."""\n    def f(self):\n        """Method."""\n\ndef g(): ...\n'
    )
    assert sorted(docstrings.docstrings(source)) == [(1, "Module."), (3, "Class."), (5, "Method.")]


def test_folder_above_its_limit_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path
    (root / "made").mkdir()
    (root / "made" / "a.py").write_text('"""A thing."""\n\ndef f():\n    """Whether it is."""\n')
    monkeypatch.setattr(docstrings, "ROOT", root)
    monkeypatch.setattr(docstrings, "LIMITS", {"made": 0.5})
    assert docstrings.main() == 0
    assert "made: 50.0% of 2 docstrings" in capsys.readouterr().out
    monkeypatch.setattr(docstrings, "LIMITS", {"made": 0.4})
    assert docstrings.main() == 1
    assert "made/a.py:4: Whether it is." in capsys.readouterr().out
