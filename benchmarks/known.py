"""Make `config/known.json` from the installed versions of Marian and sacreBLEU, and from the scripts.

python -m benchmarks.known > translations_assets/config/known.json
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sacrebleu.dataset import DATASETS

from pipeline import data
from pipeline.common.decoding_options import ALLOWED, REFUSED
from pipeline.common.downloads import GOOGLE_STORAGE
from pipeline.common.local_files import NEVER
from pipeline.data import hplt, opus
from pipeline.train.settings import OWN
from pipeline.translate.convert import ALIKE
from pipeline.translate.ctranslate2_options import KNOWN, POSITIONS, read_settings
from translations_assets.config.known import FLAG


def make_table() -> dict[str, Any]:
    """The table, as its JSON is read."""
    sets = {name: sorted(dataset.langpairs) for name, dataset in sorted(DATASETS.items())}
    table = {
        "marian": {"version": version("pymarian"), "train": _options("train"), "decode": _options("decode")},
        "sacrebleu": {"version": version("sacrebleu"), "sets": sets},
        "scripts": {
            "allowed": ALLOWED,
            "refused": REFUSED,
            "ctranslate2": sorted(KNOWN),
            "ctranslate2 lengths": _lengths(),
            "set by training": sorted(OWN),
            "convertible": ALIKE,
            "addresses": _addresses(),
            "never read": NEVER,
        },
    }
    read: dict[str, Any] = json.loads(json.dumps(table, default=dict))
    return read


def _lengths() -> dict[str, float]:
    """Options of decoding that limit lengths, with their defaults, and the most pieces that they may give."""
    settings = read_settings({})
    defaults = {"max-length": settings.max_length, "max-length-factor": settings.max_length_factor}
    return {**defaults, "positions": POSITIONS}


def _options(task: str) -> dict[str, str]:
    """The options in Marian's help, whose lines read `  -b,--beam-size UINT=12   Beam size …`."""
    command = [str(Path(sys.executable).with_name("pymarian")), task, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    help = done.stdout + done.stderr
    found = re.findall(r"^  (?:-\w,)?--([a-z0-9-]+)(?: ([A-Z]+))?", help, re.MULTILINE)
    return {name: kind or FLAG for name, kind in sorted(found)}


def _addresses() -> dict[str, Any]:
    """Script of `pipeline/data` → the address that it fetches from; of HPLT that of each release."""
    found: dict[str, Any] = {"google storage": GOOGLE_STORAGE}
    for name in sorted(module.name for module in pkgutil.iter_modules(data.__path__)):
        for value in vars(importlib.import_module(f"pipeline.data.{name}")).values():
            if isinstance(value, str) and value.startswith("http"):
                found[name] = value
    found["hplt"] = {name: release.map_url for name, release in hplt.RELEASES.items()}
    found["opus"] = opus.corpus_url("corpus/version").removesuffix("corpus/version")
    return found


if __name__ == "__main__":
    json.dump(make_table(), sys.stdout, indent=1)
    print()
