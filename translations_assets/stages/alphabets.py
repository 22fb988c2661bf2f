"""The letters of languages, as far as their alphabets are small.

The table is that of the filters of cleaning, `pipeline/clean/filters/alphabets.json`: CLDR's main exemplar
characters, as the inside of a regular expression's class.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from functools import cache
from itertools import chain
from pathlib import Path

from translations_assets.config.languages import Language
from translations_assets.stages.cleaning import opuscleaner_code

TABLE = Path(__file__).resolve().parents[2] / "pipeline" / "clean" / "filters" / "alphabets.json"
MOST_LETTERS = 200  # of an alphabet, capitals not counted; Hangul's syllables and Han have thousands


@cache
def letters(language: Language) -> str:
    """The letters of a language, small and capital, in order; none of a large or unknown alphabet."""
    alphabet = _table().get(opuscleaner_code(language), "")
    small = re.findall(f"[{alphabet}]", _characters(_is_beyond_bmp(alphabet))) if alphabet else []
    if len(small) > MOST_LETTERS:
        return ""
    capitals = [letter.upper() for letter in small]
    return "".join(sorted({*small, *(capital for capital in capitals if len(capital) == 1)}))


@cache
def _table() -> Mapping[str, str]:
    table: dict[str, str] = json.loads(TABLE.read_text(encoding="utf-8"))
    return table


def _is_beyond_bmp(alphabet: str) -> bool:
    """Whether an alphabet may have characters beyond U+FFFF; to look through those takes long."""
    return "\\U" in alphabet or max(alphabet) > "\uffff"


@cache
def _characters(beyond_bmp: bool) -> str:
    codes = chain(range(0xD800), range(0xE000, sys.maxunicode + 1 if beyond_bmp else 0x10000))
    return "".join(map(chr, codes))
