"""Languages whose words BLEU counts by a dictionary, which an installation may lack."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from translations_assets.common.extras import how_to_install
from translations_assets.config.yaml_reader import Found, at

# Code → name, and the library that has the dictionary
DICTIONARIES = {"ja": ("Japanese", "MeCab"), "ko": ("Korean", "mecab_ko")}


def check_dictionaries(config: Mapping[str, Any]) -> Found:
    """The key path and message of each language whose dictionary is not installed.

    Both sides are looked at, as the backwards model is evaluated too.
    """
    for path in (("experiment", "src"), ("experiment", "trg")):
        name, library = DICTIONARIES.get(str(at(config, path)), ("", ""))
        if name and find_spec(library) is None:
            yield (
                path,
                f"BLEU counts the words of {name} by a dictionary that is not installed. "
                f"{how_to_install('ja-ko')}",
            )
