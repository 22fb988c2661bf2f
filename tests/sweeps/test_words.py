"""The findings of a sweep in words: which setting is better, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from translations_assets.records.cost import Cost
from translations_assets.sweeps.compared import Compared
from translations_assets.sweeps.facts import Scored, Setting, SweepResults
from translations_assets.sweeps.words import findings

SEEDS = ("a.1", "a.2")


def setting(name: str, by_metric: Mapping[str, Compared], partitions: tuple[str, ...] = SEEDS) -> Setting:
    return Setting(name, {"rate": name}, partitions, (), (Scored("news", by_metric),))


def compared(difference: float, p_value: float | None, spread: float | None = 0.1) -> Compared:
    return Compared((50.0, 50.0), 50.0 + difference, difference, (0.5, 0.5), p_value, spread)


def told(*others: Setting, reference: Setting | None = None) -> list[str]:
    base = reference or setting("base", {metric: compared(0.0, None) for metric in ("chrf", "metricx24")})
    return [*findings(SweepResults("rates", "student", (base, *others), Cost(), ""))]


@pytest.mark.parametrize(
    ("metric", "difference", "says"),
    [
        ("chrf", 2.0, "fast is significantly better than base: chrF +2.0 (p = 0.010)."),
        ("chrf", -2.0, "fast is significantly worse than base: chrF -2.0 (p = 0.010)."),
        (
            "chrf",
            -0.04,
            "fast is significantly worse than base: chrF -0.04 (p = 0.010, within the spread of seeds).",
        ),
        ("metricx24", 2.0, "fast is significantly worse than base: MetricX-24 error +2.0 (p = 0.010)."),
        ("metricx24", -2.0, "fast is significantly better than base: MetricX-24 error -2.0 (p = 0.010)."),
    ],
)
def test_the_better_setting_is_named(metric: str, difference: float, says: str) -> None:
    assert told(setting("fast", {metric: compared(difference, 0.01)})) == [f"news: {says}"]


def test_metrics_that_contradict_each_other_are_no_better_and_no_worse() -> None:
    (said,) = told(setting("fast", {"chrf": compared(2.0, 0.01), "metricx24": compared(1.0, 0.01)}))
    assert said.startswith("news: fast is significantly different from base: chrF +2.0 (p = 0.010), MetricX")


def test_chance_is_no_finding() -> None:
    assert told(setting("fast", {"chrf": compared(2.0, 0.05)})) == [
        "news: fast does not differ significantly from base."
    ]
    assert told(setting("fast", {"chrf": compared(2.0, None)})) == []


@pytest.mark.parametrize(("own", "others"), [(2.1, 0.1), (0.1, 2.1)])
def test_a_difference_within_the_spread_of_seeds_is_said_to_be_so(own: float, others: float) -> None:
    base = setting("base", {"chrf": compared(0.0, None, others)})
    (said,) = told(setting("fast", {"chrf": compared(-2.0, 0.01, own)}), reference=base)
    assert said == (
        "news: fast is significantly worse than base: chrF -2.0 (p = 0.010, within the spread of seeds)."
    )


def test_one_seed_is_warned_of() -> None:
    *_, last = told(setting("fast", {"chrf": compared(2.0, 0.01, None)}, ("b.1",)))
    assert last.startswith("Settings with one seed: another seed may change their scores")
