"""Options of Marian with types and limits, sacreBLEU's test sets with their pairs, facts of the scripts.

The table, `known.json`, is made from the installed versions and the scripts by

    python -m benchmarks.known > translations_assets/config/known.json

so that a config is checked without starting Marian or importing sacreBLEU, and by the lists and addresses of
the scripts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("known.json")
FLAG = "FLAG"  # an option that is true or false


def marian_options(task: str) -> Mapping[str, str]:
    """The types (`UINT`, `FLOAT`, `TEXT`, `VECTOR`, FLAG) of Marian's options for a task: train or decode."""
    options: Mapping[str, str] = _table()["marian"][task]
    return options


def sacrebleu_sets() -> Mapping[str, list[str]]:
    """The language pairs (`en-ru`) of each test set of sacreBLEU."""
    sets: Mapping[str, list[str]] = _table()["sacrebleu"]["sets"]
    return sets


def of_scripts(name: str) -> Any:
    """A fact of the scripts; `benchmarks/known.py` names them."""
    return _table()["scripts"][name]


def address(name: str) -> Any:
    """The address that a script of `pipeline/data` fetches from; of HPLT that of each release."""
    return of_scripts("addresses")[name]


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return table
