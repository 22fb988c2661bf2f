"""The mutants: the same for the same seed, each a defect of one line, judged by the tests that concern it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutants import __main__ as runner
from tests.mutants.__main__ import ROOT, accepted, judge_all
from tests.mutants.choose import choose_tests
from tests.mutants.draw import Mutant, draw, packages
from tests.mutants.small import HALF, make_repository

PACKAGE = "pipeline/translate"


def test_the_same_seed_draws_the_same_mutants() -> None:
    drawn = [str(mutant) for mutant in draw(ROOT, PACKAGE, 6, seed=1)]
    assert len(set(drawn)) == 6
    assert drawn == [str(mutant) for mutant in draw(ROOT, PACKAGE, 6, seed=1)]
    assert set(drawn) != {str(mutant) for mutant in draw(ROOT, PACKAGE, 6, seed=2)}


def test_a_mutant_is_a_file_with_one_other_line() -> None:
    for mutant in draw(ROOT, PACKAGE, 6, seed=1):
        lines = ast.unparse(ast.parse((ROOT / mutant.file).read_text(encoding="utf-8"))).splitlines()
        mutated = ast.unparse(ast.parse(mutant.text)).splitlines()
        changed = [(old.strip(), new.strip()) for old, new in zip(lines, mutated, strict=True) if old != new]
        assert changed == [(mutant.old, mutant.new)]
        assert mutant.function.split(".")[-1] in mutant.text


def test_every_package_has_its_mutants() -> None:
    found = packages(ROOT)
    assert {"pipeline/clean", "translations_assets/keys", "translations_assets/store"} <= set(found)
    assert not [package for package in found if "__pycache__" in package]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "first"),
    [
        ("pipeline/clean/quotas.py", "tests/pipeline/clean/test_quotas.py"),
        ("pipeline/alignments/align.py", "tests/pipeline/alignments/test_align.py"),
        ("translations_assets/store/node_cache.py", "tests/store/test_node_cache.py"),
        ("translations_assets/ui/__main__.py", "tests/ui/test_web_server.py"),
        ("translations_assets/cli/results.py", "tests/cli/test_looking.py"),
        ("translations_assets/cli/runs_status.py", "tests/cli/test_costs.py"),
    ],
)
def test_tests_that_concern_a_module(file: str, first: str) -> None:
    chosen = choose_tests(ROOT, file)
    assert first in chosen or first.startswith(chosen[0])
    assert not [name for name in chosen if name.startswith("tests/end_to_end")]


@pytest.mark.slow
def test_a_mutant_is_noticed_survives_or_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a repository of one function and one test, which does not look at what becomes of 2."""
    make_repository(
        tmp_path,
        "def test_that_fails():\n    assert half(4) == 3\n\ndef test_half():\n    assert half(4) == 2\n",
    )
    (tmp_path / "accepted.yml").write_text(
        "- {file: pipeline/half.py, function: half, change: 2 → two, reason: the same}\n"
    )
    monkeypatch.setattr(runner, "ROOT", tmp_path)
    monkeypatch.setattr(runner, "ACCEPTED", tmp_path / "accepted.yml")
    changes = [("n // 2", "n // 3"), ("else 1", "else 2"), ("2", "two")]
    mutants = [Mutant("pipeline/half.py", "half", old, new, HALF.replace(old, new)) for old, new in changes]
    told = judge_all(mutants, jobs=1, seconds=60)
    assert [one.end for one in told] == ["noticed", "survived", "accepted"]
    assert told[0].detail == "by tests/pipeline/test_half.py::test_half"
    assert "survived pipeline/half.py half: else 1 → else 2" in capsys.readouterr().out
    assert (tmp_path / "pipeline" / "half.py").read_text() == HALF


def test_accepted_mutants_are_of_functions_that_there_are() -> None:
    for (file, function, change), reason in accepted().items():
        text = (ROOT / file).read_text(encoding="utf-8")
        assert function.split(".")[-1] in text, f"{file} {function} is no more"
        assert " → " in change
        assert reason
