"""Scores of models on test sets, and whether they differ by more than chance.

Where both translations of one test set are in the store, `pipeline.checks.differences` compares them by
paired bootstrap resampling. The two confidence intervals tell otherwise, of neural metrics always.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from translations_assets.common.errors import TranslationsError
from translations_assets.common.scripts import run_script
from translations_assets.diff.evaluations import Evaluations, ScoredModel, Tested
from translations_assets.records.manifest import Blob
from translations_assets.results.files import NUMBERS
from translations_assets.results.scores import LESS_IS_BETTER, Comparison, MetricScore
from translations_assets.running.protocols import Reading

SIGNIFICANT = 0.05  # a smaller p-value counts as a real difference
SCRIPT = "pipeline.checks.differences"
OLD, NEW = "old", "new"  # the models' names there

Test: TypeAlias = Literal["paired bootstrap", "intervals", "none"]
Verdict: TypeAlias = Literal["better", "worse", "not told apart", "not comparable"]
Progress: TypeAlias = "Callable[[int, int], None]"


@dataclass(frozen=True)
class ScoreChange:
    """A model's score on a test set by one metric.

    old, new  None where that side has none, or not of this metric
    test      how the two are told apart
    p_value   of the paired bootstrap
    why       why they are not comparable, or not by the paired bootstrap; "" where there is nothing to say
    """

    model: str
    dataset: str
    metric: str
    old: MetricScore | None
    new: MetricScore | None
    test: Test
    verdict: Verdict
    p_value: float | None = None
    why: str = ""

    @property
    def difference(self) -> float | None:
        """The new score minus the old one."""
        if self.old is None or self.new is None:
            return None
        return round(float(self.new.score) - float(self.old.score), 4)


def compare_scores(
    store: Reading, old: Evaluations, new: Evaluations, progress: Progress
) -> list[ScoreChange]:
    """Compare all scores that one side has, or both; those of the same results on both sides are left out."""
    both = [tested for tested in new if tested in old]
    differing = [
        tested
        for tested in both
        if new[tested].scores != old[tested].scores or _retranslated(old[tested], new[tested])
    ]
    p_values = _p_values(store, {tested: (old[tested], new[tested]) for tested in differing}, progress)
    found: list[ScoreChange] = []
    for tested in dict.fromkeys([*new, *old]):
        if tested in differing:
            found += _changes(tested, old[tested], new[tested], p_values[tested])
        elif tested not in both:
            found += _alone(tested, old.get(tested), new.get(tested))
    return found


def _retranslated(old: ScoredModel, new: ScoredModel) -> bool:
    return old.translations != new.translations


@dataclass(frozen=True)
class _Bootstrap:
    """P-values by metric, or why there are none."""

    p_values: Mapping[str, float]
    why: str = ""


def _p_values(
    store: Reading, pairs: Mapping[Tested, tuple[ScoredModel, ScoredModel]], progress: Progress
) -> dict[Tested, _Bootstrap]:
    """The paired bootstrap of each pair of evaluations that allows one, several at a time."""
    found = {tested: _Bootstrap({}, hindrance(store, *pair)) for tested, pair in pairs.items()}
    asked = [tested for tested, pair in pairs.items() if not found[tested].why and _retranslated(*pair)]
    with ThreadPoolExecutor(max(1, min(len(asked), os.cpu_count() or 1))) as threads:
        for done, (tested, values) in enumerate(
            zip(asked, threads.map(lambda one: bootstrap(store, *pairs[one]), asked), strict=True), start=1
        ):
            found[tested] = values
            progress(done, len(asked))
    return found


def hindrance(store: Reading, old: ScoredModel, new: ScoredModel) -> str:
    """Explain why two evaluations are not of the same text, or not to be compared line by line; else ""."""
    if _texts(old) != _texts(new) or None in _texts(old):
        return "the test set has another text"
    blobs = [old.translations, new.translations, new.text("trg")]
    if not all(blob and store.has_blob(blob) for blob in blobs):
        return "translations are no longer in the store"
    return ""


def _texts(evaluation: ScoredModel) -> tuple[Blob | None, Blob | None]:
    return evaluation.text("src"), evaluation.text("trg")


def bootstrap(store: Reading, old: ScoredModel, new: ScoredModel) -> _Bootstrap:
    """Compare two translations of one test set, by the script that compares models for gates."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        texts = {"translations": new.translations, "old": old.translations, "references": new.text("trg")}
        is_spbleu = new.spbleu is not None and new.spbleu == old.spbleu and store.has_blob(new.spbleu)
        try:
            for name, blob in {**texts, **({"spbleu": new.spbleu} if is_spbleu else {})}.items():
                if blob:
                    store.place_blob(blob, folder / f"{name}.zst")
            run_script(
                SCRIPT,
                [
                    *("--model", NEW, "--translations", str(folder / "translations.zst")),
                    *("--others", OLD, "--others-translations", str(folder / "old.zst")),
                    *("--references", str(folder / "references.zst")),
                    *("--trg", new.language, "--dataset", new.scores.dataset),
                    *(("--spbleu-model", str(folder / "spbleu.zst")) if is_spbleu else ()),
                    *("--output", str(folder / "numbers")),
                ],
            )
            numbers = json.loads((folder / "numbers" / NUMBERS).read_bytes())
        except TranslationsError as error:
            return _Bootstrap({}, str(error).splitlines()[0] if str(error) else "it cannot be computed")
    by_metric = Comparison.from_dict(numbers).others[OLD]
    return _Bootstrap({metric: float(one.p_value) for metric, one in by_metric.items()})


def _changes(tested: Tested, old: ScoredModel, new: ScoredModel, found: _Bootstrap) -> Iterator[ScoreChange]:
    """What differs between a model's scores on a test set, by metric."""
    for metric in dict.fromkeys([*new.scores.by_metric, *old.scores.by_metric]):
        scores = [side.scores.by_metric.get(metric) for side in (old, new)]
        before, after = scores
        if before is None or after is None:
            yield ScoreChange(*tested, metric, before, after, "none", "not comparable", why=_lacking(before))
        elif before == after:
            continue
        elif before.signature != after.signature:
            why = "the metric is another one: its signature differs"
            yield ScoreChange(*tested, metric, before, after, "none", "not comparable", why=why)
        elif (p_value := found.p_values.get(metric)) is not None:
            verdict = _verdict(metric, before, after, p_value < SIGNIFICANT)
            yield ScoreChange(*tested, metric, before, after, "paired bootstrap", verdict, p_value)
        elif before.ci is None or after.ci is None:
            why = found.why or "no confidence interval is known"
            yield ScoreChange(*tested, metric, before, after, "none", "not comparable", why=why)
        else:
            verdict = _verdict(metric, before, after, _are_apart(before, after))
            yield ScoreChange(*tested, metric, before, after, "intervals", verdict, why=found.why)


def _are_apart(old: MetricScore, new: MetricScore) -> bool:
    """True if the confidence intervals of two scores do not overlap."""
    return abs(new.score - old.score) > (old.ci or 0) + (new.ci or 0)


def _verdict(metric: str, old: MetricScore, new: MetricScore, is_significant: bool) -> Verdict:
    if not is_significant or new.score == old.score:
        return "not told apart"
    return "better" if (new.score > old.score) != (metric in LESS_IS_BETTER) else "worse"


def _lacking(old: MetricScore | None) -> str:
    return "the old side has no such score" if old is None else "the new side has no such score"


def _alone(tested: Tested, old: ScoredModel | None, new: ScoredModel | None) -> Iterator[ScoreChange]:
    """The scores of an evaluation that only one side has."""
    for metric, before in old.scores.by_metric.items() if old else ():
        yield ScoreChange(*tested, metric, before, None, "none", "not comparable", why=_lacking(before))
    for metric, after in new.scores.by_metric.items() if new else ():
        yield ScoreChange(*tested, metric, None, after, "none", "not comparable", why=_lacking(None))
