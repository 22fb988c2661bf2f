"""Tries to fool a key: pairs of small packages of scripts that print different things.

In a text `«one¦other»` stands for `one` in the first package and for `other` in the second. A text is that of
`pipeline/demo/script.py`, which calls `main()` in its guard; others are modules of `pipeline.demo` by name.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.keys.code.tries.files import Files
from tests.keys.code.tries.names import NAMES
from tests.keys.code.tries.statements import CLASSES, ORDER, REGISTERING, STATEMENTS
from tests.keys.code.tries.texts import REFUSED, TEXTS

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
