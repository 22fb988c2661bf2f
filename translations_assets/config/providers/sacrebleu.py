"""Test sets that sacreBLEU knows (https://github.com/mjpost/sacrebleu), the newest first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import cycle

from translations_assets.config.errors import ConfigError, suggestion
from translations_assets.config.known import sacrebleu_sets
from translations_assets.config.languages import Language
from translations_assets.config.providers.found import Found, Problem, Query, reason_of
from translations_assets.config.providers.provider import Addresses, Provider, same_code

IMPORTER = "sacrebleu"

# Why sets are left out, by their names.
SKIPPED = {
    r"wmt\d\d/(systems|[A-D]+|tworefs|full|test-ts|google/.*|improved|ms)": "the sentences of {year} again",
    r"wmt08.*": "it has blank lines",
    r"iwslt17.*": "TED talks, which training corpora of OPUS hold",
    r".*/train": "a training set",
}
DEVELOPMENT = re.compile(r".*/(dev|valid)")


def find(query: Query) -> Iterator[Found | Problem]:
    """The sets of the pair in either direction; nothing is asked of a server.

    Development sets are for validation. So is every second one of the others, but the newest is a test set.
    """
    from sacrebleu.dataset import DATASETS

    pairs = _pairs(query.src, query.trg)
    uses = cycle(("test", "devtest"))
    for name, known in DATASETS.items():
        if not pairs & set(known.langpairs):
            continue
        skipped = reason_of(name, SKIPPED)
        use = "devtest" if skipped or DEVELOPMENT.fullmatch(name) else next(uses)
        url = (known.data or [""])[0]
        yield Found(IMPORTER, f"sacrebleu_{name}", use, url=url, skipped=skipped.format(year=name[:5]))


def _pairs(src: Language, trg: Language) -> set[str]:
    return {f"{src.iso639_1}-{trg.iso639_1}", f"{trg.iso639_1}-{src.iso639_1}"}


def _addresses(name: str, src: Language, trg: Language) -> Addresses:
    from sacrebleu.dataset import DATASETS

    files: list[str] = (DATASETS[name].data or []) if name in DATASETS else []
    own = [url for url in files if any(pair in url for pair in _pairs(src, trg))]
    return [own] if own else [[url] for url in files]


def _check(name: str) -> None:
    if name not in sacrebleu_sets():
        raise ConfigError.of(f"sacreBLEU has no set {name!r}.{suggestion(name, sacrebleu_sets())}")


def _misfit(name: str, src: Language, trg: Language) -> str:
    pairs, sets = _pairs(src, trg), sacrebleu_sets()
    if name not in sets or not pairs.isdisjoint(sets[name]):
        return ""
    others = [other for other in sets if not pairs.isdisjoint(sets[other])]
    with_pair = f"with it: {', '.join(others)}" if others else "no set of sacreBLEU has it"
    return f"is not of {src.name} and {trg.name}; {with_pair}"


SACREBLEU = Provider(
    "sacrebleu",
    same_code("iso639_1"),
    example="sacrebleu_wmt19",
    check=_check,
    misfit=_misfit,
    addresses=_addresses,
    searches={IMPORTER: find},
)
