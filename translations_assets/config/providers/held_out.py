"""Dev and test sets: FLORES-200, NTREX-128, strings of Mozilla's programs, and those that sacreBLEU knows.

The first three are known without asking. Of sacreBLEU's (https://github.com/mjpost/sacrebleu) the newest come
first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import cycle

from translations_assets.config.errors import ConfigError, Problem, suggestion
from translations_assets.config.known import address, sacrebleu_sets
from translations_assets.config.languages import Language
from translations_assets.config.providers.provider import Addresses, Found, Provider, Query, reason_of

SHARE_ALIKE = "CC-BY-SA-4.0"  # of both FLORES-200 and NTREX-128
ENGLISH = "en"
ORIGINALS = ("source-original", "target-original")  # parts of a set of WMT, by who wrote them
FLORES_SETS = {"devtest": ("dev", 997), "test": ("devtest", 1012)}  # by their use; lines
NTREX_SENTENCES = 1997

DEVELOPMENT = re.compile(r".*/(dev|valid)")


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
    return [[address("parallel_flores")]]


def _ntrex_addresses(name: str, *sides: Language) -> Addresses:
    codes = [side.ntrex for side in sides if side.ntrex]
    folder = address("parallel_ntrex")
    return [[f"{folder}/newstest2019-{'src' if code == 'eng' else 'ref'}.{code}.txt"] for code in codes]


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
    return [[address("parallel_tmx").format(code=other.pontoon)]]


def find_sacrebleu(query: Query) -> Iterator[Found | Problem]:
    """The sets of the pair in either direction; nothing is asked of a server.

    Development sets are for validation. So is every second one of the others, but the newest is a test set.
    """
    from sacrebleu.dataset import DATASETS

    pairs = _pairs(query.src, query.trg)
    uses = cycle(("test", "devtest"))
    for name, known in DATASETS.items():
        if not pairs & set(known.langpairs):
            continue
        skipped = reason_of(name, "sacrebleu")
        use = "devtest" if skipped or DEVELOPMENT.fullmatch(name) else next(uses)
        url = (known.data or [""])[0]
        yield Found("sacrebleu", f"sacrebleu_{name}", use, url=url, skipped=skipped.format(year=name[:5]))


def _pairs(src: Language, trg: Language) -> set[str]:
    return {f"{src.iso639_1}-{trg.iso639_1}", f"{trg.iso639_1}-{src.iso639_1}"}


def _sacrebleu_addresses(name: str, src: Language, trg: Language) -> Addresses:
    from sacrebleu.dataset import DATASETS

    name = _whole_set(name)
    files: list[str] = (DATASETS[name].data or []) if name in DATASETS else []
    own = [url for url in files if any(pair in url for pair in _pairs(src, trg))]
    return [own] if own else [[url] for url in files]


def _check_sacrebleu(key: str) -> None:
    name = _whole_set(key)
    if name not in sacrebleu_sets():
        raise ConfigError.of(f"sacreBLEU has no set {name!r}.{suggestion(name, sacrebleu_sets())}")


def _whole_set(name: str) -> str:
    """The set that a part by who wrote it is of: `wmt19` for `wmt19/source-original`."""
    whole, _, part = name.rpartition("/")
    return whole if part in ORIGINALS else name


def _sacrebleu_misfit(name: str, src: Language, trg: Language) -> str:
    name = _whole_set(name)
    pairs, sets = _pairs(src, trg), sacrebleu_sets()
    if name not in sets or not pairs.isdisjoint(sets[name]):
        return ""
    others = [other for other in sets if not pairs.isdisjoint(sets[other])]
    with_pair = f"with it: {', '.join(others)}" if others else "no set of sacreBLEU has it"
    return f"is not of {src.name} and {trg.name}; {with_pair}"


FLORES = Provider(
    "flores",
    lambda name, spoken: spoken.flores,
    title="FLORES-200",
    sets=tuple(name for name, _ in FLORES_SETS.values()),
    addresses=_flores_addresses,
    held_out=_flores,
)
NTREX = Provider(
    "ntrex",
    lambda name, spoken: spoken.ntrex,
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
SACREBLEU = Provider(
    "sacrebleu",
    lambda name, spoken: spoken.iso639_1,
    example="sacrebleu_wmt19",
    check=_check_sacrebleu,
    misfit=_sacrebleu_misfit,
    addresses=_sacrebleu_addresses,
    searches={"sacrebleu": find_sacrebleu},
)
