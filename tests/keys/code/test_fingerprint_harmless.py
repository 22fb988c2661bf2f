"""Tests of equal fingerprints, one rule a test: two texts that do the same."""

from __future__ import annotations

import pytest

from tests.keys.code.package import GUARD, Package

SAME = {
    "comments": (
        """
        def main():
            return 1
        """,
        """
        # what
        def main():  # why
            # how
            return 1
        """,
    ),
    "docstrings": (
        """
        def main():
            return Box
        class Box:
            size = 1
        """,
        '''
        """A module."""
        def main():
            """Returns."""
            return Box
        class Box:
            """Holds."""
            size = 1
            """How many."""
        ''',
    ),
    "formatting": (
        """
        def main():
            return f(1, "ab", (2 + 3) * 4)
        def f(a, b, c): return {"a": a, 'b': b}
        """,
        """
        def main():
            return (
                f(
                    1,
                    'a' "b",
                    ((2 + 3) * 0x4),
                )
            )
        def f(
            a,
            b,
            c,
        ):
            return {
                'a': a,
                "b": b,
            }
        """,
    ),
    "the order of functions": (
        """
        def a(): return b()
        def b(): return 1
        def main(): return a()
        """,
        """
        def main(): return a()
        def b(): return 1
        def a(): return b()
        """,
    ),
    "the order and the form of imports": (
        """
        import json
        import os.path
        from collections.abc import Sequence
        def main(): return json.dumps(os.path.sep), Sequence
        """,
        """
        from os import path as location
        import collections.abc
        from json import dumps as write
        def main(): return write(location.sep), collections.abc.Sequence
        """,
    ),
    "an import moved into a function": (
        """
        import json
        def main(): return json.dumps(1)
        """,
        """
        def main():
            from json import dumps
            return dumps(1)
        """,
    ),
    "unused functions, classes, constants and imports": (
        "def main(): return 1",
        """
        import json
        import re
        from typing import TypeVar
        T = TypeVar("T")
        SIZE = 3
        NAMES = ["a", "b"]
        PATTERN = re.compile(f"a{SIZE}")
        def main(): return 1
        def helper(): return json.dumps(SIZE)
        class Helper: names = NAMES
        HELPERS = (helper, Helper)
        """,
    ),
    "type hints of plain functions": (
        """
        def main(argv=None, *rest, **options):
            number = 1
            def inner(a): return a
            return inner(number)
        """,
        """
        from __future__ import annotations
        from typing import TYPE_CHECKING, Any
        import decimal
        if TYPE_CHECKING:
            from numpy import ndarray
        def main(argv: list[str] | None = None, *rest: ndarray, **options: Any) -> decimal.Decimal:
            number: int = 1
            unset: str
            def inner(a: Any) -> Any: return a
            return inner(number)
        """,
    ),
    "type hints of variables at the top level": (
        "SIZES = (1, 2)\ndef main(): return SIZES",
        "from typing import Final\nSIZES: Final[tuple[int, int]] = (1, 2)\ndef main(): return SIZES",
    ),
    "type hints whose imports stay behind": (
        """
        import numpy.typing as npt
        from numpy import ndarray
        def main(a: ndarray, b: npt.NDArray): return 1
        """,
        """
        import numpy.typing as npt
        from numpy import ndarray
        def main(a, b): return 1
        """,
    ),
    "an import that stays behind when its use is in another function": (
        """
        import numpy
        def main(): return other()
        def other():
            import numpy as np
            return np.zeros(1)
        """,
        """
        def main(): return other()
        def other():
            from numpy import zeros
            return zeros(1)
        """,
    ),
    "a logger that nobody uses": (
        "def main(): return 1",
        "import logging\nlogger = logging.getLogger(__name__)\ndef main(): return 1",
    ),
    "pass, and braces round what is deleted": (
        """
        def main(a, b):
            del a, b
        """,
        """
        def main(a, b):
            pass
            del (a, b)
        """,
    ),
}

RENAMED = {
    "assignment": ("x = 1\nreturn x", "y = 1\nreturn y"),
    "for and tuple targets": (
        "for x, (y, *z) in a: f(x, y, z)",
        "for p, (q, *r) in a: f(p, q, r)",
    ),
    "with": ("with a as x, f(x) as y: f(y)", "with a as p, f(p) as q: f(q)"),
    "except": ("try: f()\nexcept ValueError as x: f(x)", "try: f()\nexcept ValueError as y: f(y)"),
    "walrus": ("while x := f(a): f(x)", "while y := f(a): f(y)"),
    "walrus in a comprehension": ("f([x := y for y in a])\nreturn x", "f([p := q for q in a])\nreturn p"),
    "comprehensions": (
        "return [x for x in a], {x: y for x, y in a}, {x for x in a if x}, f(x for y in a for x in y)",
        "return [p for p in a], {q: p for q, p in a}, {r for r in a if r}, f(q for z in a for q in z)",
    ),
    "a comprehension over a name that it hides": (
        "x = f()\nreturn [x for x in x]",
        "y = f()\nreturn [x for x in y]",
    ),
    "match": (
        "match a:\n  case [x, *y]: f(x, y)\n  case {'k': x, **y}: f(x, y)\n  case str() as x: f(x)",
        "match a:\n  case [p, *q]: f(p, q)\n  case {'k': p, **q}: f(p, q)\n  case str() as p: f(p)",
    ),
    "nested functions and their free names": (
        "x = 1\ndef inner(k): return x + k\nreturn inner",
        "y = 1\ndef inner(k): return y + k\nreturn inner",
    ),
    "a name that a method reads past its class": (
        "x = 1\nclass A:\n  x = 2\n  def f(self): return x\nreturn A",
        "y = 1\nclass A:\n  x = 2\n  def f(self): return y\nreturn A",
    ),
    "nonlocal": (
        "x = 1\ndef inner():\n  nonlocal x\n  x += 1\nreturn inner",
        "y = 1\ndef inner():\n  nonlocal y\n  y += 1\nreturn inner",
    ),
    "lambda": ("x = 1\nreturn lambda k: x + k", "y = 1\nreturn lambda k: y + k"),
    "imports in functions": ("import json as x\nreturn x.dumps(a)", "import json as y\nreturn y.dumps(a)"),
    "augmented assignment and del": ("x = a\nx += 1\ndel x", "y = a\ny += 1\ndel y"),
    "f-strings": ("x = a\nreturn f'{x!r:>{x}} b'", "y = a\nreturn f'{y!r:>{y}} b'"),
}


@pytest.mark.parametrize("rule", SAME)
def test_same_digest(package: Package, rule: str) -> None:
    """The two texts of a rule have one digest."""
    before, after = SAME[rule]
    assert package.script(before) == package.script(after)


@pytest.mark.parametrize("rule", RENAMED)
def test_renamed_locals(package: Package, rule: str) -> None:
    """Other names for locals give the same digest; the same code without its last line does not."""
    before, after = (_in_function(body) for body in RENAMED[rule])
    assert package.script(before) == package.script(after)
    assert package.script(before) != package.script(before.replace("return f(a)", "return f(f(a))"))


def _in_function(body: str) -> str:
    lines = "\n".join("    " + line for line in body.splitlines())
    return f"def f(*args): return args\ndef main(a=()):\n{lines}\n    return f(a)\n"


def test_moved_to_another_module(package: Package) -> None:
    """Functions, the constants and patterns they use, and circles of them may move."""
    helpers = """
        import re
        WORD = re.compile("a+")
        def even(n): return n == 0 or odd(n - 1)
        def odd(n): return n != 0 and even(n - 1)
        def words(text): return WORD.findall(text), even(2)
    """
    main = "def main(): return words('a')\n"
    here = package.fingerprint({"demo.script": _joined(helpers, main)})
    there = package.fingerprint(
        {"demo.script": _joined("from pipeline.demo.other import words\n", main), "demo.other": helpers}
    )
    assert here.digest == there.digest
    assert set(here.parts) != set(there.parts)


def test_import_forms_of_the_package(package: Package) -> None:
    """All ways to name a function of the package, and a re-export, are one."""
    other = "def f(): return 1\ndef g(): return 2\n"
    forms = [
        "from pipeline.demo.other import f\ndef main(): return f()",
        "from pipeline.demo.other import f as h\ndef main(): return h()",
        "import pipeline.demo.other\ndef main(): return pipeline.demo.other.f()",
        "import pipeline.demo.other as o\ndef main(): return o.f()",
        "from pipeline.demo import other\ndef main(): return other.f()",
        "def main():\n    from pipeline.demo.other import f\n    return f()",
        "from pipeline.demo.more import f\ndef main(): return f()",
    ]
    more = "from pipeline.demo.other import f\n"
    digests = {package.script(form, other=other, more=more) for form in forms}
    assert len(digests) == 1
    assert package.script(forms[0], other=other.replace("1", "3")) not in digests


def test_other_functions_of_a_used_module(package: Package) -> None:
    """From a module that is used, only what is used counts."""
    script = "from pipeline.demo import other\ndef main(): return other.f()"
    with_more = "import json\nSIZE = 1\ndef f(): return 1\ndef g(): return json.dumps(SIZE)\n"
    assert package.script(script, other="def f(): return 1\n") == package.script(script, other=with_more)


def test_unused_guards_and_modules(package: Package) -> None:
    """The main guard of another module does not count."""
    script = "from pipeline.demo.other import f\ndef main(): return f()"
    other = "def f(): return 1\n"
    assert package.script(script, other=other) == package.script(script, other=other + GUARD)


def _joined(first: str, second: str) -> str:
    from textwrap import dedent

    return dedent(first) + second + GUARD
