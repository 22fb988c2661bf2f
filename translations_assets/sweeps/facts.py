"""A sweep's results, gathered from the store: scores by setting over seeds, sizes, speed, cost."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from translations_assets.common.errors import TranslationsError
from translations_assets.config.errors import among
from translations_assets.config.sweep import Variant, settings_of
from translations_assets.graph.step import Step
from translations_assets.records.cost import Cost
from translations_assets.results.evaluations import (
    Evaluations,
    evaluations_in,
    model_sizes,
    read_evaluations,
    shown_model,
)
from translations_assets.results.files import read_metrics
from translations_assets.results.known import KnownResult, known_results, read_each
from translations_assets.results.scores import Scores
from translations_assets.running.prices import Prices, spent_on
from translations_assets.running.session import Session
from translations_assets.sweeps.compared import Compared, Comparing, Translated, translated_sets


class Scored(NamedTuple):
    """A setting on a test set: metric → scores of its variants, beside the reference's."""

    dataset: str
    by_metric: Mapping[str, Compared]


@dataclass(frozen=True)
class Setting:
    """A combination of values, but for seeds, and the results of its variants.

    name        `learn-rate 0.0003, student-model tiny`
    values      axis → value; empty for the base where no variant is as it is
    partitions  of its variants
    lacking     those of them that lack the score of a test set
    scored      by test set
    size        bytes of the model's parameters
    speed       words a second in Firefox's engine, the mean of its variants; 0 where it was not timed
    cost        of the steps that no other setting's variants have
    """

    name: str
    values: Mapping[str, Any]
    partitions: tuple[str, ...]
    lacking: tuple[str, ...]
    scored: tuple[Scored, ...] = ()
    size: int = 0
    speed: float = 0.0
    cost: Cost = field(default_factory=Cost)


@dataclass(frozen=True)
class SweepResults:
    """All settings of a sweep, the reference first.

    model   the model that is compared
    cost    of all steps of all variants, each counted once
    """

    sweep: str
    model: str
    settings: tuple[Setting, ...]
    cost: Cost
    currency: str

    @property
    def reference(self) -> Setting:
        """The setting that others are compared with."""
        return self.settings[0]


class _Metrics(NamedTuple):
    """A variant's session, results, and the metrics among them."""

    session: Session
    results: Mapping[str, KnownResult]
    metrics: Mapping[Step, object]

    @property
    def evaluations(self) -> Evaluations:
        """The scores, with further metrics."""
        return read_evaluations(self.session, self.results, self.metrics)


class _Variant(NamedTuple):
    """A variant's results, and its model's scores and translations, by test set."""

    results: Mapping[str, KnownResult]
    scores: Mapping[str, Scores]
    translated: Mapping[str, Translated]


def gather(
    name: str,
    groups: Sequence[tuple[Mapping[str, Any], tuple[str, ...]]],
    sessions: Mapping[str, Session],
    comparing: Comparing,
    prices: Prices | None,
    model: str = "",
) -> SweepResults:
    """Gather a sweep's results.

    name       the sweep's
    groups     settings, each with its values and the partitions of its variants; see `groups_of`
    sessions   partition → a session that reads its results
    comparing  compares translations
    model      to compare; by default the one that users get, or the last that all have

    Raises TranslationsError while no variant has a score.
    """
    found = {partition: _metrics(session) for partition, session in sessions.items()}
    evaluated = {partition: one.evaluations for partition, one in found.items()}
    model = _shown(name, [*evaluated.values()], model)
    read = {
        partition: _Variant(
            one.results,
            evaluated[partition].get(model, {}),
            translated_sets(evaluations_in(one.metrics), one.results, model),
        )
        for partition, one in found.items()
    }
    owners = _owners(read)
    scored = _compare(groups, read, comparing)
    settings = []
    for place, (values, partitions) in enumerate(groups):
        own = [read[partition] for partition in partitions]
        alone = [made for made, having in owners.items() if having <= {*partitions}]
        settings.append(
            Setting(
                name=_name(values),
                values=values,
                partitions=partitions,
                lacking=tuple(one for one in partitions if scored.keys() - read[one].scores.keys()),
                scored=tuple(
                    Scored(dataset, of_all[place]) for dataset, of_all in scored.items() if of_all[place]
                ),
                size=max(model_sizes(one.results).get(model, 0) for one in own),
                speed=_speed(own),
                cost=_cost(read, alone, prices),
            )
        )
    return SweepResults(
        name, model, tuple(settings), _cost(read, owners, prices), prices.currency if prices else ""
    )


def groups_of(
    variants: Sequence[Variant], reference: Sequence[str]
) -> list[tuple[Mapping[str, Any], tuple[str, ...]]]:
    """Each setting's values and partitions, the reference first, which may be the base alone."""
    groups: list[tuple[Mapping[str, Any], tuple[str, ...]]] = [
        (setting, tuple(variant.partition for variant in group)) for setting, group in settings_of(variants)
    ]
    if tuple(reference) not in [partitions for _, partitions in groups]:
        return [({}, tuple(reference)), *groups]
    return sorted(groups, key=lambda group: group[1] != tuple(reference))


def _metrics(session: Session) -> _Metrics:
    results = known_results(session, session.graph.steps)
    return _Metrics(session, results, read_each(session, results, read_metrics))


def _shown(name: str, evaluated: Sequence[Evaluations], wanted: str) -> str:
    """The model that is wanted, or that users get, or the last one that all variants with scores have."""
    some = [one for one in evaluated if any(one.values())]
    models = [model for model in some[0] if all(one.get(model) for one in some)] if some else []
    if not models:
        raise TranslationsError(
            f"not made: no variant of {name} is evaluated yet. To make them: translations train {name}"
        )
    if wanted and not any(one.get(wanted) for one in some):
        raise TranslationsError(f"No variant of {name} has scores of {wanted}.{among(wanted, models)}")
    return wanted or shown_model(models)


def _name(values: Mapping[str, Any]) -> str:
    words = (
        f"{axis.rpartition('.')[2]} {'none' if value in ('', None) else value}"
        for axis, value in values.items()
    )
    return ", ".join(words) or "the base"


def _compare(
    groups: Sequence[tuple[Mapping[str, Any], tuple[str, ...]]],
    read: Mapping[str, _Variant],
    comparing: Comparing,
) -> dict[str, list[Mapping[str, Compared]]]:
    """Test set → the scores of each setting, by metric; nothing for a setting without translations of it."""
    scored = {}
    for dataset in dict.fromkeys(dataset for one in read.values() for dataset in one.scores):
        translated = [
            [read[one].translated[dataset] for one in partitions if dataset in read[one].translated]
            for _, partitions in groups
        ]
        scores = [
            [read[one].scores[dataset] for one in partitions if dataset in read[one].scores]
            for _, partitions in groups
        ]
        scored[dataset] = comparing.compare(dataset, translated, scores)
    return scored


def _owners(read: Mapping[str, _Variant]) -> dict[tuple[str, int], set[str]]:
    """Key and generation of each result → the variants that have it."""
    owners: dict[tuple[str, int], set[str]] = {}
    for partition, one in read.items():
        for _, made in one.results.values():
            owners.setdefault((made.key, made.generation), set()).add(partition)
    return owners


def _cost(read: Mapping[str, _Variant], wanted: Collection[tuple[str, int]], prices: Prices | None) -> Cost:
    """The cost of some results, by key and generation, each counted once."""
    found = {
        (made.key, made.generation): spent_on(step, made, prices)
        for one in read.values()
        for step, made in one.results.values()
        if (made.key, made.generation) in wanted
    }
    return sum(found.values(), Cost())


def _speed(variants: Sequence[_Variant]) -> float:
    speeds = [
        float(scores.speed.words_per_second)
        for one in variants
        for scores in one.scores.values()
        if scores.speed
    ]
    return sum(speeds) / len(speeds) if speeds else 0.0
