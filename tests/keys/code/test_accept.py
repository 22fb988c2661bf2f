"""Changes that were accepted as harmless: what they cover, and where they end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.keys.code.package import GUARD, SCRIPT, Package
from translations_assets.errors import CodeError
from translations_assets.keys.code.accepted import Accepted, Change, add_changes
from translations_assets.keys.code.compare import Acceptance, find_changes
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

    def code(self, files: Mapping[str, str]) -> CodeBase:
        return CodeBase(self.package.write(files), Accepted(self.changes))

    def fingerprint(self, files: Mapping[str, str]) -> Fingerprint:
        return self.code(files).fingerprint(SCRIPT)

    def digest(self, files: Mapping[str, str]) -> str:
        return self.fingerprint(files).digest

    def accept(self, old: Mapping[str, str], new: Mapping[str, str], symbol: str = "") -> Acceptance:
        found = find_changes(
            self.code(old), self.code(new), SCRIPT, Accepted(self.changes), "the same sum", symbol
        )
        self.changes += found.changes
        return found

    def accepted_symbols(self) -> list[str]:
        return [change.symbol for change in self.changes]


@pytest.fixture
def bench(package: Package) -> Bench:
    return Bench(package)


CHANGES = {
    "a function": (state(ONE), ["pipeline.demo.script:helper"]),
    "a constant": (state(("LIMIT = 10", "LIMIT = 5 + 5")), ["pipeline.demo.script:LIMIT"]),
    "a function in another module": (
        state(words="def first(text):\n    return text[:1]\n"),
        ["pipeline.demo.words:first"],
    ),
    "a new helper": (
        state(("return x + LIMIT", "return add(x)\n\n\ndef add(x):\n    return x + LIMIT")),
        ["pipeline.demo.script:helper"],
    ),
    "a helper that is gone": (
        state(("return n == 0 or odd(n - 1)", "return n % 2 == 0")),
        ["pipeline.demo.script:even"],
    ),
    "a circle": (
        state(("n == 0 or", "not n or")),
        ["pipeline.demo.script:even", "pipeline.demo.script:odd"],
    ),
    "two functions, one of which calls the other": (
        state(ONE, ("print(helper(1), ", "print(helper(1), *(), ")),
        ["pipeline.demo.script:helper", "pipeline.demo.script:main"],
    ),
    "the guard": (
        {**state(), "demo.script": TEXT + GUARD.replace("main()", "main(*())")},
        ["pipeline.demo.script:<main>"],
    ),
    "a function under another name": (
        state(("helper", "assistant")),
        ["pipeline.demo.script:main"],
    ),
    "a new statement with effects": (
        state(("LIMIT = 10", "LIMIT = 10\nos.umask(18)")),
        ["pipeline.demo.script"],
    ),
    "a module with effects": (
        state(words="import os\nos.umask(18)\n" + WORDS),
        ["pipeline.demo.script"],
    ),
    "a new module with effects": (
        {
            **state(("import os\n", "import os\nimport pipeline.demo.patch\n")),
            "demo.patch": "import os\nos.umask(18)\n",
        },
        ["pipeline.demo.script"],
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_an_accepted_change_leaves_the_digest(bench: Bench, what: str) -> None:
    after, symbols = CHANGES[what]
    before = bench.digest(state())
    assert bench.digest(after) != before
    found = bench.accept(state(), after)
    assert found.digest == found.earlier == before == bench.digest(after)
    assert sorted(bench.accepted_symbols()) == symbols
    assert bench.fingerprint(after).accepted == tuple(sorted(bench.changes))
    assert bench.digest(state()) == before
    assert bench.fingerprint(state()).accepted == ()


@pytest.mark.parametrize("what", CHANGES)
def test_acceptance_ends_with_the_next_change(bench: Bench, what: str) -> None:
    """Wherever in the accepted code it is made, a new helper included."""
    after, _ = CHANGES[what]
    bench.accept(state(), after)
    before = bench.digest(state())
    reached = bench.fingerprint(after).parts
    for module, text in after.items():
        for old, new in {"10": "11", "return ": "return not ", "umask(18)": "umask(19)", "a": "b"}.items():
            if old == "a":  # the argument of `first`
                old, new = 'first("a")', 'first("b")'
            if old in text:
                again = {**after, module: text.replace(old, new)}
                assert set(bench.fingerprint(again).parts) == set(reached)
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
    assert len(bench.changes) == 2
    assert bench.digest(state(TWO)) == bench.digest(state(ONE)) == before
    assert [change.old for change in reversed(bench.changes)] == [
        bench.changes[0].new,
        bench.changes[0].old,
    ]
    assert len(bench.fingerprint(state(TWO)).accepted) == 2
    del bench.changes[0]  # the first alone is undone: what followed counts as what it was compared with
    assert bench.digest(state(TWO)) == bench.digest(state(ONE)) != before


def test_a_change_back_needs_no_acceptance(bench: Bench) -> None:
    before = bench.digest(state())
    bench.accept(state(), state(ONE))
    assert bench.accept(state(ONE), state()).changes == ()
    assert bench.digest(state()) == before


def test_two_lines_of_change_become_one(bench: Bench) -> None:
    """Accepted against one state, and then against another that counts as something else."""
    bench.accept(state(), state(ONE))
    other = state(("return x + LIMIT", "return x - -LIMIT"))
    found = bench.accept(other, state(ONE))
    assert found.digest == found.earlier == bench.digest(other) == bench.digest(state(ONE))
    assert bench.digest(state()) == bench.digest(other)


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


def test_a_symbol_alone(bench: Bench) -> None:
    """Only what it reaches is accepted; other changes count."""
    after = state(ONE, ("n == 0 or", "not n or"))
    found = bench.accept(state(), after, "pipeline.demo.script:helper")
    assert bench.accepted_symbols() == ["pipeline.demo.script:helper"]
    assert found.digest == bench.digest(after) != found.earlier
    assert bench.digest(after) == bench.digest(state(("n == 0 or", "not n or")))
    with pytest.raises(CodeError, match="does not reach pipeline.demo.script:nothing"):
        bench.accept(state(), after, "pipeline.demo.script:nothing")


def test_parts_tell_of_accepted_changes(bench: Bench) -> None:
    """`explain` says what differs, accepted or not."""
    bench.accept(state(), state(ONE))
    before, after = bench.fingerprint(state()).parts, bench.fingerprint(state(ONE)).parts
    assert {name for name in after if after[name] != before.get(name)} == {"pipeline.demo.script:helper"}


def test_functions_that_become_equal(bench: Bench) -> None:
    """One hash cannot stand for two; those who use the functions are accepted in their place."""
    names = "from pipeline.demo.a import f\nfrom pipeline.demo.b import f as g\n"
    script = names + "def main():\n    print(f(), g())\n" + GUARD
    before = {"demo.script": script, "demo.a": "def f(): return 1\n", "demo.b": "def f(): return 2\n"}
    after = {**before, "demo.a": "def f(): return 3\n", "demo.b": "def f(): return 3\n"}
    swapped = {**before, "demo.a": before["demo.b"], "demo.b": before["demo.a"]}
    for changed in (after, swapped):
        bench.changes.clear()
        found = bench.accept(before, changed)
        assert found.digest == found.earlier == bench.digest(changed)


A, B, C = (letter * 64 for letter in "abc")


def written(folder: Path, text: str) -> Path:
    path = folder / "accepted.yml"
    path.write_text(text, encoding="utf-8")
    return path


def line(old: str = A, new: str = B, reason: str = "why", symbol: str = "pipeline.x:f") -> str:
    return f"- {{symbol: '{symbol}', old: '{old}', new: '{new}', reason: '{reason}'}}\n"


def test_a_file_of_changes(tmp_path: Path) -> None:
    path = tmp_path / "accepted.yml"
    assert Accepted.read(path).changes == ()
    first = Change("pipeline.x:f", A, B, 'logs "more": só')
    add_changes(path, [first])
    path.write_text(path.read_text() + "# a comment\n", encoding="utf-8")
    second = Change("pipeline.x:f", B, C, "less again")
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
    "no list": ("symbol: x\n", "must be a list of changes"),
    "no YAML": ("- {a: [\n", "is no YAML"),
    "no change": ("- 3\n", "change 1: a change has the texts symbol, old, new, reason"),
    "a missing field": (line() + "- {symbol: a, old: b, new: c}\n", "change 2: a change has the texts"),
    "a number": (line(reason="why").replace("'why'", "3"), "change 1: a change has the texts"),
    "an unknown field": (line().replace("reason", "because: x, reason"), "unknown field because"),
    "no hash": (line(old="aa"), "'aa' is no hash"),
    "upper case": (line(new="B" * 64), "is no hash"),
    "an empty reason": (line(reason=" "), "empty reason"),
    "an empty symbol": (line(symbol=""), "empty symbol"),
    "two reasons": (line() + line(reason="another"), "one change twice.*'why' and of 'another'"),
    "the same twice": (line() + line(), "one change twice"),
    "two earlier hashes": (line(A, C) + line(B, C), "one change twice"),
    "itself": (line(A, A), "in a circle"),
    "a circle": (line(A, B) + line(B, C) + line(C, A), "in a circle"),
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
    change = Change("pipeline.x:f", A, B, "why")
    assert Change(**asdict(change)) == change
