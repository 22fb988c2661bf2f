"""Test sets that sacreBLEU knows (https://github.com/mjpost/sacrebleu), the newest first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import cycle

from translations_assets.generate.found import Found, Problem, Query, reason_of

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

    pairs = {f"{query.src.opus}-{query.trg.opus}", f"{query.trg.opus}-{query.src.opus}"}
    uses = cycle(("test", "devtest"))
    for name, known in DATASETS.items():
        if not pairs & set(known.langpairs):
            continue
        skipped = reason_of(name, SKIPPED)
        use = "devtest" if skipped or DEVELOPMENT.fullmatch(name) else next(uses)
        url = (known.data or [""])[0]
        yield Found(IMPORTER, f"sacrebleu_{name}", use, url=url, skipped=skipped.format(year=name[:5]))
