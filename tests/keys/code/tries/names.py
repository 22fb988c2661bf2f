"""Tries with names: which statement binds what a script reads."""

from __future__ import annotations

from collections.abc import Mapping

from tests.keys.code.tries.files import Files

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
