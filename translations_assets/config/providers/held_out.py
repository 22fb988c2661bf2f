"""Dev and test sets that are known by heart: FLORES-200, NTREX-128, strings of Mozilla's programs."""

from __future__ import annotations

from collections.abc import Iterator

from translations_assets.config.languages import Language
from translations_assets.config.providers.found import Found, Query
from translations_assets.config.providers.provider import Addresses, Provider, same_code

SHARE_ALIKE = "CC-BY-SA-4.0"  # of both FLORES-200 and NTREX-128
ENGLISH = "en"
FLORES_FILE = "https://dl.fbaipublicfiles.com/nllb/flores200_dataset.tar.gz"
FLORES_SETS = {"devtest": ("dev", 997), "test": ("devtest", 1012)}  # by their use; lines
NTREX_FILES = "https://github.com/MicrosoftTranslator/NTREX/raw/468c6b6/NTREX-128"
NTREX_SENTENCES = 1997
MEMORIES = "https://pontoon.mozilla.org/translation-memory"


def _flores(query: Query) -> Iterator[Found]:
    if query.src.flores and query.trg.flores:
        for use, (name, sentences) in FLORES_SETS.items():
            yield Found("flores", f"flores_{name}", use, sentences, licence=SHARE_ALIKE)


def _ntrex(query: Query) -> Iterator[Found]:
    if query.src.ntrex and query.trg.ntrex:
        has_flores = any(True for _ in _flores(query))
        use = "test" if has_flores else "devtest"  # so that there is something to validate on
        yield Found("ntrex", "ntrex_test", use, NTREX_SENTENCES, licence=SHARE_ALIKE)


def _pontoon(query: Query) -> Iterator[Found]:
    if not _tmx_misfit("pontoon", query.src, query.trg) and query.src.pontoon and query.trg.pontoon:
        yield Found("pontoon", "tmx_pontoon", "test")


def _flores_addresses(name: str, *sides: Language) -> Addresses:
    return [[FLORES_FILE]]


def _ntrex_addresses(name: str, *sides: Language) -> Addresses:
    codes = [side.ntrex for side in sides if side.ntrex]
    return [[f"{NTREX_FILES}/newstest2019-{'src' if code == 'eng' else 'ref'}.{code}.txt"] for code in codes]


def _tmx_code(name: str, spoken: Language) -> str:
    return spoken.pontoon if name == "pontoon" else spoken.code


def _tmx_misfit(name: str, src: Language, trg: Language) -> str:
    if name != "pontoon" or ENGLISH in (src.code, trg.code):
        return ""
    return f"is translated from English, which is not in {src.code}-{trg.code}; remove it"


def _tmx_addresses(name: str, src: Language, trg: Language) -> Addresses:
    if "://" in name:
        return [[name]]
    other = trg if src.code == ENGLISH else src
    return [[f"{MEMORIES}/{other.pontoon}.all-projects.tmx"]]


FLORES = Provider(
    "flores",
    same_code("flores"),
    title="FLORES-200",
    sets=tuple(name for name, _ in FLORES_SETS.values()),
    addresses=_flores_addresses,
    held_out=_flores,
)
NTREX = Provider(
    "ntrex",
    same_code("ntrex"),
    title="NTREX-128",
    sets=("test",),
    addresses=_ntrex_addresses,
    held_out=_ntrex,
)
TMX = Provider(
    "tmx",
    _tmx_code,
    title="Pontoon",
    sets=("pontoon",),
    by_url=True,
    misfit=_tmx_misfit,
    addresses=_tmx_addresses,
    held_out=_pontoon,
)
