"""A sweep's results in words, rows and JSON values; terminal and page only lay them out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from translations_assets.records.cost import amount, duration
from translations_assets.results.scores import METRICS
from translations_assets.sweeps.compared import Compared
from translations_assets.sweeps.facts import Setting, SweepResults

LOWER_IS_BETTER = ("metricx24", "metricx24_qe", "unaligned", "unaligned_src")


def datasets_of(found: SweepResults) -> list[str]:
    """The test sets of which any setting has scores."""
    return [*dict.fromkeys(one.dataset for setting in found.settings for one in setting.scored)]


def scores_of(setting: Setting, dataset: str) -> dict[str, Compared]:
    """Metric → a setting's scores on a test set."""
    return next((dict(one.by_metric) for one in setting.scored if one.dataset == dataset), {})


def cell(found: Compared) -> str:
    """A mean and half of its interval: over seeds, `58.2 ± 0.6 (3 seeds)`, else over lines, `58.2 ± 0.6`."""
    if found.spread is not None:
        return f"{found.mean:.1f} ± {found.spread:.1f} ({len(found.scores)} seeds)"
    return f"{found.mean:.1f}" + (f" ± {found.ci[0]:.1f}" if found.ci else "")


def needs(setting: Setting, currency: str) -> list[str]:
    """Size, speed and cost of a setting, for people; "" for each that is not known."""
    money = f", {amount(setting.cost.money)} {currency}" if setting.cost.money else ""
    return [
        f"{setting.size / 1e6:.1f} MB" if setting.size else "",
        f"{setting.speed:,.0f} words/s" if setting.speed else "",
        f"{duration(setting.cost.seconds)}{money}" if setting.cost.seconds else "",
    ]


def findings(found: SweepResults) -> Iterator[str]:
    """A sentence for each setting and test set: which differences from the reference are significant."""
    reference = found.reference.name
    for dataset in datasets_of(found):
        for setting in found.settings[1:]:
            scores, base = scores_of(setting, dataset), scores_of(found.reference, dataset)
            told = {metric: one for metric, one in scores.items() if one.p_value is not None}
            if not told:
                continue
            sure = [
                f"{METRICS[metric]} {_signed(one)} (p = {one.p_value:.3f}{_within(one, base[metric])})"
                for metric, one in told.items()
                if one.is_significant
            ]
            if not sure:
                yield f"{dataset}: {setting.name} does not differ significantly from {reference}."
                continue
            better = {
                (one.gain > 0) != (metric in LOWER_IS_BETTER)
                for metric, one in told.items()
                if one.is_significant
            }
            word = "different from" if len(better) > 1 else "better than" if True in better else "worse than"
            yield f"{dataset}: {setting.name} is significantly {word} {reference}: {', '.join(sure)}."
    if any(len(setting.partitions) == 1 for setting in found.settings):
        yield "Settings with one seed: another seed may change their scores by more than these differences."


def _signed(found: Compared) -> str:
    """A difference with its sign and one decimal, or one digit where that would be zero."""
    return f"{found.gain:+.1f}" if abs(found.gain) >= 0.05 else f"{found.gain:+.1g}"


def _within(found: Compared, reference: Compared) -> str:
    """Words about a difference that is significant for these lines, and that other seeds might turn."""
    spread = max(float(one.spread or 0.0) for one in (found, reference))
    return ", within the spread of seeds" if abs(found.gain) < spread else ""


def as_json(found: SweepResults) -> dict[str, Any]:
    """All that is known, as JSON values."""
    return {
        "sweep": found.sweep,
        "model": found.model,
        "settings": [
            {
                "name": setting.name,
                "values": dict(setting.values),
                "partitions": [*setting.partitions],
                "without_scores": [*setting.lacking],
                "scores": {
                    one.dataset: {metric: compared.to_dict() for metric, compared in one.by_metric.items()}
                    for one in setting.scored
                },
                "model_bytes": setting.size or None,
                "words_per_second": round(setting.speed, 1) or None,
                "own_cost": setting.cost.values,
            }
            for setting in found.settings
        ],
        "findings": [*findings(found)],
        "cost": found.cost.values,
        "currency": found.currency or None,
    }
