"""Test sets of the Hugging Face hub by which Mozilla compares its models: FLORES+, WMT24++ and BOUQuET.

They are known without asking, and stand in no config unless somebody names them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from translations_assets.config.known import address
from translations_assets.config.languages import Language
from translations_assets.config.providers.huggingface import addresses
from translations_assets.config.providers.provider import Addresses, Found, Provider, Query

TOKEN = "HF_TOKEN"


def _flores_plus_code(name: str, spoken: Language) -> str:
    return spoken.flores_plus


def _wmt24pp_code(name: str, spoken: Language) -> str:
    return spoken.wmt24pp


def _bouquet_code(name: str, spoken: Language) -> str:
    return spoken.bouquet


def _find_flores_plus(query: Query) -> Iterator[Found]:
    if query.src.flores_plus and query.trg.flores_plus:
        why = f"it asks for a login ({TOKEN}), and has the sentences of FLORES-200"
        yield Found(
            "flores200-plus", "flores200-plus_devtest", "test", 1012, licence="CC-BY-SA-4.0", skipped=why
        )


def _find_wmt24pp(query: Query) -> Iterator[Found]:
    if query.src.wmt24pp and query.trg.wmt24pp:
        why = "its English is that of sacreBLEU's wmt24"
        yield Found("wmt24pp", "wmt24pp_test", "test", licence="Apache-2.0", skipped=why)


def _find_bouquet(query: Query) -> Iterator[Found]:
    if query.src.bouquet and query.trg.bouquet:
        yield Found("bouquet", "bouquet_test", "test", 854, skipped=f"it asks for a login ({TOKEN})")


def _addresses(script: str, name: str, *sides: Language) -> Addresses:
    return addresses(address(script).partition("/datasets/")[2], *sides)


FLORES_PLUS = Provider(
    "flores200-plus",
    _flores_plus_code,
    title="FLORES+",
    sets=("dev", "devtest"),
    addresses=partial(_addresses, "parallel_flores200_plus"),
    secrets=(TOKEN,),
    held_out=_find_flores_plus,
)
WMT24PP = Provider(
    "wmt24pp",
    _wmt24pp_code,
    title="WMT24++",
    sets=("test",),
    addresses=partial(_addresses, "parallel_wmt24pp"),
    held_out=_find_wmt24pp,
)
BOUQUET = Provider(
    "bouquet",
    _bouquet_code,
    title="BOUQuET",
    sets=("dev", "test"),
    addresses=partial(_addresses, "parallel_bouquet"),
    secrets=(TOKEN,),
    held_out=_find_bouquet,
)
