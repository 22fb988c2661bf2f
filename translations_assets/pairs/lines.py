"""All pairs as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from translations_assets.pairs.facts import Made, Pair
from translations_assets.records.cost import HOUR, amount, duration
from translations_assets.results.scores import METRICS

LISTED = ("chrf", "bleu", "comet")


def lines(pairs: Sequence[Pair], currency: str) -> Iterator[str]:
    """A line for each pair; `currency` is that of the prices, "" without prices."""
    begun = [pair for pair in pairs if pair.state != "not begun"]
    name = max((len(pair.partition) for pair in begun), default=0)
    state = max((len(pair.state) for pair in begun), default=0)
    for pair in begun:
        parts = [f"{pair.partition:{name}}", f"{pair.state:{state}}"]
        if made := pair.made:
            parts += filter(None, (scores_of(made), cost_of(made, currency)))
        if pair.experiments:
            parts.append(f"{pair.experiments} experiment{'s' * (pair.experiments != 1)}")
        if pair.detail:
            parts.append(pair.detail)
        yield "  ".join(parts)
    if others := [pair.partition for pair in pairs if pair.state == "not begun"]:
        yield f"not begun: {', '.join(others)}"


def scores_of(made: Made) -> str:
    """`exported chrF 58.2 (released 59.0, -0.8)`; "" without a model."""
    metric = next((metric for metric in LISTED if metric in made.scores), None)
    if metric is None:
        return ""
    text = f"{made.model} {METRICS[metric]} {made.scores[metric]:.1f}"
    if told := beside(made.scores, made.released, metric):
        text += f" ({told})"
    return text


def beside(scores: Mapping[str, float], released: Mapping[str, float], metric: str) -> str:
    """`released 59.0, -0.8`: the released model's score and how much higher the own one is; else ""."""
    if metric not in released:
        return ""
    return f"released {released[metric]:.1f}, {scores[metric] - released[metric]:+.1f}"


def cost_of(made: Made, currency: str) -> str:
    """`49 h, 12 h of GPU, 3.2 EUR`, as far as it is known."""
    spent = made.spent
    parts = [duration(spent["hours"] * HOUR)] if spent.get("hours") else []
    if spent.get("gpu_hours"):
        parts.append(f"{duration(spent['gpu_hours'] * HOUR)} of GPU")
    if currency and spent.get("money"):
        parts.append(f"{amount(spent['money'])} {currency}")
    return ", ".join(parts)
