"""Tests of changes to a fingerprint, one rule a test: two texts that may do different things."""

from __future__ import annotations

import pytest

from tests.keys.code.package import Package

DIFFERENT = {
    "a literal": ("def main(): return 1", "def main(): return 2"),
    "a literal's type": ("def main(): return 1", "def main(): return True"),
    "text and bytes": ("def main(): return 'a'", "def main(): return b'a'"),
    "a constant": ("SIZE = 1\ndef main(): return SIZE", "SIZE = 2\ndef main(): return SIZE"),
    "a constant of a constant": (
        "A = 'a'\nB = f'{A}b'\ndef main(): return B",
        "A = 'c'\nB = f'{A}b'\ndef main(): return B",
    ),
    "a default": ("def main(size=1): return size", "def main(size=2): return size"),
    "a keyword default": ("def main(*, size=1): return size", "def main(*, size=2): return size"),
    "a default's constant": (
        "SIZE = 1\ndef f(n=SIZE): return n\ndef main(): return f()",
        "SIZE = 2\ndef f(n=SIZE): return n\ndef main(): return f()",
    ),
    "a parameter's name": ("def main(size=1): return size", "def main(length=1): return length"),
    "a parameter by name or by position only": (
        "def f(a): return a\ndef main(): return f(a=1)",
        "def f(a, /): return a\ndef main(): return f(a=1)",
    ),
    "a parameter or all by position": ("def main(*a): return a", "def main(a): return a"),
    "a parameter or all by name": ("def main(**a): return a", "def main(a): return a"),
    "all by position or all by name": ("def main(*a): return a", "def main(**a): return a"),
    "a parameter also by position or by name only": ("def main(a): return a", "def main(*, a): return a"),
    "a default by position or by name only": ("def main(a=1): return a", "def main(*, a=1): return a"),
    "a lambda's parameters": ("def main(): return lambda *a: a", "def main(): return lambda **a: a"),
    "a keyword of a call": ("def main(): return dict(a=1)", "def main(): return dict(b=1)"),
    "an attribute": ("def main(a=0): return a.real", "def main(a=0): return a.imag"),
    "which local": ("def main():\n  a = 1\n  b = 2\n  return a", "def main():\n  a = 1\n  b = 2\n  return b"),
    "a local or a parameter": (
        "def main(a=1):\n  b = 2\n  return a",
        "def main(a=1):\n  b = 2\n  return b",
    ),
    "a local or a global": (
        "x = 1\ndef main():\n  x = 2\n  def f(): return x\n  return f()",
        "x = 1\ndef main():\n  y = 2\n  def f(): return x\n  return f()",
    ),
    "global": (
        "x = 1\ndef f():\n  global x\n  x = 2\ndef main(): return f(), x",
        "x = 1\ndef f():\n  x = 2\ndef main(): return f(), x",
    ),
    "nonlocal": (
        "def main():\n  x = 1\n  def f():\n    nonlocal x\n    x = 2\n  return f(), x",
        "def main():\n  x = 1\n  def f():\n    x = 2\n  return f(), x",
    ),
    "a comprehension's name or the one outside": (
        "def main(a=()):\n  x = 1\n  return [x for y in a]",
        "def main(a=()):\n  x = 1\n  return [y for y in a]",
    ),
    "a free name of a nested function": (
        "def main():\n  a = 1\n  b = 2\n  def f(): return a\n  return f",
        "def main():\n  a = 1\n  b = 2\n  def f(): return b\n  return f",
    ),
    "a function that is called": (
        "def f(): return 1\ndef g(): return 2\ndef main(): return f()",
        "def f(): return 1\ndef g(): return 2\ndef main(): return g()",
    ),
    "deep down": (
        "def f(): return g()\ndef g(): return h()\ndef h(): return 1\ndef main(): return f()",
        "def f(): return g()\ndef g(): return h()\ndef h(): return 2\ndef main(): return f()",
    ),
    "in a circle": (
        "def f(n): return g(n)\ndef g(n): return f(n - 1)\ndef main(): return f(1)",
        "def f(n): return g(n)\ndef g(n): return f(n - 2)\ndef main(): return f(1)",
    ),
    "the entry of a circle": (
        "def f(n): return g(n)\ndef g(n): return f(n - 1)\ndef main(): return f(1)",
        "def f(n): return g(n)\ndef g(n): return f(n - 1)\ndef main(): return g(1)",
    ),
    "a method": (
        "class A:\n  def f(self): return 1\ndef main(): return A().f()",
        "class A:\n  def f(self): return 2\ndef main(): return A().f()",
    ),
    "a field's type": (
        "from dataclasses import dataclass\n@dataclass\nclass A:\n  a: int\ndef main(): return A(1)",
        "from dataclasses import dataclass\n@dataclass\nclass A:\n  a: str\ndef main(): return A(1)",
    ),
    "the order of fields": (
        "from typing import NamedTuple\nclass A(NamedTuple):\n  a: int\n  b: int\ndef main(): return A(1, 2)",
        "from typing import NamedTuple\nclass A(NamedTuple):\n  b: int\n  a: int\ndef main(): return A(1, 2)",
    ),
    "a type hint under a decorator": (
        "def show(f): return f\n@show\ndef main(a: int = 1): return a",
        "def show(f): return f\n@show\ndef main(a: str = 1): return a",
    ),
    "a decorator": (
        "import functools\n@functools.lru_cache(1)\ndef main(): return 1",
        "import functools\n@functools.lru_cache(2)\ndef main(): return 1",
    ),
    "a base class": (
        "class A: pass\nclass B: x = 1\nclass C(A): pass\ndef main(): return C",
        "class A: pass\nclass B: x = 1\nclass C(B): pass\ndef main(): return C",
    ),
    "an import from elsewhere": (
        "from json import dumps as f\ndef main(): return f(1)",
        "from marshal import dumps as f\ndef main(): return f(1)",
    ),
    "a call at the top level": (
        "import random\nrandom.seed(1)\ndef main(): return random.random()",
        "import random\nrandom.seed(2)\ndef main(): return random.random()",
    ),
    "the order of statements": (
        "x = []\nx.append(1)\nx.append(2)\ndef main(): return x",
        "x = []\nx.append(2)\nx.append(1)\ndef main(): return x",
    ),
    "a patch that nothing mentions": (
        "import os\ndef main(): return 1",
        "import os\nos.environ['A'] = 'b'\ndef main(): return 1",
    ),
    "a computed value that nothing uses": (
        "def f(): print(1)\ndef main(): return 1",
        "def f(): print(1)\nX = f()\ndef main(): return 1",
    ),
    "a registered function": (
        "ALL = []\ndef rule(f): ALL.append(f)\n@rule\ndef a(): return 1\ndef main(): return ALL",
        "ALL = []\ndef rule(f): ALL.append(f)\n@rule\ndef a(): return 2\ndef main(): return ALL",
    ),
    "a function registered by a decorator with a common name": (
        "ALL = []\ndef cache(f): ALL.append(f)\n@cache\ndef a(): return 1\ndef main(): return ALL",
        "ALL = []\ndef cache(f): ALL.append(f)\n@cache\ndef a(): return 2\ndef main(): return ALL",
    ),
    "an import that an inner function replaces": (
        "def main():\n  import json as x\n  def f():\n    nonlocal x\n    x = 1\n  return f(), x",
        "def main():\n  import json as x\n  def f():\n    x = 1\n  return f(), x",
    ),
    "an import that an inner function replaces, used after": (
        "def main():\n  import re as x\n  def f():\n    nonlocal x\n    x = 1\n  return f(), x",
        "def main():\n  import re as x\n  def f():\n    nonlocal x\n    x = 1\n  import re\n  return f(), re",
    ),
    "what a statement at the top level calls": (
        "def f(): print(1)\nX = f()\ndef main(): return 1",
        "def f(): print(2)\nX = f()\ndef main(): return 1",
    ),
    "a module's name that a method reads past its class": (
        "size = 1\nclass A:\n  size = 5\n  def f(self): return size\ndef main(): return A",
        "size = 2\nclass A:\n  size = 5\n  def f(self): return size\ndef main(): return A",
    ),
    "a name rebound before or after it is read": (
        "A = []\nX = 1\nA.append(X)\nX = 2\ndef main(): return A",
        "A = []\nX = 1\nX = 2\nA.append(X)\ndef main(): return A",
    ),
    "the order of methods under a metaclass": (
        "import abc\nclass A(metaclass=abc.M):\n  def f(s): pass\n  def g(s): pass\ndef main(): return A",
        "import abc\nclass A(metaclass=abc.M):\n  def g(s): pass\n  def f(s): pass\ndef main(): return A",
    ),
    "type hints of fields as text": (
        "from typing import NamedTuple\nclass A(NamedTuple):\n  a: int\ndef main(): return A",
        "from __future__ import annotations\nfrom typing import NamedTuple\nclass A(NamedTuple):\n  a: int\n"
        "def main(): return A",
    ),
    "a registered class": (
        "class A:\n  all = []\n  def __init_subclass__(cls): A.all.append(cls)\n"
        "class B(A): x = 1\ndef main(): return A.all",
        "class A:\n  all = []\n  def __init_subclass__(cls): A.all.append(cls)\n"
        "class B(A): x = 2\ndef main(): return A.all",
    ),
    "a class registered by the metaclass of its base": (
        "ALL = []\nclass M(type):\n  def __init__(cls, *a): ALL.append(cls)\n"
        "class A(metaclass=M): pass\nclass B(A): x = 1\ndef main(): return ALL",
        "ALL = []\nclass M(type):\n  def __init__(cls, *a): ALL.append(cls)\n"
        "class A(metaclass=M): pass\nclass B(A): x = 2\ndef main(): return ALL",
    ),
    "the name of a nested function that is looked at": (
        "def main():\n  def f(): return 1\n  return f.__name__",
        "def main():\n  def g(): return 1\n  return g.__name__",
    ),
    "a library that is imported for its effects": (
        "import torch.fft\ndef main(): return 1",
        "import torch.nn\ndef main(): return 1",
    ),
    "a rebound name": ("X = 1\nX = 2\ndef main(): return X", "X = 2\nX = 1\ndef main(): return X"),
    "a branch at the top level": (
        "import sys\nif sys.platform == 'linux': N = 1\nelse: N = 2\ndef main(): return N",
        "import sys\nif sys.platform == 'linux': N = 1\nelse: N = 3\ndef main(): return N",
    ),
    "an f-string's format": ("def main(a=1): return f'{a:.1f}'", "def main(a=1): return f'{a:.2f}'"),
    "an f-string's conversion": ("def main(a=1): return f'{a!r}'", "def main(a=1): return f'{a!s}'"),
    "a nested function's default": (
        "def main():\n  def f(n=1): return n\n  return f()",
        "def main():\n  def f(n=2): return n\n  return f()",
    ),
    "a class attribute that reads the module's name": (
        "size = 1\nclass A:\n  size = size\ndef main(): return A.size",
        "size = 2\nclass A:\n  size = size\ndef main(): return A.size",
    ),
    "the guard": ("def main(n=1): return n", "def f(): return 1\ndef main(n=1): return f()"),
    "a function in a constant table": (
        "def f(): return 1\nALL = {'f': f}\ndef main(): return ALL",
        "def f(): return 2\nALL = {'f': f}\ndef main(): return ALL",
    ),
    "raise or return": ("def main():\n  return ValueError", "def main():\n  raise ValueError"),
    "not all deleted": ("def main(a=1, b=2):\n  del a", "def main(a=1, b=2):\n  del a, b"),
}

LOOKING = {
    "globals": "globals()['helper']()",
    "getattr": "getattr(1, 'real')",
    "eval": "eval('helper()')",
    "exec": "exec('helper()')",
    "vars": "vars()",
    "sys.modules": "sys.modules[__name__].helper()",
    "inspect": "inspect.getsource(main)",
    "__dict__": "main.__globals__['helper']",
}


@pytest.mark.parametrize("rule", DIFFERENT)
def test_different_digests(package: Package, rule: str) -> None:
    """The two texts of a rule have two digests."""
    before, after = DIFFERENT[rule]
    assert package.script(before) != package.script(after)


@pytest.mark.parametrize("rule", LOOKING)
def test_looking_into_code_makes_the_module_count(package: Package, rule: str) -> None:
    """A function that can find what it does not name makes everything in its module count."""
    text = f"import inspect\nimport sys\ndef main(): return {LOOKING[rule]}\ndef helper(): return 1\n"
    assert package.script(text) != package.script(text.replace("return 1", "return 2"))


@pytest.mark.parametrize("error", ["AttributeError", "ImportError", "NameError", "(OSError, NameError)"])
def test_catching_missing_names_makes_the_module_count(package: Package, error: str) -> None:
    """A function that survives a missing name would hide that something was left out."""
    text = f"def main():\n  try: return 1\n  except {error}: return 2\ndef helper(): return 1\n"
    assert package.script(text) != package.script(text.replace("helper(): return 1", "helper(): return 2"))


def test_locals_makes_names_of_locals_count(package: Package) -> None:
    """`locals()` shows them."""
    assert package.script("def main():\n  a = 1\n  return locals()") != package.script(
        "def main():\n  b = 1\n  return locals()"
    )


def test_docstrings_count_where_they_are_read(package: Package) -> None:
    """`__doc__` shows that of its module, and that alone; in a class, the class's."""
    text = '"""One."""\ndef main(): return __doc__\ndef unused():\n  """Three."""\n'
    assert package.script(text) != package.script(text.replace("One", "Two"))
    assert package.script(text) == package.script(text.replace("Three", "Four"))
    effect = text + "print(1)\n"
    assert package.script(effect) != package.script(effect.replace("One", "Two"))
    assert package.script(effect) == package.script(effect.replace("Three", "Four"))
    of_class = 'class A:\n  """One."""\n  a = __doc__\ndef main(): return A.a\n'
    assert package.script(of_class) != package.script(of_class.replace("One", "Two"))


def test_a_module_as_a_value_counts_whole(package: Package) -> None:
    """Whoever is handed a module may use anything in it."""
    script = "from pipeline.demo import other\ndef main(): return dir_of(other)\ndef dir_of(m): return m.f()"
    other = "def f(): return 1\ndef g(): return 1\n"
    changed = "def f(): return 1\ndef g(): return 2\n"
    assert package.script(script, other=other) != package.script(script, other=changed)


def test_effects_of_imported_modules_count(package: Package) -> None:
    """A patch counts although what is used from its module's importer is something else."""
    script = "from pipeline.demo.middle import f\ndef main(): return f()"
    middle = "import pipeline.demo.patch\ndef f(): return 1\n"
    patch = "import os\nos.environ['A'] = '1'\n"
    assert package.script(script, middle=middle, patch=patch) != package.script(
        script, middle=middle, patch=patch.replace("1", "2")
    )


def test_package_files_count(package: Package) -> None:
    """Each `__init__.py` on the way runs."""
    script = {"demo.script": "def main(): return 1\nif __name__ == '__main__': main()\n"}
    patched = {**script, "demo": "import os\nos.environ['A'] = 'b'\n"}
    assert package.fingerprint(script).digest != package.fingerprint(patched).digest


def test_a_script_run_by_name_counts(package: Package) -> None:
    """`python -m` of a sibling is found by its name."""
    script = "import subprocess\ndef main(): subprocess.run(['python', '-m', 'pipeline.demo.other'])"
    other = "def f(): return 1\nif __name__ == '__main__': f()\n"
    assert package.script(script, other=other) != package.script(script, other=other.replace("1", "2"))


def test_equal_names_in_a_circle(package: Package) -> None:
    """Functions of one name in different modules are told apart, circles or not."""
    module = "import pipeline.demo.{0} as other\ndef f(n): return other.f(n - {1})\n"
    script = "from pipeline.demo.{} import f\ndef main(): return f(9)"
    first, second = module.format("b", 1), module.format("a", 2)
    digests = {package.script(script.format(name), a=first, b=second) for name in "ab"}
    assert len(digests) == 2


def test_order_of_equal_names_in_a_circle(package: Package) -> None:
    """Functions of a circle that differ only in their calls count as different."""
    module = "from pipeline.demo.script import main\ndef f(n={}): return n and main()\n"
    text = "from pipeline.demo.a import f as a\nfrom pipeline.demo.b import f as b\ndef main(): return {}"
    functions = {"a": module.format(1), "b": module.format(2)}
    assert package.script(text.format("a() - b()"), **functions) != package.script(
        text.format("b() - a()"), **functions
    )


def test_which_of_two_functions_of_one_name(package: Package) -> None:
    """Both are reached; who calls which matters."""
    text = (
        "from pipeline.demo.a import f as a\nfrom pipeline.demo.b import f as b\ndef main(): return a(), b(1)"
    )
    one, two = "def f(*n): return 1\n", "def f(*n): return 2\n"
    assert package.script(text, a=one, b=two) != package.script(text, a=two, b=one)
