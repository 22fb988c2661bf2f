"""Changes that were accepted as harmless: what they cover, and where they end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.keys.code.package import GUARD, SCRIPT, Package
from translations_assets.common.errors import CodeError
from translations_assets.keys.code.accepted import Accepted, Change, add_changes
from translations_assets.keys.code.fingerprint import CodeBase, Fingerprint

TEXT = """
import os
from pipeline.demo.words import first

LIMIT = 10


def helper(x):
    return x + LIMIT


def even(n):
    return n == 0 or odd(n - 1)


def odd(n):
    return n != 0 and even(n - 1)


def main():
    print(helper(1), first("a"), even(4))
"""
WORDS = "def first(text):\n    return text[0]\n"


def state(*edits: tuple[str, str], words: str = WORDS) -> dict[str, str]:
    """The two modules after some replacements in the script."""
    text = TEXT
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return {"demo.script": text + GUARD, "demo.words": words}


ONE = ("return x + LIMIT", "return LIMIT + x")
TWO = ("return x + LIMIT", "return sum((x, LIMIT))")


class Bench:
    """States of the package, and what was accepted between them."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.changes: list[Change] = []

    def fingerprint(self, files: Mapping[str, str]) -> Fingerprint:
        return CodeBase(self.package.write(files), Accepted(self.changes)).fingerprint(SCRIPT)

    def digest(self, files: Mapping[str, str]) -> str:
        return self.fingerprint(files).digest

    def accept(self, old: Mapping[str, str], new: Mapping[str, str]) -> Change:
        """As `cache accept` does: what counts now counts as the earlier code."""
        change = Change(SCRIPT, self.fingerprint(old).own, self.digest(new), "the same sum")
        self.changes.append(change)
        return change


@pytest.fixture
def bench(package: Package) -> Bench:
    return Bench(package)


CHANGES = {
    "a function": state(ONE),
    "a constant": state(("LIMIT = 10", "LIMIT = 5 + 5")),
    "a function in another module": state(words="def first(text):\n    return text[:1]\n"),
    "a new helper": state(("return x + LIMIT", "return add(x)\n\n\ndef add(x):\n    return x + LIMIT")),
    "a circle": state(("n == 0 or", "not n or")),
    "the guard": {**state(), "demo.script": TEXT + GUARD.replace("main()", "main(*())")},
    "a new statement with effects": state(("LIMIT = 10", "LIMIT = 10\nos.umask(18)")),
    "a new module with effects": {
        **state(("import os\n", "import os\nimport pipeline.demo.patch\n")),
        "demo.patch": "import os\nos.umask(18)\n",
    },
}


@pytest.mark.parametrize("what", CHANGES)
def test_an_accepted_change_leaves_the_digest(bench: Bench, what: str) -> None:
    after = CHANGES[what]
    before = bench.digest(state())
    assert bench.digest(after) != before
    change = bench.accept(state(), after)
    assert bench.digest(after) == before
    assert bench.fingerprint(after).accepted == (change,)
    assert bench.digest(state()) == before
    assert bench.fingerprint(state()).accepted == ()


@pytest.mark.parametrize("what", CHANGES)
def test_acceptance_ends_with_the_next_change(bench: Bench, what: str) -> None:
    """Wherever in the accepted code it is made, a new helper included."""
    after = CHANGES[what]
    bench.accept(state(), after)
    before = bench.digest(state())
    reached = bench.fingerprint(after).parts
    for module, text in after.items():
        for old, new in {"10": "11", "return ": "return not ", "umask(18)": "umask(19)", "a": "b"}.items():
            if old == "a":  # the argument of `first`
                old, new = 'first("a")', 'first("b")'
            if old in text:
                again = {**after, module: text.replace(old, new)}
                assert bench.fingerprint(again).parts == reached
                assert bench.digest(again) != before, (module, old)


def test_a_deleted_line_undoes_it(bench: Bench) -> None:
    unaccepted = bench.digest(state(ONE))
    bench.accept(state(), state(ONE))
    assert bench.digest(state(ONE)) != unaccepted
    bench.changes.clear()
    assert bench.digest(state(ONE)) == unaccepted


def test_chains_lead_to_the_oldest(bench: Bench) -> None:
    before = bench.digest(state())
    bench.accept(state(), state(ONE))
    bench.accept(state(ONE), state(TWO))
    assert bench.digest(state(TWO)) == bench.digest(state(ONE)) == before
    assert bench.fingerprint(state(TWO)).accepted == (bench.changes[1], bench.changes[0])
    del bench.changes[0]  # the first alone is undone: what followed counts as what it was compared with
    assert bench.digest(state(TWO)) == bench.digest(state(ONE)) != before


def test_accepted_against_one_state_and_then_against_another(bench: Bench) -> None:
    """All three count as the last."""
    other = state(("return x + LIMIT", "return x - -LIMIT"))
    bench.accept(state(), state(ONE))
    bench.accept(other, state(ONE))
    assert bench.digest(state()) == bench.digest(state(ONE)) == bench.digest(other)
    assert bench.digest(other) == bench.fingerprint(other).own


def test_an_accepted_function_may_move(bench: Bench) -> None:
    bench.accept(state(), state(ONE))
    function = "def helper(x):\n    return LIMIT + x\n"
    text = state(ONE)["demo.script"].replace(function, "from pipeline.demo.sums import helper\n")
    moved = {
        **state(),
        "demo.script": text,
        "demo.sums": "from pipeline.demo.script import LIMIT\n" + function,
    }
    assert bench.digest(moved) == bench.digest(state())


A, B, C = (letter * 64 for letter in "abc")


def written(folder: Path, text: str) -> Path:
    path = folder / "accepted.yml"
    path.write_text(text, encoding="utf-8")
    return path


def line(old: str = A, new: str = B, reason: str = "why", script: str = "pipeline.x") -> str:
    return f"- {{script: '{script}', old: '{old}', new: '{new}', reason: '{reason}'}}\n"


def test_a_file_of_changes(tmp_path: Path) -> None:
    path = tmp_path / "accepted.yml"
    assert Accepted.read(path).changes == ()
    first = Change("pipeline.x", A, B, 'logs "more": só')
    add_changes(path, [first])
    path.write_text(path.read_text() + "# a comment\n", encoding="utf-8")
    second = Change("pipeline.x", B, C, "less again")
    add_changes(path, [second])
    assert Accepted.read(path).changes == (first, second)
    assert "# a comment" in path.read_text()
    assert Accepted.read(path).oldest(C) == A
    lines = path.read_text().splitlines()
    path.write_text("\n".join(one for one in lines if "less again" not in one))
    assert Accepted.read(path).oldest(C) == C


def test_an_empty_file_accepts_nothing(tmp_path: Path) -> None:
    assert Accepted.read(written(tmp_path, "# nothing\n")).changes == ()


WRONG = {
    "no list": ("script: x\n", "must be a list of changes"),
    "no YAML": ("- {a: [\n", "is no YAML"),
    "no change": ("- 3\n", "change 1: a change has the texts script, old, new, reason"),
    "a missing field": (line() + "- {script: a, old: b, new: c}\n", "change 2: a change has the texts"),
    "a number": (line(reason="why").replace("'why'", "3"), "change 1: a change has the texts"),
    "an unknown field": (
        line().replace("reason", "because: x, reason"),
        "a change has the texts script, old",
    ),
    "no hash": (line(old="aa"), "'aa' is no hash"),
    "upper case": (line(new="B" * 64), "is no hash"),
    "an empty reason": (line(reason=" "), "none empty"),
    "an empty script": (line(script=""), "none empty"),
    "two reasons": (line() + line(reason="another"), "one change twice.*'why' and of 'another'"),
    "the same twice": (line() + line(), "one change twice"),
    "two earlier hashes": (line(A, C) + line(B, C), "one change twice"),
    "itself": (line(A, A), "in a circle"),
    "a circle": (line(A, B) + line(B, C) + line(C, A), "in a circle"),
    "an earlier version's": (
        f'- {{"symbol": "pipeline.common.marian:_CRASH", "old": "{A}", "new": "{B}", "reason": "why"}}',
        "change 1: an earlier version accepted .*_CRASH.*Delete the line",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_files_that_are_wrong(tmp_path: Path, what: str) -> None:
    """The error names the file, and the change where there is one."""
    text, complaint = WRONG[what]
    with pytest.raises(CodeError, match=f"accepted.yml.*{complaint}"):
        Accepted.read(written(tmp_path, text))


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "accepted.yml"
    path.write_bytes(b"\xff")
    with pytest.raises(CodeError, match="cannot be read"):
        Accepted.read(path)


def test_changes_are_values() -> None:
    change = Change("pipeline.x", A, B, "why")
    assert Change(**asdict(change)) == change
