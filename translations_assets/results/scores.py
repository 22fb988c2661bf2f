"""Scores of models on test sets, as `pipeline.eval` and `pipeline.checks.differences` write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self, TypeAlias, TypeVar

from translations_assets.records.checked import Number, Record, mapping

PARAGRAPHS = " (paragraphs)"  # after the name of a test set
METRICS: Mapping[str, str] = {
    "bleu": "BLEU",
    "chrf": "chrF",
    "chrfpp": "chrF++",
    "spbleu": "spBLEU",
    "comet": "COMET",
    "metricx24": "MetricX-24 error",
    "metricx24_qe": "MetricX-24-QE error",
    "unaligned": "unaligned",
    "unaligned_src": "unaligned source",
    "judge": "Judge",
}
LESS_IS_BETTER = frozenset(("metricx24", "metricx24_qe", "unaligned", "unaligned_src"))

Value = TypeVar("Value")


@dataclass(frozen=True)
class MetricScore(Record):
    """The score that a metric gives.

    mean       of the scores of resamples
    ci         half of the confidence interval of 95 %
    signature  all that the score depends on
    """

    score: Number
    mean: Number | None = None
    ci: Number | None = None
    signature: str | None = None

    def __str__(self) -> str:
        """The score and half of its interval, for people: `58.2 ± 0.6`."""
        return f"{self.score:.1f}" + ("" if self.ci is None else f" ± {self.ci:.1f}")


@dataclass(frozen=True)
class Speed(Record):
    """Needs of a model in Firefox's engine: words a second on one thread, memory, bytes of its parameters."""

    words_per_second: Number
    memory_megabytes: Number
    model_bytes: int


@dataclass(frozen=True)
class TranslatedSentence(Record):
    """A sentence of a test set, its reference and a model's translation."""

    source: str
    reference: str
    translation: str


@dataclass(frozen=True)
class Difference(Record):
    """A model's score beside another one's, and the probability of so large a difference by chance alone."""

    score: Number
    other: Number
    p_value: Number

    @property
    def difference(self) -> float:
        """The model's score minus the other one's."""
        return round(self.score - self.other, 4)


Differences: TypeAlias = "Mapping[str, Mapping[str, Difference]]"  # other model → metric → difference


@dataclass(frozen=True)
class Comparison(Record):
    """A model on a test set beside others."""

    dataset: str
    model: str
    others: Differences


@dataclass(frozen=True)
class Scores(Record):
    """Scores of a model on a test set.

    by_metric  in the order of METRICS
    samples    some of its translations
    speed      if it was timed
    model      the model's name; empty where the step tells it
    others     differences from other models
    """

    dataset: str
    by_metric: Mapping[str, MetricScore]
    samples: tuple[TranslatedSentence, ...] = ()
    speed: Speed | None = None
    model: str = ""
    others: Differences = field(default_factory=dict)

    @classmethod
    def from_dict(cls, value: object) -> Self:
        """Scores from what an evaluation wrote; ValueError for anything else."""
        known = mapping(value)
        return super().from_dict({**known, "by_metric": _in_order(known)})

    @property
    def numbers(self) -> dict[str, float]:
        """Scores by metric, and what was timed."""
        scores = {metric: float(score.score) for metric, score in self.by_metric.items()}
        speed = self.speed.to_dict() if self.speed else {}
        return {**scores, **{name: float(value) for name, value in speed.items()}}

    @property
    def compared(self) -> list[str]:
        """Differences of chrF from other models, with the probability that one is chance, for people."""
        return [
            f"{found['chrf'].difference:+.2f} from {other}, p = {found['chrf'].p_value:.3f}"
            for other, found in self.others.items()
        ]

    def with_metrics(self, further: Scores) -> Self:
        """The same with the scores that further metrics give."""
        return replace(self, by_metric=_in_order({**self.by_metric, **further.by_metric}))

    def with_others(self, comparison: Comparison) -> Self:
        """The same with differences from other models."""
        return replace(self, others={**self.others, **comparison.others})


class ScoreTable(NamedTuple):
    """Scores on a test set, as all tables show them: the metrics that any model has, model → its scores."""

    dataset: str
    metrics: Sequence[str]
    models: Mapping[str, Scores]


def score_tables(evaluations: Mapping[str, Mapping[str, Scores]]) -> list[ScoreTable]:
    """A table for each test set of some evaluations (model → test set → scores), in their order."""
    found = []
    for dataset in dict.fromkeys(name for tests in evaluations.values() for name in tests):
        models = {model: tests[dataset] for model, tests in evaluations.items() if dataset in tests}
        known = {metric for scores in models.values() for metric in scores.by_metric}
        found.append(ScoreTable(dataset, [metric for metric in METRICS if metric in known], models))
    return found


def _in_order(by_metric: Mapping[str, Value]) -> dict[str, Value]:
    return {metric: by_metric[metric] for metric in METRICS if metric in by_metric}
