"""Dev and test sets with providers of their own: FLORES-200, NTREX-128, strings of Mozilla's programs."""

from __future__ import annotations

from collections.abc import Iterator

from translations_assets.generate.found import Found, Query

SHARE_ALIKE = "CC-BY-SA-4.0"  # of both FLORES-200 and NTREX-128
ENGLISH = "en"
FLORES = {"devtest": ("flores_dev", 997), "test": ("flores_devtest", 1012)}
NTREX_SENTENCES = 1997


def find(query: Query) -> Iterator[Found]:
    """What there is of the pair; nothing is asked of a server."""
    flores = query.src.flores and query.trg.flores
    if flores:
        for use, (key, sentences) in FLORES.items():
            yield Found("flores", key, use, sentences, licence=SHARE_ALIKE)
    if query.src.ntrex and query.trg.ntrex:
        use = "test" if flores else "devtest"  # so that there is something to validate on
        yield Found("ntrex", "ntrex_test", use, NTREX_SENTENCES, licence=SHARE_ALIKE)
    if ENGLISH in (query.src.code, query.trg.code) and query.src.pontoon and query.trg.pontoon:
        yield Found("pontoon", "tmx_pontoon", "test")
