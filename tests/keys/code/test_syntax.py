"""Parsing while other things are parsed."""

import ast
import gc
import threading
import time
from pathlib import Path

import translations_assets
from translations_assets.keys.code.syntax import parse

SOURCES = [path.read_bytes() for path in Path(translations_assets.__file__).parent.rglob("*.py")][:40]


class Finalised:
    """Garbage whose collection lets another thread run."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        time.sleep(0)


def test_threads_that_parse_do_not_disturb_each_other() -> None:
    problems: list[SystemError] = []

    def work() -> None:
        for source in SOURCES:
            Finalised()
            try:
                parse(source)
            except SystemError as error:
                problems.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


class Parses:
    """Garbage whose collection parses, as the traceback does that an object logs when it is ended."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        ast.parse("x = 1")


def test_garbage_that_parses_does_not_disturb() -> None:
    source = "def f(a, b):\n    return (a + b) * 2\n" * 200
    thresholds = gc.get_threshold()
    gc.set_threshold(100)
    try:
        Parses()
        assert len(parse(source).body) == 200
    finally:
        gc.set_threshold(*thresholds)
