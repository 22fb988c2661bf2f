"""Tests of the contents of a bundle."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
from collections.abc import Callable
from inspect import Parameter, signature
from pathlib import Path
from textwrap import dedent
from typing import cast

import pytest

from tests.keys.code.package import GUARD, SCRIPT, Package
from translations_assets.common.errors import CodeError
from translations_assets.keys.code.fingerprint import CodeBase


def sliced(package: Package, text: str, **others: str) -> str:
    """The script's text in its bundle, without the guard."""
    return package.bundle(text, **others)["pipeline/demo/script.py"].removesuffix(GUARD)


def test_unreached_definitions_are_blanked_in_place(package: Package) -> None:
    """Lines keep their numbers; comments and docstrings may stay."""
    text = '''\
        """A script."""
        import json, sys
        from os import (
            path,  # used
            sep,
        )
        SIZE = 1; COUNT = 2
        @staticmethod
        def unused():
            return json.dumps(SIZE)
        class Unused: pass
        # A comment.
        def main(): return path.sep, COUNT, sys.platform
    '''
    assert sliced(package, text).split("\n")[:-1] == [
        '"""A script."""',
        "import sys",
        "from os import path",
        *["", "", ""],
        "0; COUNT = 2",
        *["", "", "", ""],
        "# A comment.",
        "def main(): return path.sep, COUNT, sys.platform",
    ]


def test_hints_that_do_not_count_are_replaced(package: Package) -> None:
    """They may name what is not there; those of fields stay."""
    text = """\
        from dataclasses import dataclass
        from functools import lru_cache
        from pipeline.demo.types import Big, Small
        LIMIT: Big = 1
        def main(a: Big, b: (  # one
            Big) = LIMIT, *c: Big, d: "Big", **e: dict[Big, Big]) -> (
                Big  # two
            ):
            def inner(f: Big) -> Big: return f
            return Box(inner), small, "x -> y: z"
        @dataclass
        class Box:
            size: Small
            def get(self, n: Big) -> Big: ...
        @lru_cache
        def small(a: Small) -> Small: return a
    """
    bundle = package.bundle(text, types="class Big: pass\nclass Small: pass\n")
    lines = [line.strip() for line in bundle["pipeline/demo/script.py"].removesuffix(GUARD).split("\n")]
    assert [line for line in lines if line] == [
        "from dataclasses import dataclass",
        "from functools import lru_cache",
        "from pipeline.demo.types import Small",
        "LIMIT: 0 = 1",
        "def main(a, b \\",
        "= LIMIT, *c, d, **e) -> (",
        "0  # two",
        "):",
        "def inner(f) -> 0: return f",
        'return Box(inner), small, "x -> y: z"',
        "@dataclass",
        "class Box:",
        "size: Small",
        "def get(self, n) -> 0: ...",
        "@lru_cache",
        "def small(a) -> 0: return a",
    ]
    assert bundle["pipeline/demo/types.py"] == "\nclass Small: pass\n"
    compile(bundle["pipeline/demo/script.py"], "script.py", "exec")


def test_only_modules_that_run_are_there(package: Package) -> None:
    """A module that only unreached code uses is left out, packages' files are not."""
    text = "from pipeline.demo import a, b\ndef main(): return a.f()\ndef unused(): return b.f()\n"
    bundle = package.bundle(text, a="def f(): return 1\n", b="def f(): return 1\n")
    assert [*bundle] == [
        "pipeline/__init__.py",
        "pipeline/demo/__init__.py",
        "pipeline/demo/a.py",
        "pipeline/demo/script.py",
    ]
    assert bundle["pipeline/demo/script.py"].startswith("from pipeline.demo import a\n")


def test_imports_for_their_effects_stay(package: Package) -> None:
    """The patch is made in the bundle, too, although the name imported from its module is not used."""
    text = "from pipeline.demo.patch import unused\ndef main(): print(__import_os.environ['A'])\n"
    text = "import os\n" + text.replace("__import_os", "os") + "def other(): return unused\n"
    patch = "import os\nos.environ['A'] = 'patched'\ndef unused(): return 1\n"
    files = package.bundle(text, patch=patch)
    assert files["pipeline/demo/script.py"].startswith(text)
    assert run(package, files) == "patched\n"


def test_a_module_that_is_looked_into_is_whole(package: Package) -> None:
    """`getattr` may find anything."""
    text = "import json\ndef main(n: json) -> int: return getattr(n, 'a')\ndef helper(): return 1\n"
    assert sliced(package, text) == text


def test_conditional_definitions_run(package: Package) -> None:
    """Imports and functions in branches, and type checkers' branches."""
    text = """
        from __future__ import annotations
        import typing
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from pipeline.demo.missing import Nothing
        try:
            import no_such_module
        except ModuleNotFoundError:
            from pipeline.demo import fallback as no_such_module
        if typing.TYPE_CHECKING:
            number: int
        else:
            number = 3
        def main(nothing: Nothing = None) -> Nothing:
            from pipeline.demo.fallback import g
            print(no_such_module.f() + g(), number)
    """
    files = package.bundle(text, fallback="def f(): return 1\ndef g(): return 1\n")
    assert run(package, files) == "2 3\n"


def run(package: Package, files: dict[str, str] | object) -> str:
    """Output of a bundle's script."""
    assert isinstance(files, dict)
    root = package.write({})
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")
    command = [
        sys.executable,
        "-I",
        "-c",
        f"import sys, runpy; sys.path.insert(0, {str(root)!r})\n"
        f"runpy.run_module({SCRIPT!r}, run_name='__main__')",
    ]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_tar_depends_on_the_code_alone(package: Package) -> None:
    """Two copies in two folders, written at two times, give the same bytes."""
    files = {"demo.script": "def main(): return 'ä'\n" + GUARD}
    first, second = (CodeBase(package.write(files)).bundle_bytes(SCRIPT) for _ in range(2))
    assert first == second
    with tarfile.open(fileobj=io.BytesIO(first)) as archive:
        entries = archive.getmembers()
        assert [entry.name for entry in entries] == [
            "pipeline/__init__.py",
            "pipeline/demo/__init__.py",
            "pipeline/demo/script.py",
        ]
        assert {(entry.mtime, entry.uid, entry.gid, entry.mode) for entry in entries} == {(0, 0, 0, 0o644)}
        text = archive.extractfile("pipeline/demo/script.py")
        assert text is not None
        assert "'ä'" in text.read().decode("utf-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def main(:", "script.py, line 2: "),
        (
            "from pipeline.demo.missing import main",
            "no module pipeline.demo.missing \\(.*script.py, line 2 imports it",
        ),
        (
            "from pipeline.demo.other import *",
            "script.py, line 2: `from .* import \\*` cannot be followed",
        ),
        ("from . import f", "line 2: `from . import f` cannot be followed. .* the module's full name"),
        (
            "import importlib\ndef main(n): importlib.import_module(n)",
            "script:main uses importlib.import_module",
        ),
        ("def main(n): __import__(n)", "script:main uses __import__"),
    ],
)
def test_errors_say_where(package: Package, text: str, message: str) -> None:
    """Code that cannot be followed is refused, with file and line or function."""
    root = package.write({"demo.script": "# first line\n" + text + "\n" + GUARD})
    with pytest.raises(CodeError, match=message):
        CodeBase(root).fingerprint(SCRIPT)


def test_unknown_script(tmp_path: Path) -> None:
    """The error names the script and where it was looked for."""
    with pytest.raises(CodeError, match=f"no module pipeline.none \\(looked for in {tmp_path}\\)"):
        CodeBase(tmp_path).fingerprint("pipeline.none")


def test_imports_are_those_of_reached_code(package: Package) -> None:
    """Third-party modules by their top-level names, and all of them where modules count as a whole."""
    text = dedent("""
        import json, tomllib
        import yaml, numpy.linalg as la
        import PIL.Image
        def main():
            import zstandard
            return la.norm, json.dumps, tomllib.loads
        def unused(): return yaml.safe_load, PIL.Image.new
    """)
    fingerprint = package.fingerprint({"demo.script": text + GUARD})
    assert fingerprint.imports == {"numpy", "zstandard"}
    whole = package.fingerprint({"demo.script": f"import nobody_knows_this\n{text}{GUARD}"})
    assert whole.imports == {"numpy", "zstandard", "yaml", "PIL", "nobody_knows_this"}


def test_parameters_have_no_hints_by_which_a_library_converts(package: Package) -> None:
    """OpusTrainer converts what a modifier is given by the hints of its parameters."""
    text = (
        "class Big: pass\n"
        "def main(one: Big, two: Big[\n    1,  # first\n    2,\n] = 3, *rest: (  # more\n"
        "    Big), last: Big = 4): pass\n"
    )
    source = package.bundle(text)["pipeline/demo/script.py"]
    names = {"__name__": "script"}
    exec(compile(source, "script.py", "exec"), names)
    main = cast(Callable[..., object], names["main"])
    parameters = signature(main).parameters.values()
    assert [parameter.name for parameter in parameters] == ["one", "two", "rest", "last"]
    assert {parameter.annotation for parameter in parameters} == {Parameter.empty}
    assert source.count("\n") == (text + GUARD).count("\n")
