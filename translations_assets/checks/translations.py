"""Gates of what models translated, over the numbers of `pipeline.checks.text` and `pipeline.checks.models`.

In the numbers of a parallel text the source stands first; `made` is the side that a model wrote: 1, or 0 of
back-translations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from translations_assets.checks.text import NO_TEXT
from translations_assets.checks.verdict import Documents, Verdict, nothing, only, percent
from translations_assets.config.gates import TranslationCollapse, Translations

CORPUS = "check_merge_corpus"


def translations(documents: Documents, thresholds: Translations, made: int = 1) -> Verdict:
    """Translations that are empty or copies; `made` is the side that was translated to."""
    found = only(documents)
    if found is None:
        return nothing(NO_TEXT)
    empty, copied = found["sides"][made]["empty"] / max(1, found["lines"]), found["copied"]["share"]
    return Verdict(
        empty <= thresholds.max_empty and copied <= thresholds.max_copied,
        f"{percent(empty)} of the translations are empty, {percent(copied)} copies of their source",
        {"empty": empty, "copied": copied},
        [" ||| ".join(pair) for pair in found["copied"]["samples"]],
    )


def back_translations(documents: Documents, thresholds: Translations) -> Verdict:
    """Back-translations that are empty or copies."""
    return translations(documents, thresholds, made=0)


def collapse(documents: Documents, thresholds: TranslationCollapse, made: int = 1) -> Verdict:
    """Translations that are the same for different sources, loop, or are far too long or short."""
    genuine, found = _genuine_and_made(documents)
    if found is None:
        return nothing(NO_TEXT)
    distinct = found["distinct"][made] / max(1, found["distinct"][1 - made])
    looping = found["loops"][made]
    told = [
        f"{found['distinct'][made]:,} different translations of {found['distinct'][1 - made]:,} lines",
        f"{percent(looping['share'])} repeat themselves",
    ]
    numbers = {"distinct": distinct, "looping": looping["share"]}
    fit = True
    if genuine:
        factor = (found["length_ratio"]["overall"] or 1e-9) / genuine
        longer = 1 / factor if made == 0 else factor
        fit = 1 / thresholds.max_length_factor <= longer <= thresholds.max_length_factor
        told.append(f"they are {longer:.2f} times as long as genuine text would be")
        numbers["length factor"] = longer
    return Verdict(
        distinct >= thresholds.min_distinct and looping["share"] <= thresholds.max_looping and fit,
        "; ".join(told),
        numbers,
        looping["samples"],
    )


def back_collapse(documents: Documents, thresholds: TranslationCollapse) -> Verdict:
    """The same of back-translations."""
    return collapse(documents, thresholds, made=0)


def _genuine_and_made(documents: Documents) -> tuple[float | None, Mapping[str, Any] | None]:
    """Target characters for each source character of genuine text, where there is any; what is judged."""
    found = next((text for stage in documents if stage != CORPUS for text in documents[stage].values()), None)
    corpus = next(iter(documents[CORPUS].values()), None)
    if found and "expected_ratio" in found:
        return found["expected_ratio"], found
    return corpus["length_ratio"]["overall"] if corpus else None, found
