"""Gates of trainings, over the curves that they leave."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from translations_assets.checks.verdict import Documents, NotComputed, Verdict, nothing
from translations_assets.config.gates import TrainingCollapse, TrainingCurve

NOT_TRAINED = "the training config trains no such model"
CHRF, ENTROPY = "chrf", "ce-mean-words"

_Metrics: TypeAlias = Mapping[str, Any]
_Point: TypeAlias = Mapping[str, Any]


def collapse(documents: Documents, thresholds: TrainingCollapse) -> Verdict:
    """Models that never learned to translate, unlearned it, or diverged."""
    trained = _trained(documents)
    if not trained:
        return nothing(NOT_TRAINED)
    wrong: list[str] = []
    numbers: dict[str, float] = {}
    for label, metrics in trained.items():
        broken = next((point for point in metrics["curve"] if not _finite(point)), None)
        if broken:
            wrong.append(f"{label} diverged: not a number at update {broken['update']:,}")
            continue
        points = _validations(metrics, label)
        wrong += [f"{label} {what}" for what in _collapses(points, thresholds)]
        numbers[f"best chrF, {label}"] = _best(points, CHRF)[CHRF]
    return Verdict(not wrong, "; ".join(wrong) or _kept(numbers), numbers)


def _kept(best: Mapping[str, float]) -> str:
    worst = f" of the worst of {len(best)} models" if len(best) > 1 else ""
    return f"chrF {min(best.values()):.1f} at the best validation{worst}, and the last one is close to it"


def _collapses(points: Sequence[_Point], thresholds: TrainingCollapse) -> Iterator[str]:
    best, last = _best(points, CHRF), points[-1]
    if best[CHRF] < thresholds.min_chrf:
        yield (
            f"never learned to translate: its best chrF is {best[CHRF]:.1f}, at update {best['update']:,}; "
            f"at least {thresholds.min_chrf:.1f} is asked for"
        )
    if last[CHRF] < (1 - thresholds.max_fall) * best[CHRF]:
        yield (
            f"collapsed: its chrF fell from {best[CHRF]:.1f} at update {best['update']:,} "
            f"to {last[CHRF]:.1f} at the last, {last['update']:,}"
        )
    lowest = _best(points, ENTROPY)
    if last[ENTROPY] - lowest[ENTROPY] > thresholds.max_rise:
        yield (
            f"diverged: its cross-entropy rose from {lowest[ENTROPY]:.2f} at update {lowest['update']:,} to "
            f"{last[ENTROPY]:.2f} at the last, {last['update']:,}"
        )


def curve(documents: Documents, thresholds: TrainingCurve, epochs: bool = True) -> Verdict:
    """chrF and cross-entropy where the other one is best, and how much of its text a training has seen."""
    trained = _trained(documents)
    if not trained:
        return nothing(NOT_TRAINED)
    passed, told = True, []
    numbers: dict[str, float] = {}
    for label, metrics in trained.items():
        points = _validations(metrics, label)
        by_chrf, by_entropy = _best(points, CHRF), _best(points, ENTROPY)
        lost, risen = by_chrf[CHRF] - by_entropy[CHRF], by_chrf[ENTROPY] - by_entropy[ENTROPY]
        seen = _epochs(metrics) if epochs else None
        passed = passed and lost <= thresholds.max_chrf_gap and risen <= thresholds.max_entropy_gap
        passed = passed and (seen is None or seen >= thresholds.min_epochs)
        told.append(
            f"{label}: chrF is {lost:.1f} below its best where cross-entropy is best "
            f"(update {by_entropy['update']:,}), cross-entropy {risen:.2f} above its best where chrF is best "
            f"(update {by_chrf['update']:,})" + ("" if seen is None else f"; {seen:.2g} epochs seen")
        )
        numbers |= {f"chrF gap, {label}": lost, f"cross-entropy gap, {label}": risen}
        numbers |= {} if seen is None else {f"epochs, {label}": seen}
    return Verdict(passed, "; ".join(told), numbers)


def finetuning_curve(documents: Documents, thresholds: TrainingCurve) -> Verdict:
    """The same of a model that has seen its text before."""
    return curve(documents, thresholds, epochs=False)


def _trained(documents: Documents) -> dict[str, _Metrics]:
    """The trainings; what was fetched has no curve."""
    return {
        label: found for steps in documents.values() for label, found in steps.items() if "curve" in found
    }


def _validations(metrics: _Metrics, label: str) -> list[_Point]:
    """The validations with finite scores, of which there must be some."""
    points = [point for point in metrics["curve"] if {CHRF, ENTROPY} <= point.keys() and _finite(point)]
    if not points:
        raise NotComputed(f"{label} was never validated by {CHRF} and {ENTROPY}")
    return points


def _best(points: Sequence[_Point], metric: str) -> _Point:
    sign = -1 if metric == ENTROPY else 1
    return max(points, key=lambda point: float(sign * point[metric]))


def _finite(point: _Point) -> bool:
    return all(math.isfinite(value) for value in point.values() if isinstance(value, float))


def _epochs(metrics: _Metrics) -> float | None:
    """How often a training has seen its text; None when its curve does not tell.

    Marian counts sentences again whenever it starts: their number for an update is taken where they grow.
    """
    points = [point for point in metrics["curve"] if point.get("kind") == "train"]
    counts = [(point["update"], point["sentences"]) for point in points]
    grown = [
        (later[0] - earlier[0], later[1] - earlier[1])
        for earlier, later in pairwise(counts if len(counts) > 1 else [(0, 0), *counts])
        if later[0] > earlier[0] and later[1] > earlier[1]
    ]
    pairs = sum(kept["kept"] for name, kept in metrics.get("pairs", {}).items() if name != "dev")
    if not grown or not pairs:
        return None
    updates, sentences = map(sum, zip(*grown, strict=True))
    return float(metrics["updates"] * sentences / updates / pairs)
