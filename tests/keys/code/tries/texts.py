"""Tries with texts that scripts read of themselves, and with imports that are refused."""

from __future__ import annotations

from collections.abc import Mapping

from tests.keys.code.tries.files import Files

_PARSER = (
    "import argparse\ndef main():\n    parser = argparse.ArgumentParser(prog='a', description=__doc__)\n"
)

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
