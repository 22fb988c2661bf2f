"""Training configs in the store, by its list, or, while it is away, by the last known one.

Dagster's definitions need the names wherever they are loaded. A bucket that is away must not take the web
server, the daemon and every run with it.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NoAnswer
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from translations_assets.common.errors import StoreUnreachable
from translations_assets.common.own_files import read_own, write_own
from translations_assets.running.protocols import Store

ANSWER_SECONDS = 15.0  # a client repeats a request for a minute, and Dagster ends a sensor's tick at 60 s


class KeptConfigs(NamedTuple):
    """Names of configs, and why they are the last ones known; "" when the store has just named them."""

    names: list[str]
    away: str


def kept_configs(store: Store, folder: Path) -> KeptConfigs:
    """The configs that a store keeps; a file in the folder remembers their names."""
    last = _read(_file(store, folder))
    try:
        names = _names(store)
    except StoreUnreachable as error:
        return KeptConfigs(last, str(error))
    except NoAnswer:
        return KeptConfigs(last, f"The store {store.url} has not answered for {ANSWER_SECONDS:.0f} s.")
    if names != last:
        _write(_file(store, folder), names)
    return KeptConfigs(names, "")


def remember(store: Store, folder: Path, name: str) -> None:
    """Note a config that has just been kept: definitions that load next know it, whatever the store says."""
    path = _file(store, folder)
    _write(path, {*_read(path), name})


def _file(store: Store, folder: Path) -> Path:
    return folder / "kept-configs" / f"{hashlib.sha256(store.url.encode()).hexdigest()[:16]}.json"


def _read(path: Path) -> list[str]:
    try:
        return [str(name) for name in json.loads(read_own(path))]
    except (OSError, ValueError, TypeError, RecursionError):
        return []


def _write(path: Path, names: Iterable[str]) -> None:
    with suppress(OSError):  # a folder that cannot be written costs the memory alone
        write_own(path, json.dumps(sorted(names)))


def _names(store: Store) -> list[str]:
    """The names that the store gives in time; NoAnswer else, and a thread goes on waiting for them."""
    answer: Future[list[str]] = Future()

    def work() -> None:
        try:
            answer.set_result(store.config_names())
        except BaseException as error:
            answer.set_exception(error)

    # no pool: at its end the process would wait for the thread
    threading.Thread(target=work, name="names of kept configs", daemon=True).start()
    return answer.result(ANSWER_SECONDS)
