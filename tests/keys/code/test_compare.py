"""Tests of descriptions of changed code."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.keys.code.package import GUARD, SCRIPT, Package
from translations_assets.keys.code.compare import code_changes
from translations_assets.keys.code.fingerprint import CodeBase

BEFORE = """
import json
from pipeline.demo.words import Words

LIMIT = 10
TABLE = frozenset("1")


def helper(x, y=1):
    # adds
    return x + y


def main():
    print(helper(LIMIT), TABLE, Words().first())
"""
WORDS = """
class Words:
    SIZE = 3

    def first(self):
        return self.second() + self.SIZE

    def second(self):
        count = 2
        return count
"""


def changes(package: Package, before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    return code_changes(CodeBase(package.write(before)), CodeBase(package.write(after)), SCRIPT)


def files(old: str = "", new: str = "", script: str = BEFORE, words: str = WORDS) -> dict[str, str]:
    """The two modules, a piece of their text replaced."""
    assert old in script + words
    return {
        "demo.script": script.replace(old, new) + GUARD if old else script + GUARD,
        "demo.words": words.replace(old, new) if old else words,
    }


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("return x + y", "return x - y", ["pipeline.demo.script: function helper changed"]),
        ("y=1", "y=2", ["pipeline.demo.script: function helper changed"]),
        ("LIMIT = 10", "LIMIT = 11", ["pipeline.demo.script: constant LIMIT changed"]),
        ('frozenset("1")', 'frozenset("2")', ["pipeline.demo.script: constant TABLE changed"]),
        ("count = 2", "count = 5", ["pipeline.demo.words: method Words.second changed"]),
        ("SIZE = 3", "SIZE = 4", ["pipeline.demo.words: attribute Words.SIZE changed"]),
        ("class Words:", "class Words(dict):", ["pipeline.demo.words: class Words changed"]),
        (
            "TABLE,",
            "LIMIT, TABLE,",
            ["pipeline.demo.script: function main changed"],
        ),
        (
            "print(helper(LIMIT)",
            "print((LIMIT)",
            ["pipeline.demo.script: function helper removed", "pipeline.demo.script: function main changed"],
        ),
        ("    main()\n", "    print(1)\n    main()\n", ["pipeline.demo.script: main guard changed"]),
    ],
)
def test_what_changed_is_named(package: Package, old: str, new: str, said: list[str]) -> None:
    before, after = files(), files()
    for name, text in after.items():
        after[name] = text.replace(old, new)
    assert after != before
    assert changes(package, before, after) == said
    assert CodeBase(package.write(before)).fingerprint(SCRIPT).digest != (
        CodeBase(package.write(after)).fingerprint(SCRIPT).digest
    )


@pytest.mark.parametrize(("old", "new"), [("# adds", "# sums"), ("count", "number"), ("SIZE = 3", "SIZE=3")])
def test_nothing_is_said_of_what_changes_no_fingerprint(package: Package, old: str, new: str) -> None:
    assert changes(package, files(), files(old, new)) == []


def test_a_move_to_another_module_is_not_named_beside_what_changed(package: Package) -> None:
    helper = BEFORE[BEFORE.index("def helper") : BEFORE.index("def main")]
    moved = BEFORE.replace(helper, "").replace(
        "import json", "import json\nfrom pipeline.demo.sums import helper"
    )
    after = {**files(script=moved.replace("LIMIT = 10", "LIMIT = 1")), "demo.sums": helper}
    assert changes(package, files(), after) == ["pipeline.demo.script: constant LIMIT changed"]


def test_added_and_removed_methods(package: Package) -> None:
    after = files(
        "return self.second() + self.SIZE", "return self.SIZE\n\n    def third(self):\n        pass"
    )
    assert changes(package, files(), after) == [
        "pipeline.demo.words: method Words.first changed",
        "pipeline.demo.words: method Words.third added",
    ]


def test_the_bundle_is_as_good_as_the_source(package: Package) -> None:
    """Bundles are what is kept of earlier code."""
    source = CodeBase(package.write(files()))
    after = CodeBase(package.write(files("LIMIT = 10", "LIMIT = 12")))
    bundle = {
        path.removeprefix("pipeline/").removesuffix(".py").replace("/", "."): text
        for path, text in source.bundle(SCRIPT).items()
        if not path.endswith("__init__.py")
    }
    before = CodeBase(package.write(bundle))
    assert code_changes(before, source, SCRIPT) == []
    assert code_changes(before, after, SCRIPT) == ["pipeline.demo.script: constant LIMIT changed"]


WHOLE = {
    "demo.script": "from pipeline.demo.words import ALL\ndef main(): print(ALL)\ndef unused(): return 1\n"
    + GUARD,
    "demo.words": "ALL = []\nfor n in (1, 2):\n    ALL.append(n)\n",
}
WHY = (
    "pipeline.demo.script: all modules that it may run count, with all that stands in them: "
    "pipeline.demo.words, line 2: a statement `for n in (1, 2):` runs at import"
)


def test_why_modules_count_as_a_whole_is_said(package: Package) -> None:
    after = {**WHOLE, "demo.script": WHOLE["demo.script"].replace("return 1", "return 2")}
    assert changes(package, WHOLE, after) == ["pipeline.demo.script: function unused changed", WHY]
    plain = {**WHOLE, "demo.words": "ALL = [1, 2]\n"}
    assert changes(package, plain, WHOLE) == [WHY]
    assert changes(package, WHOLE, WHOLE) == []
