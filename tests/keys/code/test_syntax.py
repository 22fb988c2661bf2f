"""Parsing in several threads."""

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
