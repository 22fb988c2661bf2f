"""Tries to fool a key: pairs of small packages of scripts that print different things.

In a text `«one¦other»` stands for `one` in the first package and for `other` in the second. A text is that of
`pipeline/demo/script.py`, which calls `main()` in its guard; others are modules of `pipeline.demo` by name.
"""

from __future__ import annotations

from collections.abc import Mapping

Files = Mapping[str, str]
_REGISTRY = "ALL = []\ndef rule(f):\n    ALL.append(f.__name__)\n    return f\n"
_USE = "from pipeline.demo.other import f\ndef main(): print(f())\n"
_PARSER = (
    "import argparse\ndef main():\n    parser = argparse.ArgumentParser(prog='a', description=__doc__)\n"
)

ORDER: Mapping[str, Files] = {
    "imports that print": {
        "script": "import pipeline.demo.«other¦more»\nimport pipeline.demo.«more¦other»\ndef main(): pass\n",
        "other": "print('other')\n",
        "more": "print('more')\n",
    },
    "imports that register": {
        "script": "from pipeline.demo import «a¦b»\nfrom pipeline.demo import «b¦a»\n"
        "from pipeline.demo.all import ALL\ndef main(): print(ALL)\n",
        "all": "ALL = []\n",
        "a": "from pipeline.demo.all import ALL\nALL.append('a')\n",
        "b": "from pipeline.demo.all import ALL\nALL.append('b')\n",
    },
    "imports in one statement": {
        "script": "from pipeline.demo import «a, b¦b, a»\ndef main(): pass\n",
        "a": "print('a')\n",
        "b": "print('b')\n",
    },
    "an import before a statement or behind it": {
        "script": "«import pipeline.demo.other¦»\nprint('here')\n«¦import pipeline.demo.other»\n"
        "def main(): pass\n",
        "other": "print('other')\n",
    },
    "an import of the standard library that prints": {
        "script": "«import json¦import this»\ndef main(): pass\n"
    },
    "an import of the standard library that prints, in a function": {
        "script": "def main():\n    «import this¦pass»\n"
    },
    "an import in a function or at the top": {
        "script": "«from pipeline.demo.other import f¦»\ndef main():\n    print('main')\n"
        "    «¦from pipeline.demo.other import f»\n    f()\n",
        "other": "print('other')\ndef f(): pass\n",
    },
    "an import in a function, before or behind": {
        "script": "def main():\n    «import pipeline.demo.other¦»\n    print(1)\n"
        "    «¦import pipeline.demo.other»\n",
        "other": "print('other')\n",
    },
    "a package's file that prints": {"script": "def main(): pass\n", "__init__": "print(«1¦2»)\n"},
    "an unused import of what has an effect": {
        "script": "«import pipeline.demo.other¦»\ndef main(): pass\n",
        "other": "print('other')\n",
    },
    "an import behind another module": {
        "script": _USE,
        "other": "«import pipeline.demo.more¦»\ndef f(): return 1\n",
        "more": "print('more')\n",
    },
    "a constant that is read when its module is imported": {
        "script": "from pipeline.demo.all import ALL\n«from pipeline.demo.other import N¦»\ndef main():\n"
        "    ALL.append(1)\n    «¦from pipeline.demo.other import N»\n    print(N)\n",
        "all": "ALL = []\n",
        "other": "from pipeline.demo.all import ALL\nN = len(ALL)\n",
    },
    "an environment variable that is read at import": {
        "script": "import os\n«from pipeline.demo.other import N¦»\ndef main():\n"
        "    os.environ['SOME'] = 'b'\n"
        "    «¦from pipeline.demo.other import N»\n    print(N)\n",
        "other": "import os\nN = os.environ.get('SOME', 'a')\n",
    },
    "a module that counts who imports it": {
        "script": "import pipeline.demo.«a¦b»\nimport pipeline.demo.«b¦a»\nfrom pipeline.demo.a import A\n"
        "def main(): print(A)\n",
        "count": "N = [0]\ndef number():\n    N[0] += 1\n    return N[0]\n",
        "a": "from pipeline.demo.count import number\nA = number()\n",
        "b": "from pipeline.demo.count import number\nB = number()\n",
    },
    "a random number at import": {
        "script": "import random\nrandom.seed(1)\nimport pipeline.demo.«a¦b»\nimport pipeline.demo.«b¦a»\n"
        "from pipeline.demo.a import A\ndef main(): print(A)\n",
        "a": "import random\nA = random.random()\n",
        "b": "import random\nB = random.random()\n",
    },
}

REGISTERING: Mapping[str, Files] = {
    "a decorator": {
        "script": "from pipeline.demo.other import ALL\ndef main(): print(ALL)\n",
        "other": _REGISTRY + "@rule\ndef a(): pass\n«@rule¦»\ndef b(): pass\n",
    },
    "a decorator of another module": {
        "script": "from pipeline.demo.all import ALL\nfrom pipeline.demo import other\n"
        "def main(): print(ALL)\n",
        "all": _REGISTRY,
        "other": "from pipeline.demo.all import rule\n@rule\ndef «a¦b»(): pass\n",
    },
    "the order of decorated functions": {
        "script": _REGISTRY + "@rule\ndef «a¦b»(): pass\n@rule\ndef «b¦a»(): pass\ndef main(): print(ALL)\n"
    },
    "a decorator with a known name": {
        "script": "ALL = []\ndef cache(f):\n    ALL.append(f.__name__)\n    return f\n"
        "@cache\ndef «a¦b»(): pass\ndef main(): print(ALL)\n"
    },
    "a decorator in a class": {
        "script": _REGISTRY + "class A:\n    @rule\n    def «a¦b»(self): pass\ndef main(): print(ALL)\n"
    },
    "a decorator's argument": {
        "script": "import functools\nALL = []\n@functools.lru_cache(ALL.append(«1¦2»))\ndef f(): pass\n"
        "def main(): print(ALL)\n"
    },
    "singledispatch": {
        "script": "import functools\n@functools.singledispatch\ndef f(a): return 'any'\n"
        "@f.register\ndef _(a: «int¦str»): return 'one'\ndef main(): print(f(1))\n"
    },
    "atexit": {
        "script": "import atexit\natexit.register(print, «1, 2¦2, 1»)\ndef main(): pass\n",
    },
    "an ABC that is registered": {
        "script": "import abc\nclass A(abc.ABC): pass\nclass B: pass\n«A.register(B)¦»\n"
        "def main(): print(isinstance(B(), A))\n"
    },
    "a list at the top level": {
        "script": "ALL = []\nALL.append(«1¦2»)\ndef main(): print(ALL)\n",
    },
    "a dictionary that another module fills": {
        "script": "from pipeline.demo.all import ALL\nimport pipeline.demo.other\ndef main(): print(ALL)\n",
        "all": "ALL = {}\n",
        "other": "from pipeline.demo import all\nall.ALL['a'] = «1¦2»\n",
    },
}

CLASSES: Mapping[str, Files] = {
    "__init_subclass__": {
        "script": "class A:\n    all = []\n    def __init_subclass__(cls): A.all.append(cls.__name__)\n"
        "class «B¦C»(A): pass\ndef main(): print(A.all)\n"
    },
    "__init_subclass__ of another module": {
        "script": "from pipeline.demo.base import A\nimport pipeline.demo.other\ndef main(): print(A.all)\n",
        "base": "class A:\n    all = []\n    def __init_subclass__(cls): A.all.append(cls.__name__)\n",
        "other": "from pipeline.demo.base import A\nclass «B¦C»(A): pass\n",
    },
    "__init_subclass__ with an argument": {
        "script": "class A:\n    def __init_subclass__(cls, n=0): print(n)\nclass B(A, n=«1¦2»): pass\n"
        "def main(): pass\n"
    },
    "a metaclass": {
        "script": "ALL = []\nclass M(type):\n    def __init__(cls, name, *rest): ALL.append(name)\n"
        "class «B¦C»(metaclass=M): pass\ndef main(): print(ALL)\n"
    },
    "a metaclass of the base": {
        "script": "ALL = []\nclass M(type):\n    def __init__(cls, name, *rest): ALL.append(name)\n"
        "class A(metaclass=M): pass\nclass «B¦C»(A): pass\ndef main(): print(ALL)\n"
    },
    "a metaclass that looks at the order of methods": {
        "script": "ALL = []\nclass M(type):\n    def __init__(cls, n, b, names): ALL.extend(names)\n"
        "class A(metaclass=M):\n    def «f¦g»(self): pass\n    def «g¦f»(self): pass\n"
        "def main(): print(ALL)\n"
    },
    "__prepare__": {
        "script": "class M(type):\n    def __prepare__(name, bases):\n        print(name)\n"
        "        return {}\n"
        "class «A¦B»(metaclass=M): pass\ndef main(): pass\n"
    },
    "__set_name__": {
        "script": "class D:\n    def __set_name__(self, owner, name): print(name)\n"
        "class A:\n    «a¦b» = D()\ndef main(): pass\n"
    },
    "__class_getitem__": {
        "script": "class A:\n    def __class_getitem__(cls, n): print(n)\nX = A[«1¦2»]\ndef main(): pass\n"
    },
    "__mro_entries__": {
        "script": "class A:\n    def __mro_entries__(self, bases):\n        print(«1¦2»)\n"
        "        return ()\na = A()\n"
        "class B(a): pass\ndef main(): pass\n"
    },
    "a class attribute with an effect": {
        "script": "class A:\n    a = print(«1¦2»)\ndef main(): pass\n",
    },
    "a statement in a class": {"script": "class A:\n    for n in (1, 2): print(«n¦-n»)\ndef main(): pass\n"},
    "an unused class attribute that draws": {
        "script": "import random\nrandom.seed(1)\nclass A:\n    «a = random.random()¦a = 1»\n"
        "def main(): print(random.random())\n"
    },
    "a counter in class attributes": {
        "script": "import itertools\nN = itertools.count()\nclass A:\n    a = next(N)\nclass B:\n"
        "    «b = next(N)¦b = 9»\n"
        "class C:\n    c = next(N)\ndef main(): print(C.c)\n"
    },
    "a class decorator that looks at the class": {
        "script": "def show(cls):\n    print([n for n in cls.__dict__ if n in 'ab'])\n    return cls\n"
        "@show\nclass A:\n    def «a¦b»(self): pass\n    def «b¦a»(self): pass\ndef main(): pass\n"
    },
    "two classes that are alike": {
        "script": "from pipeline.demo.a import E\nfrom pipeline.demo.«a¦b» import E as other\ndef main():\n"
        "    try: raise E\n    except other: print('caught')\n    except Exception: print('not caught')\n",
        "a": "class E(Exception): pass\n",
        "b": "class E(Exception): pass\n",
    },
    "two caches that are alike": {
        "script": "from pipeline.demo.a import C\nfrom pipeline.demo.«a¦b» import C as other\ndef main():\n"
        "    C.append(1)\n    print(other)\n",
        "a": "C = []\n",
        "b": "C = []\n",
    },
    "two functions that are alike and count": {
        "script": "from pipeline.demo.a import f\nfrom pipeline.demo.«a¦b» import f as g\ndef main():\n"
        "    f()\n    print(g())\n",
        "a": "def f(seen=[]):\n    seen.append(1)\n    return len(seen)\n",
        "b": "def f(seen=[]):\n    seen.append(1)\n    return len(seen)\n",
    },
}

STATEMENTS: Mapping[str, Files] = {
    "a print": {"script": "print(«1¦2»)\ndef main(): pass\n"},
    "a name bound twice": {"script": "X = «1¦2»\nX = «2¦1»\ndef main(): print(X)\n"},
    "a function defined twice": {
        "script": "def f(): return «1¦2»\ndef f(): return «2¦1»\ndef main(): print(f())\n",
    },
    "a function replaced by an import": {
        "script": "«from pipeline.demo.other import f¦»\ndef f(): return 1\n"
        "«¦from pipeline.demo.other import f»\n"
        "def main(): print(f())\n",
        "other": "def f(): return 2\n",
    },
    "a definition under a condition": {
        "script": "import sys\nif sys.maxsize «>¦<» 9:\n    def f(): return 1\nelse:\n    def f(): return 2\n"
        "def main(): print(f())\n"
    },
    "a definition in try": {
        "script": "try:\n    import «json¦no_such_module» as m\n    A = 1\nexcept ImportError:\n    A = 2\n"
        "def main(): print(A)\n"
    },
    "a loop": {"script": "T = 0\nfor n in range(«3¦4»): T += n\ndef main(): print(T)\n"},
    "a deleted name": {
        "script": "len = max\n«¦del len»\ndef main(): print(len([4, 5]))\n",
    },
    "a default with an effect": {"script": "def f(n=print(«1¦2»)): pass\ndef main(): pass\n"},
    "a default that counts": {
        "script": "import itertools\nN = itertools.count()\ndef a(n=next(N)): return n\n"
        "«def b(n=next(N)): return n¦»\n"
        "def c(n=next(N)): return n\ndef main(): print(c())\n"
    },
    "a type hint with an effect": {"script": "def f(n: print(«1¦2»)): pass\ndef main(): pass\n"},
    "a variable's type hint with an effect": {"script": "x: print(«1¦2»)\ndef main(): pass\n"},
    "a global counter": {
        "script": "from pipeline.demo.other import f\ndef main(): print(f())\n",
        "other": "N = 0\ndef count():\n    global N\n    N += 1\n    return N\nA = count()\n«B = count()¦»\n"
        "def f(): return count()\n",
    },
    "a name that a function changes": {
        "script": "from pipeline.demo «import other¦.other import change, X»\ndef main():\n"
        "    «other.change(); print(other.X)¦change(); print(X)»\n",
        "other": "X = 1\ndef change():\n    global X\n    X = 2\n",
    },
    "a patched name of another module": {
        "script": "from pipeline.demo import other\nother.X = «1¦2»\ndef main(): print(other.f())\n",
        "other": "X = 0\ndef f(): return X\n",
    },
    "a patch in a function": {
        "script": "from pipeline.demo import other\nfrom pipeline.demo.other import X\ndef main():\n"
        "    other.X = 2\n    print(«other.X¦X»)\n",
        "other": "X = 1\n",
    },
    "a patch through a local import": {
        "script": "from pipeline.demo.other import X\ndef main():\n    import pipeline.demo.other as o\n"
        "    o.X = 2\n    print(«o.X¦X»)\n",
        "other": "X = 1\n",
    },
    "a patched function of the standard library": {
        "script": "import json\nfrom json import dumps\ndef main():\n    json.dumps = str\n"
        "    print(«json.dumps¦dumps»([None]))\n"
    },
    "a patch of the standard library at import": {
        "script": "import json\nimport pipeline.demo.other\ndef main(): print(json.dumps([None]))\n",
        "other": "import json\n«json.dumps = str¦»\n",
    },
    "a patched module that moved functions use": {
        "script": "from pipeline.demo import other\ndef main():\n    other.g = lambda: 2\n"
        "    print(other.f())\n",
        "other": "«def g(): return 1\ndef f(): return g()¦from pipeline.demo.more import f, g»\n",
        "more": "def g(): return 1\ndef f(): return g()\n",
    },
    "a statement behind the guard": {
        "script": "def main(): print(X)\n«X = 1¦X = 2»\nimport atexit\n",
    },
    "a seed at import": {
        "script": "import random\nimport pipeline.demo.other\ndef main(): print(random.random())\n",
        "other": "import random\nrandom.seed(«1¦2»)\n",
    },
    "a changed recursion limit": {
        "script": "import sys\nsys.setrecursionlimit(«400¦500»)\n"
        "def main(): print(sys.getrecursionlimit())\n",
    },
    "two names that are bound together": {
        "script": "from pipeline.demo.other import «a¦b as a»\ndef main(): print(a)\n",
        "other": "a, b = 1, 2\n",
    },
    "two names that are bound together, in a function": {
        "script": "from pipeline.demo import other\na, b = 1, 2\ndef main(): print(«a¦b», other.«a¦b»)\n",
        "other": "a, b = 1, 1\n",
    },
    "a walrus at the top level": {"script": "X = [(Y := n) for n in (1, «2¦3»)]\ndef main(): print(Y)\n"},
    "a with statement": {
        "script": "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as f: print(«1¦2»)\n"
        "def main(): print(f.getvalue())\n"
    },
    "a function of a module with the name of a known method": {
        "script": "from pipeline.demo import other\nX = other.get(«1¦2»)\ndef main(): pass\n",
        "other": "def get(n): print(n)\n",
    },
    "a function of a class with the name of a known method": {
        "script": "class A:\n    def get(n): print(n)\nX = A.get(«1¦2»)\ndef main(): pass\n",
    },
    "a class in a list, with such a function": {
        "script": "class A:\n    def get(n): print(n)\nX = [a.get(«1¦2») for a in (A,)]\ndef main(): pass\n",
    },
    "a class under another name, with such a function of its base": {
        "script": "class A:\n    def get(n): print(n)\nclass B(A): pass\nC = B\nX = C.get(«1¦2»)\n"
        "def main(): pass\n",
    },
    "a property of a record": {
        "script": "from typing import NamedTuple\nclass A(NamedTuple):\n    a: int\n    @property\n"
        "    def b(self): print(self.a)\nX = [a.b for a in (A(«1¦2»),)]\ndef main(): pass\n",
    },
    "a property of a record, by a format": {
        "script": "from typing import NamedTuple\nclass A(NamedTuple):\n    a: int\n    @property\n"
        "    def b(self): print(self.a)\nX = '{0.b}'.format(A(«1¦2»))\ndef main(): pass\n",
    },
    "a pattern that tells what it is": {
        "script": "import re\nX = re.compile('«a¦b»', re.DEBUG)\ndef main(): pass\n",
    },
    "a field that a function fills": {
        "script": "from dataclasses import dataclass, field\ndef f(): print(«1¦2»)\n@dataclass\nclass A:\n"
        "    a: int = field(default_factory=f)\nX = A()\ndef main(): pass\n",
    },
    "a dictionary that a function fills": {
        "script": "from collections import defaultdict\ndef f(): print(«1¦2»)\nX = defaultdict(f)\nY = X[1]\n"
        "def main(): pass\n",
    },
    "a key by which values are sorted": {
        "script": "X = sorted([1], **{'key': lambda n: print(«n¦-n»)})\ndef main(): pass\n",
    },
    "an import into the module's names": {
        "script": "from json import dumps\ndef f():\n    global dumps\n"
        "    from «json import dumps¦pprint import pformat as dumps»\n"
        "def main():\n    f()\n    print(dumps(['a']))\n",
    },
    "an assertion": {
        "script": "try:\n    assert «1¦0»\n    A = 1\nexcept AssertionError:\n    A = 2\n"
        "def main(): print(A)\n",
    },
}

NAMES: Mapping[str, Files] = {
    "locals()": {"script": "def main():\n    «a¦b» = 1\n    print(locals())\n"},
    "vars()": {"script": "def main():\n    «a¦b» = 1\n    print(vars())\n"},
    "dir()": {"script": "def main():\n    «a¦b» = 1\n    print(dir())\n"},
    "globals()": {"script": "def «a¦b»(): pass\ndef main(): print('a' in globals())\n"},
    "vars of an object": {
        "script": "from pipeline.demo import other\n"
        "def main(): print(sorted(n for n in vars(other) if n < 'z' and n > 'Z'))\n",
        "other": "«a¦b» = 1\n",
    },
    "eval": {
        "script": "def main():\n    «a¦b» = 1\n    try: print(eval('a'))\n    except Exception: print(2)\n"
    },
    "eval under another name": {
        "script": "look = eval\ndef main(): print(look('f()'))\ndef f(): return «1¦2»\n",
    },
    "eval from a list": {"script": "def main(): print([eval][0]('f()'))\ndef f(): return «1¦2»\n"},
    "builtins": {
        "script": "import builtins\ndef main(): print(builtins.eval('f()'))\ndef f(): return «1¦2»\n"
    },
    "__builtins__": {"script": "def main(): print(__builtins__.eval('f()'))\ndef f(): return «1¦2»\n"},
    "exec": {"script": "def main(): exec('print(f())')\ndef f(): return «1¦2»\n"},
    "a frame's names": {
        "script": "import sys\ndef main():\n    «a¦b» = 1\n    print([*sys._getframe().f_locals])\n"
    },
    "sys through another module": {
        "script": "import os\ndef main():\n    «a¦b» = 1\n    print([*os.sys._getframe().f_locals])\n",
    },
    "a frame's line": {"script": "import sys\n«¦\n»def main(): print(sys._getframe().f_lineno)\n"},
    "a traceback's line": {
        "script": "def main():\n    try:\n«¦\n»        1 / 0\n    except Exception as error:\n"
        "        print(error.__traceback__.tb_lineno)\n"
    },
    "a traceback's text": {
        "script": "import traceback\ndef main():\n    try:\n        1 / 0  # «a¦b»\n    except Exception:\n"
        "        print(traceback.format_exc())\n"
    },
    "a generator's frame": {
        "script": "def f():\n    «a¦b» = 1\n    yield 1\ndef main():\n    g = f()\n    next(g)\n"
        "    print([*g.gi_frame.f_locals])\n"
    },
    "a frame in a signal's handler": {
        "script": "import os, signal\ndef show(number, frame): print([*frame.f_locals])\ndef main():\n"
        "    «a¦b» = 1\n"
        "    signal.signal(signal.SIGUSR1, show)\n    os.kill(os.getpid(), signal.SIGUSR1)\n"
    },
    "a trace": {
        "script": "import sys\ndef show(frame, event, arg): print(frame.f_code.co_name)\ndef main():\n"
        "    sys.setprofile(show)\n    (lambda: 1)()\n    «f()¦g()»\ndef f(): pass\ndef g(): pass\n"
    },
    "__code__": {"script": "def main(): print(f.__code__.co_varnames)\ndef f():\n    «a¦b» = 1\n"},
    "a line by __code__": {"script": "«¦\n»def main(): print(main.__code__.co_firstlineno)\n"},
    "__dict__ of a class": {
        "script": "class A:\n    def «a¦b»(self): pass\n    def «b¦a»(self): pass\n"
        "def main(): print([n for n in A.__dict__ if n in 'ab'])\n"
    },
    "__dict__ of a module": {
        "script": "import pipeline.demo.other as o\ndef main(): print('a' in o.__dict__)\n",
        "other": "def «a¦b»(): pass\n",
    },
    "__globals__": {"script": "def main(): print('a' in main.__globals__)\ndef «a¦b»(): pass\n"},
    "sys.modules": {
        "script": "import sys\ndef main(): print(sys.modules['__main__'].f())\ndef f(): return «1¦2»\n",
    },
    "sys.modules under another name": {
        "script": "from sys import modules as m\ndef main(): print(m['__main__'].f())\n"
        "def f(): return «1¦2»\n",
    },
    "getattr of a module": {
        "script": "import pipeline.demo.other as o\ndef main(): print(getattr(o, 'f')())\n",
        "other": "def f(): return «1¦2»\n",
    },
    "attrgetter": {
        "script": "import operator\nimport pipeline.demo.other as o\n"
        "def main(): print(operator.attrgetter('f')(o)())\n",
        "other": "def f(): return «1¦2»\n",
    },
    "hasattr": {
        "script": "import pipeline.demo.other as o\ndef main(): print(hasattr(o, 'a'))\n",
        "other": "def «a¦b»(): pass\n",
    },
    "a nested function's __name__": {
        "script": "def main():\n    def «a¦b»(): pass\n    print(a_name(«a¦b»))\n"
        "def a_name(f): return f.__name__\n"
    },
    "a nested function's __qualname__": {
        "script": "def main():\n    def «a¦b»(): pass\n    print(f(«a¦b»))\n"
        "def f(g): return g.__qualname__\n",
    },
    "a nested function's repr": {
        "script": "def main():\n    def «a¦b»(): pass\n    print(repr(«a¦b»).split()[1])\n",
    },
    "a nested function in an error": {
        "script": "def main():\n    def «a¦b»(n): pass\n    try: «a¦b»()\n"
        "    except TypeError as error: print(error)\n",
    },
    "a local in an error": {
        "script": "def main():\n    try:\n        print(«a¦b»)\n        «a¦b» = 1\n"
        "    except Exception as error: print(error)\n",
    },
    "a local in an error, read for its own value": {
        "script": "def main():\n    try: «a¦b» = «a¦b» + 1\n    except Exception as error: print(error)\n",
    },
    "a local in an error, deleted before": {
        "script": "def main():\n    «a¦b» = 1\n    del «a¦b»\n    try: print(«a¦b»)\n"
        "    except Exception as error: print(error)\n",
    },
    "a local in an error, bound by an error before": {
        "script": "def main():\n    try:\n        try: 1 / 0\n        except ArithmeticError as «a¦b»: pass\n"
        "        print(«a¦b»)\n    except Exception as error: print(error)\n",
    },
    "a local in an error, read by a function before": {
        "script": "def main():\n    def f(): return «a¦b»\n    try: f()\n"
        "    except Exception as error: print(error)\n    «a¦b» = 1\n",
    },
    "a local in an error, read for its own loop": {
        "script": "def main():\n    try:\n        for «a¦b» in «a¦b»: pass\n"
        "    except Exception as error: print(error)\n",
    },
    "a moved function's __module__": {
        "script": "from pipeline.demo.other import f\ndef main(): print(f.__module__)\n",
        "other": "«def f(): pass¦from pipeline.demo.more import f»\n",
        "more": "def f(): pass\n",
    },
    "a moved class's repr": {
        "script": "from pipeline.demo.other import A\ndef main(): print(A)\n",
        "other": "«class A: pass¦from pipeline.demo.more import A»\n",
        "more": "class A: pass\n",
    },
    "a moved class in an f-string": {
        "script": "from pipeline.demo.other import A\ndef main(): print(f'{A!r}')\n",
        "other": "«class A: pass¦from pipeline.demo.more import A»\n",
        "more": "class A: pass\n",
    },
    "a class in a moved function": {
        "script": "from pipeline.demo.other import f\ndef main(): print(f())\n",
        "other": "«def f():\n    class A: pass\n    return A¦from pipeline.demo.more import f»\n",
        "more": "def f():\n    class A: pass\n    return A\n",
    },
    "a moved namedtuple": {
        "script": "from pipeline.demo.other import A\ndef main(): print(A)\n",
        "other": "«from collections import namedtuple\n"
        "A = namedtuple('A', 'a')¦from pipeline.demo.more import A»\n",
        "more": "from collections import namedtuple\nA = namedtuple('A', 'a')\n",
    },
    "a moved class made by type": {
        "script": "from pipeline.demo.other import f\ndef main(): print(f())\n",
        "other": "«def f(): return type('A', (), {})¦from pipeline.demo.more import f»\n",
        "more": "def f(): return type('A', (), {})\n",
    },
    "a pickle of a moved class": {
        "script": "import pickle\nfrom pipeline.demo.other import A\ndef main(): print(pickle.dumps(A()))\n",
        "other": "«class A: pass¦from pipeline.demo.more import A»\n",
        "more": "class A: pass\n",
    },
    "a pickle of a moved function": {
        "script": "import pickle\nfrom pipeline.demo.other import f\ndef main(): print(pickle.dumps(f))\n",
        "other": "«def f(): pass¦from pipeline.demo.more import f»\n",
        "more": "def f(): pass\n",
    },
    "a pickle by numpy": {
        "script": "import numpy as np\nfrom pipeline.demo.other import f\n"
        "def main(): print(np.array([f], dtype=object).dumps())\n",
        "other": "«def f(): pass¦from pipeline.demo.more import f»\n",
        "more": "def f(): pass\n",
    },
    "YAML of a moved function": {
        "script": "import yaml\nfrom pipeline.demo.other import f\ndef main(): print(yaml.dump(f))\n",
        "other": "«def f(): pass¦from pipeline.demo.more import f»\n",
        "more": "def f(): pass\n",
    },
    "the name of a module": {
        "script": "from pipeline.demo.other import f\ndef main(): print(f())\n",
        "other": "«def f(): return __name__¦from pipeline.demo.more import f»\n",
        "more": "def f(): return __name__\n",
    },
    "the name of a logger": {
        "script": "import logging, sys\nfrom pipeline.demo.other import f\ndef main():\n"
        "    logging.basicConfig(stream=sys.stdout)\n    f()\n",
        "other": "«import logging\nlog = logging.getLogger(__name__)\n"
        "def f(): log.error('a')¦from pipeline.demo.more import f»\n",
        "more": "import logging\nlog = logging.getLogger(__name__)\ndef f(): log.error('a')\n",
    },
    "the line of a log": {
        "script": "import logging, sys\n«¦\n»def main():\n"
        "    logging.basicConfig(stream=sys.stdout, format='%(lineno)d')\n"
        "    logging.error('a')\n"
    },
    "the line of a log's record": {
        "script": "import logging\n«¦\n»def main():\n    log = logging.getLogger('a')\n"
        "    log.addFilter(lambda record: print(record.lineno))\n    log.error('a')\n"
    },
    "the line of a log, in the third style": {
        "script": "import logging, sys\n«¦\n»def main():\n"
        "    logging.basicConfig(stream=sys.stdout, format='$lineno', style='$')\n"
        "    logging.error('a')\n"
    },
    "the line of a logged error": {
        "script": "import logging, sys\n«¦\n»def main():\n    logging.basicConfig(stream=sys.stdout)\n"
        "    try: 1 / 0\n    except Exception: logging.exception('a')\n"
    },
    "the line of an error that a logger logs": {
        "script": "import logging, sys\n«¦\n»LOG = logging.getLogger('a')\ndef main():\n"
        "    logging.basicConfig(stream=sys.stdout)\n"
        "    try: 1 / 0\n    except Exception: LOG.exception('a')\n"
    },
    "the line of an error that is logged with a message": {
        "script": "import logging, sys\n«¦\n»def main():\n    logging.basicConfig(stream=sys.stdout)\n"
        "    try: 1 / 0\n    except Exception: logging.error('a', exc_info=True)\n"
    },
    "the stack of a log": {
        "script": "import logging, sys\ndef main():\n    logging.basicConfig(stream=sys.stdout)\n"
        "    logging.error('a', **{'stack_info': True})  # «a¦b»\n"
    },
    "the line of an error in a thread": {
        "script": "import contextlib, sys, threading\n«¦\n»def main():\n"
        "    with contextlib.redirect_stderr(sys.stdout):\n"
        "        thread = threading.Thread(target=lambda: 1 / 0)\n        thread.start()\n"
        "        thread.join()\n"
    },
    "the line of a warning": {
        "script": "import warnings\n«¦\n»def main():\n"
        "    with warnings.catch_warnings(record=True) as found:\n"
        "        warnings.simplefilter('always')\n        warnings.warn('a')\n    print(found[0].lineno)\n"
    },
    "a match on attributes": {
        "script": "def f(): '''«a¦b»'''\ndef main():\n    match f:\n"
        "        case object(__doc__=text): print(text)\n",
    },
    "attributes by format": {"script": "def f(): '''«a¦b»'''\ndef main(): print('{0.__doc__}'.format(f))\n"},
    "attributes by a format made of parts": {
        "script": "def f(): '''«a¦b»'''\ndef main(): print(('{0._' + '_doc_' + '_}').format(f))\n",
    },
    "attributes by a format that hides a constant": {
        "script": "T = 'a'\ndef f(): '''«a¦b»'''\ndef g(T): print(T.format(f))\n"
        "def main(): g('{0.__do' + 'c__}')\n",
    },
    "attributes by format_map": {
        "script": "def f(): '''«a¦b»'''\ndef main(): print('{f.__doc__}'.format_map({'f': f}))\n",
    },
    "objects of the garbage collector": {
        "script": "import gc\ndef a(): pass\n«def b(): pass¦»\ndef main():\n"
        "    print(sum(getattr(o, '__module__', '') == '__main__' for o in gc.get_objects()))\n",
    },
    "subclasses": {
        "script": "class A: pass\n«class B(A): pass¦»\ndef main(): print(len(A.__subclasses__()))\n"
    },
    "a weak reference to what is unused": {
        "script": "import weakref\nALL = weakref.WeakSet()\ndef f(): pass\n«ALL.add(f)¦»\n"
        "def main(): print(len(ALL))\n",
    },
    "a name in another module by import": {
        "script": "from pipeline.demo import other\ndef main():\n    try: print(other.a)\n"
        "    except Exception: print(0)\n",
        "other": "«a¦b» = 1\n",
    },
    "a module's __getattr__": {
        "script": "from pipeline.demo import other\ndef main(): print(other.a)\n",
        "other": "def __getattr__(name): return «1¦2»\n",
    },
}

TEXTS: Mapping[str, Files] = {
    "__doc__ of a function": {"script": "def f(): '''«a¦b»'''\ndef main(): print(f.__doc__)\n"},
    "__doc__ by getattr": {"script": "def f(): '''«a¦b»'''\ndef main(): print(getattr(f, '__doc__'))\n"},
    "__doc__ by getattr, made of parts": {
        "script": "def f(): '''«a¦b»'''\ndef main(): print(getattr(f, '__d' + 'oc__'))\n",
    },
    "__doc__ by another module": {
        "script": "from pipeline.demo.other import show\ndef f(): '''«a¦b»'''\ndef main(): show(f)\n",
        "other": "def show(f): print(f.__doc__)\n",
    },
    "__doc__ of the module": {"script": "'''«a¦b»'''\ndef main(): print(__doc__)\n"},
    "__doc__ of another module": {
        "script": "from pipeline.demo import other\ndef main(): print(other.__doc__)\n",
        "other": "'''«a¦b»'''\n",
    },
    "inspect.getdoc": {
        "script": "import inspect\ndef f(): '''«a¦b»'''\ndef main(): print(inspect.getdoc(f))\n"
    },
    "help": {"script": "def f(): '''«a¦b»'''\ndef main(): help(f)\n"},
    "numpy.info": {"script": "import numpy\ndef f(): '''«a¦b»'''\ndef main(): numpy.info(f)\n"},
    "doctest": {
        "script": "'''>>> 1\n«1¦2»\n'''\nimport doctest\ndef main(): print(doctest.testmod().failed)\n",
    },
    "a parser's help": {"script": "'''«a¦b»'''\n" + _PARSER + "    print(parser.format_help())\n"},
    "a parser's printed help": {"script": "'''«a¦b»'''\n" + _PARSER + "    parser.print_help()\n"},
    "a parser's description": {"script": "'''«a¦b»'''\n" + _PARSER + "    print(parser.description)\n"},
    "a parser's repr": {"script": "'''«a¦b»'''\n" + _PARSER + "    print(parser)\n"},
    "a parser in a text": {"script": "'''«a¦b»'''\n" + _PARSER + "    print(f'{parser}')\n"},
    "a parser under another name": {
        "script": "'''«a¦b»'''\n" + _PARSER + "    other = parser\n    print(other)\n"
    },
    "a parser in a list": {"script": "'''«a¦b»'''\n" + _PARSER + "    print([parser])\n"},
    "a parser's names": {"script": "'''«a¦b»'''\n" + _PARSER + "    print(vars(parser)['description'])\n"},
    "an asked-for help": {
        "script": "'''«a¦b»'''\n"
        + _PARSER
        + "    try: parser.parse_args(['--help'])\n    except SystemExit: pass\n",
    },
    "an asked-for help, made of parts": {
        "script": "'''«a¦b»'''\n"
        + _PARSER
        + "    try: parser.parse_args(['--' + 'help'])\n    except SystemExit: pass\n",
    },
    "an option of one's own for help": {
        "script": "'''«a¦b»'''\n" + _PARSER + "    parser.add_argument('-x', action='help')\n"
        "    try: parser.parse_args(['-x'])\n    except SystemExit: pass\n",
    },
    "a parser's usage": {
        "script": "'''«a¦b»'''\nimport argparse\n"
        "def main(): print(argparse.ArgumentParser(usage=__doc__).format_usage())\n",
    },
    "a docstring that is counted for a parser": {
        "script": "'''«a¦bb»'''\nimport argparse\ndef show(text):\n    print(len(text))\n    return text\n"
        "def main(): argparse.ArgumentParser(description=show(__doc__))\n",
    },
    "a formatter of one's own": {
        "script": "'''«a¦b»'''\nimport argparse, sys\nclass F(argparse.HelpFormatter):\n"
        "    def add_text(self, text): print(text)\ndef main():\n    sys.argv = ['a', '-h']\n"
        "    try: argparse.ArgumentParser(description=__doc__, formatter_class=F).parse_args()\n"
        "    except SystemExit: pass\n",
    },
    "type hints": {"script": "def f(a: «int¦str»): pass\ndef main(): print(f.__annotations__)\n"},
    "type hints by typing": {
        "script": "import typing\ndef f(a: «int¦str»): pass\ndef main(): print(typing.get_type_hints(f))\n",
    },
    "type hints of a module": {"script": "a: «int¦str» = 1\ndef main(): print(__annotations__)\n"},
    "inspect.getsource": {"script": "import inspect\ndef main(): print(inspect.getsource(main))  # «a¦b»\n"},
    "__file__": {"script": "def main(): print(open(__file__).read())  # «a¦b»\n"},
    "a file by its name": {
        "script": "from pathlib import Path\ndef main(): print(Path('pipeline/demo/other.py').read_text())\n",
        "other": "# «a¦b»\n",
    },
    "a file by a pattern": {
        "script": "from pathlib import Path\n"
        "def main(): print(*map(Path.read_text, Path().glob('**/other.*py')))\n",
        "other": "# «a¦b»\n",
    },
    "sys.argv": {"script": "import sys\ndef main(): print(open(sys.argv[0]).read())  # «a¦b»\n"},
    "linecache": {
        "script": "import linecache\n"
        "def main(): print(linecache.getline('pipeline/demo/script.py', 2))  # «a¦b»\n"
    },
    "tokenize": {
        "script": "import tokenize\ndef main():\n"
        "    with tokenize.open('pipeline/demo/script.py') as f: print(f.read())  # «a¦b»\n",
    },
    "importlib.resources": {
        "script": "from importlib import resources\n"
        "def main(): print(resources.read_text('pipeline.demo', 'other.py'))\n",
        "other": "# «a¦b»\n",
    },
    "a coding line": {"script": "# -*- coding: «utf-8¦latin-1» -*-\ndef main(): print(ascii('é'))\n"},
    "a coding line below a comment": {
        "script": "# one\n# «¦vim: set fileencoding=latin-1»\ndef main(): print(ascii('é'))\n"
    },
    "if TYPE_CHECKING": {"script": "TYPE_CHECKING = 1\nif TYPE_CHECKING: print(«1¦2»)\ndef main(): pass\n"},
    "if TYPE_CHECKING in a function": {
        "script": "TYPE_CHECKING = 1\ndef main():\n    if TYPE_CHECKING: print(«1¦2»)\n",
    },
    "if TYPE_CHECKING of an object": {
        "script": "class A: TYPE_CHECKING = 1\na = A()\ndef main():\n    if a.TYPE_CHECKING: print(«1¦2»)\n",
    },
    "if TYPE_CHECKING, of one's own, with a docstring": {
        "script": "TYPE_CHECKING = 1\ndef f(): '''«a¦b»'''\nif TYPE_CHECKING: print(f.__doc__)\n"
        "def main(): pass\n"
    },
    "if TYPE_CHECKING, set": {
        "script": "import typing\ntyping.TYPE_CHECKING = True\nif typing.TYPE_CHECKING: print(«1¦2»)\n"
        "def main(): pass\n",
    },
    "a script that is run by name": {
        "script": "import subprocess, sys\n"
        "def main(): print(subprocess.check_output([sys.executable, '-m', 'pipeline.demo.other']))\n",
        "other": "if __name__ == '__main__': print(«1¦2»)\n",
    },
    "code that is run as a text": {
        "script": "import subprocess, sys\ndef main():\n"
        "    print(subprocess.check_output([sys.executable, '-c', 'from pipeline.demo import "
        "other; other.f()']))\n",
        "other": "def f(): print(«1¦2»)\n",
    },
    "a statement that only looks like a hint": {
        "script": "def f():\n    print(«1¦2»)\n    return f\ndef main(): f().x: int\n",
    },
}

REFUSED: Mapping[str, Files] = {
    "import *": {
        "script": "from pipeline.demo.other import *\ndef main(): print(a)\n",
        "other": "a = «1¦2»\n",
    },
    "importlib": {
        "script": "import importlib\ndef main(): print(importlib.import_module('pipeline.demo.other').a)\n",
        "other": "a = «1¦2»\n",
    },
    "importlib under another name": {
        "script": "from importlib import import_module as load\n"
        "def main(): print(load('pipeline.demo.oth' + 'er').a)\n",
        "other": "a = «1¦2»\n",
    },
    "__import__": {
        "script": "def main(): print(__import__('pipeline.demo.other').demo.other.a)\n",
        "other": "a = «1¦2»\n",
    },
    "runpy": {
        "script": "import runpy\ndef main(): print(runpy.run_module('pipeline.demo.other')['a'])\n",
        "other": "a = «1¦2»\n",
    },
    "pkgutil": {
        "script": "import pkgutil\ndef main(): print(pkgutil.resolve_name('pipeline.demo.other').a)\n",
        "other": "a = «1¦2»\n",
    },
}
ALL: Mapping[str, Files] = {
    f"{kind}: {name}": files
    for kind, tries in {
        "order": ORDER,
        "registering": REGISTERING,
        "classes": CLASSES,
        "statements": STATEMENTS,
        "names": NAMES,
        "texts": TEXTS,
        "refused": REFUSED,
    }.items()
    for name, files in tries.items()
}
