"""Tries with the order of statements, registries, classes and kinds of statements."""

from __future__ import annotations

from collections.abc import Mapping

from tests.keys.code.tries.files import Files

_REGISTRY = "ALL = []\ndef rule(f):\n    ALL.append(f.__name__)\n    return f\n"
_USE = "from pipeline.demo.other import f\ndef main(): print(f())\n"

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
