"""The gate of offensive words that a student adds."""

from __future__ import annotations

from translations_assets.checks.verdict import Documents, Verdict, percent, telling
from translations_assets.config import gates
from translations_assets.results.files import Numbers

ABSENT = "the training config names no list of offensive words (checks.offensive-words.trg-list)"


def offensive_words(documents: Documents[Numbers], thresholds: gates.OffensiveWords) -> Verdict:
    """Judge the share of translations with a listed word that their source gives no reason for."""
    found = telling(documents, "offensive", ABSENT)
    told = (
        f"{found['offensive']:,} of {found['asked']:,} translations ({percent(found['share'])}) hold an "
        "offensive word"
    )
    if thresholds.src_list:
        told += f" and their source none; of {found['in_source']:,} more the source holds one, too"
    return Verdict(
        found["share"] <= thresholds.max_share,
        told,
        {"offensive translations": found["share"]},
        [f"{words}: {source} ||| {translation}" for words, source, translation in found["samples"]],
    )
