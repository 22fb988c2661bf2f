"""Options of Marian with types and limits, sacreBLEU's test sets with their pairs, facts of the scripts.

The table, `known.json`, is made from the installed versions and the scripts by

    python -m translations_assets.config.known > translations_assets/config/known.json

so that a config is checked without starting Marian or importing sacreBLEU, and by the lists and addresses of
the scripts.
"""

from __future__ import annotations

import json
import sys
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
    """A fact of the scripts; `_PRINT_FACTS` names them."""
    return _table()["scripts"][name]


def address(name: str) -> Any:
    """The address that a script of `pipeline/data` fetches from; of HPLT that of each release."""
    return of_scripts("addresses")[name]


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return table


def make_table() -> dict[str, Any]:
    """The table, from the installed Marian and sacreBLEU."""
    from importlib.metadata import version

    from sacrebleu.dataset import DATASETS

    tasks = {task: _options(task) for task in ("train", "decode")}
    sets = {name: sorted(dataset.langpairs) for name, dataset in sorted(DATASETS.items())}
    return {
        "marian": {"version": version("pymarian"), **tasks},
        "sacrebleu": {"version": version("sacrebleu"), "sets": sets},
        "scripts": json.loads(_printed([sys.executable, "-c", _PRINT_FACTS])),
    }


_PRINT_FACTS = """
import importlib, json, pkgutil
from pipeline import data
from pipeline.common.decoding_options import ALLOWED, REFUSED
from pipeline.common.downloads import GOOGLE_STORAGE
from pipeline.common.local_files import NEVER
from pipeline.data import hplt, opus
from pipeline.train.settings import OWN
from pipeline.translate.convert import ALIKE
from pipeline.translate.ctranslate2_options import KNOWN
decoding = {"allowed": ALLOWED, "refused": REFUSED, "ctranslate2": sorted(KNOWN)}
training = {"set by training": sorted(OWN), "convertible": ALIKE}
addresses = {"google storage": GOOGLE_STORAGE}
for name in sorted(module.name for module in pkgutil.iter_modules(data.__path__)):
    for value in vars(importlib.import_module(f"pipeline.data.{name}")).values():
        if isinstance(value, str) and value.startswith("http"):
            addresses[name] = value
addresses["hplt"] = {name: release.map_url for name, release in hplt.RELEASES.items()}
addresses["opus"] = opus.corpus_url("corpus/version").removesuffix("corpus/version")
print(json.dumps({**decoding, **training, "addresses": addresses, "never read": NEVER}))
"""


def _options(task: str) -> dict[str, str]:
    """The options in Marian's help, whose lines read `  -b,--beam-size UINT=12   Beam size …`."""
    import re

    printed = _printed([str(Path(sys.executable).with_name("pymarian")), task, "--help"])
    found = re.findall(r"^  (?:-\w,)?--([a-z0-9-]+)(?: ([A-Z]+))?", printed, re.MULTILINE)
    return {name: kind or FLAG for name, kind in sorted(found)}


def _printed(command: list[str]) -> str:
    import subprocess

    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


if __name__ == "__main__":
    json.dump(make_table(), sys.stdout, indent=1)
    print()
