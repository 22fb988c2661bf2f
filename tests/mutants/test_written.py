"""The written defects: each still stands for code that there is, and is planted where it stands."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.mutants import defects
from tests.mutants.__main__ import ROOT
from tests.mutants.small import make_repository
from tests.mutants.written import Defect, evenly, read_defects


def test_every_written_defect_can_be_planted() -> None:
    """So that the list does not rot: who changes a line that a defect names writes the defect anew."""
    written = read_defects()
    mutants = [defect.planted(ROOT) for defect in written]
    assert len(mutants) >= 120
    assert len(set(mutants)) == len(mutants)
    for mutant, defect in zip(mutants, written, strict=True):
        assert ast.dump(ast.parse(mutant.text)) != ast.dump(ast.parse((ROOT / mutant.file).read_text()))
        assert defect.harm


def test_the_written_defects_are_spread_by_lines_of_code() -> None:
    """Of each package that is large about as many as of all code; no package of some size is left out."""
    files = [path for name in ("pipeline", "translations_assets") for path in (ROOT / name).rglob("*.py")]
    lines: Counter[str] = Counter()
    for path in files:
        lines[_package(path.relative_to(ROOT).as_posix())] += len(path.read_text().splitlines())
    written = Counter(_package(defect.file) for defect in read_defects())
    for package, number in lines.items():
        expected = number * written.total() / lines.total()
        assert expected < 2 or expected / 3 <= written[package] <= 3 * expected, package


def _package(file: str) -> str:
    parts = file.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def test_a_block_is_planted_at_its_indentation(tmp_path: Path) -> None:
    text = "def f(x):\n    if x:\n        y = 1\n        return y\n    return 0\n"
    (tmp_path / "f.py").write_text(text)
    defect = Defect("f.py", "order", "if x:\n    y = 1", "if not x:\n    y = 2\n    y = 3", "wrong")
    mutant = defect.planted(tmp_path)
    assert mutant.text == text.replace("if x:\n        y = 1", "if not x:\n        y = 2\n        y = 3")
    assert mutant.change == "if x: ⏎ y = 1 → if not x: ⏎ y = 2 ⏎ y = 3"


@pytest.mark.parametrize(("old", "times"), [("y = 2", 0), ("x", 2), ("if x:\n  y = 1", 0)])
def test_a_text_that_is_not_there_once_is_refused(tmp_path: Path, old: str, times: int) -> None:
    (tmp_path / "f.py").write_text("def f(x):\n    if x:\n        y = 1\n")
    with pytest.raises(ValueError, match=rf"stands {times} times in f.py, not once"):
        Defect("f.py", "unit", old, "pass", "wrong").planted(tmp_path)


def test_a_sample_is_spread_over_the_file() -> None:
    written = read_defects()
    chosen = [written.index(defect) for defect in evenly(written, 12, seed=1)]
    assert len({place * 12 // len(written) for place in chosen}) == 12
    assert {place for seed in range(99) for place in [written.index(evenly(written, 12, seed)[0])]} > {0, 1}


@pytest.mark.slow
def test_defects_that_are_missed_are_named_with_their_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_repository(tmp_path, "def test_half():\n    assert half(4) == 2\n")
    written = [
        Defect("pipeline/half.py", "unit", "n // 2", "n // 3", "a third"),
        Defect("pipeline/half.py", "boundary", "else 1", "else 0", "nothing of two"),
    ]
    monkeypatch.setattr("tests.mutants.__main__.ROOT", tmp_path)
    monkeypatch.setattr(defects, "ROOT", tmp_path)
    monkeypatch.setattr(defects, "read_defects", lambda: written)
    assert defects.main(["--jobs", "1"]) == 1
    printed = capsys.readouterr().out
    assert "survived pipeline/half.py boundary: else 1 → else 0" in printed
    assert "harm: nothing of two" in printed
    assert "1 of 2 written defects (50.0%) noticed by the tests that concern them" in printed
    assert defects.main(["--jobs", "1", "--all"]) == 1
    assert "1 of 2 written defects (50.0%) noticed by all tests" in capsys.readouterr().out
