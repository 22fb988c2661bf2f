"""The gate of HTML through a student."""

from __future__ import annotations

from translations_assets.checks.verdict import Documents, NothingToJudge, Verdict, percent, telling
from translations_assets.config import gates
from translations_assets.results.files import Numbers


def markup(documents: Documents[Numbers], thresholds: gates.Markup) -> Verdict:
    """Judge how many documents keep their tags, and how many tags stand round the right words."""
    found = telling(documents, "kinds", "there is no test set, or fetched alignments leave no priors for it")
    every, kinds = found["all"], {kind: one for kind, one in found["kinds"].items() if one["countable"]}
    if not kinds or every["countable"] < thresholds.min_tags:
        raise NothingToJudge(
            f"{every['countable']} tags stand round words whose translation is known, and "
            f"{max(1, thresholds.min_tags)} are asked for"
        )
    worst = min(kinds, key=lambda kind: float(kinds[kind]["right_share"]))
    return Verdict(
        every["kept_share"] >= thresholds.min_kept and every["right_share"] >= thresholds.min_right,
        f"{percent(every['kept_share'])} of {every['documents']} documents in HTML keep their tags, "
        f"{percent(every['right_share'])} of {every['countable']} tags stand round the right words; the "
        f"fewest of the kind {worst}: {percent(kinds[worst]['right_share'])}",
        {
            "tags kept": every["kept_share"],
            "tags round the right words": every["right_share"],
            **{f"round the right words, {kind}": score["right_share"] for kind, score in kinds.items()},
        },
        [" ||| ".join(sample) for sample in found["samples"]],
    )
