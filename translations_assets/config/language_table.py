"""Languages: their names, scripts, and the codes that providers of datasets know them by.

The table is `pipeline/langs/languages.json`. Languages beyond it are those of `other_languages`; a config's
section `languages` (`own_languages`) has the last word. A pipeline code is an ISO 639-1 code in lower case,
or one of ISO 639-3 where there is none (`kab`), with a script or region after `_` where one is needed
(`zh_hant`). Of each language the table holds:

| field | meaning |
|---|---|
| `name` | the English name |
| `iso639_1`, `iso639_3` | ISO 639 codes; a macrolanguage keeps its own (`zho`, `ara`) |
| `script` | Unicode's name of the script; `Han`, `Japanese` and `Korean` for those that mix several |
| `script_code` | ISO 15924 (`Latn`, `Hans`) |
| `flores` | the file's name in FLORES-200 (`eng_Latn`), an individual language (`arb_Arab`, `lvs_Latn`) |
| `ntrex` | the file's name in NTREX-128 (`rus`, `srp-Cyrl`) |
| `hplt` | the name in HPLT 3, as in FLORES-200, but `cmn_Hans`, `ekk_Latn`, `fil_Latn`, `gug_Latn` |
| `hplt2` | the name in HPLT 2; left out where it is the one of FLORES-200 |
| `bouquet` | the name in BOUQuET; left out where it is the one of HPLT 3, as are all of FLORES+ |
| `wmt24pp` | the locale in WMT24++; left out where it has none |
| `pontoon` | the locale at Pontoon, Mozilla's localisation platform; left out where it is ISO 639-1 |
| `icu` | the ICU locale that finds word boundaries |
| `labels` | what identifiers of languages call it; left out where that follows from the codes above |
| `spaced` | whether words are separated by spaces, so that lengths are counted in words; not Korean |

A name is empty where the provider lacks the language, or has it in another script only. Where it has several
variants, a language has the name of its usual written one: at WMT24++ `ar` is `ar_SA` and not the dialect of
`ar_EG`, `fr` is `fr_FR`, `pt` is `pt_BR`. Where there is one variant only, that is it: BOUQuET's Arabic is
Egypt's, its Portuguese Brazil's (and not `pt_pt`), WMT24++'s Spanish Mexico's.

Of each script: `type` (alphabetic, abjad, abugida, logographic, featural) and `bicameral`, whether it has
upper and lower case. Georgian's capitals begin neither sentences nor names, so it counts as having one case.
`marks` are its digits, punctuation, signs of currency and of repetition (Unicode's Script_Extensions with
categories Nd, P, Sc and Lm; of Latin, Cyrillic, Greek and Georgian those in use), and the joiners that it is
written with; as NFKC leaves them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from translations_assets.common.settings import repository_root

# This package reads the scripts' data, and imports nothing of theirs.
TABLE = repository_root() / "pipeline" / "langs" / "languages.json"

# Scripts that spell sounds, so that a slip of a finger makes a typo that a reader still understands.
_PHONEMIC = frozenset({"alphabetic", "abjad", "abugida", "syllabary"})

_GOOGLE = {
    "zh": "zh-CN",
    "zh_hans": "zh-CN",
    "zh_hant": "zh-TW",
    "nb": "no",
    "pt_pt": "pt-PT",
    "sr_latn": "sr-Latn",  # for `sr` it writes Cyrillic
}
_MICROSOFT = {
    "zh": "zh-Hans",
    "zh_hans": "zh-Hans",
    "zh_hant": "zh-Hant",
    "no": "nb",
    "pt_pt": "pt-PT",
    "sr": "sr-Cyrl",
    "sr_cyrl": "sr-Cyrl",
    "sr_latn": "sr-Latn",
    "tl": "fil",
}
_BICLEANER = {"sr": "hbs", "bs": "hbs", "hr": "hbs", "cnr": "hbs", "no": "nb"}


@dataclass(frozen=True)
class Language:
    """A language; the module's docstring explains the fields."""

    code: str
    name: str
    iso639_1: str
    iso639_3: str
    script: str
    script_code: str
    flores: str
    ntrex: str
    hplt: str
    hplt2: str
    bouquet: str
    wmt24pp: str
    pontoon: str
    icu: str
    spaced: bool
    bicameral: bool
    phonemic: bool
    marks: str
    labels: tuple[str, ...] = ()

    @property
    def chinese(self) -> str:
        """The variant of Chinese, `simplified` or `traditional`; empty for other languages."""
        return {"Hans": "simplified", "Hant": "traditional"}.get(self.script_code, "")

    @property
    def flores_plus(self) -> str:
        """The name in FLORES+, whose names of languages HPLT 3 has taken over."""
        return self.hplt

    @property
    def google(self) -> str:
        """The code in Google's translation service."""
        return _GOOGLE.get(self.code, self.iso639_1)

    @property
    def microsoft(self) -> str:
        """The code in Microsoft's translation service."""
        return _MICROSOFT.get(self.code, self.iso639_1)

    @property
    def bleu(self) -> str:
        """The code in scripts that score: `zh-yue` for Cantonese, as BLEU counts characters of Chinese."""
        return f"zh-{self.code}" if self.script == "Han" and self.iso639_1 != "zh" else self.code

    @property
    def bicleaner(self) -> str:
        """Bicleaner-AI's code: ISO 639-1 but for Serbo-Croatian and Norwegian."""
        return _BICLEANER.get(self.iso639_1, self.iso639_1)


@cache
def languages() -> Mapping[str, Language]:
    """Every known language by its pipeline code."""
    table = _table()
    known = {}
    for code, fields in table["languages"].items():
        script = table["scripts"][fields["script"]]
        usual = {"hplt2": fields["flores"], "pontoon": fields["iso639_1"]}
        usual |= {"bouquet": fields["hplt"], "wmt24pp": ""}
        known[code] = Language(code=code, **usual | fields, **facts_of_script(script))
    return MappingProxyType(known)


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    table: dict[str, dict[str, Any]] = json.loads(TABLE.read_text(encoding="utf-8"))
    return table


def scripts() -> Mapping[str, Mapping[str, Any]]:
    """The scripts of the table, by Unicode's names."""
    return _table()["scripts"]


def facts_of_script(script: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a language that follow from its script, by a row of a table of scripts."""
    return {
        "bicameral": script.get("bicameral", False),
        "phonemic": script["type"] in _PHONEMIC,
        "marks": script["marks"],
    }
