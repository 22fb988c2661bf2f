"""All that differs between two sides, gathered once; terminal, JSON and page only show it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from translations_assets.common.errors import TranslationsError
from translations_assets.common.listing import some
from translations_assets.configs.training_configs import graph_of
from translations_assets.diff.evaluations import evaluations_of
from translations_assets.diff.lines import LineDifferences, compare_lines
from translations_assets.diff.needs import CostChange, NeedsChange, compare_costs, compare_needs
from translations_assets.diff.scores import Progress, ScoreChange, compare_scores
from translations_assets.diff.sentences import ChangedSentences, compare_sentences
from translations_assets.diff.sides import Side, find_side
from translations_assets.diff.vocabularies import VocabularyChange, compare_vocabularies
from translations_assets.results.known import ReadOnce
from translations_assets.running.prices import Prices
from translations_assets.running.protocols import Reading
from translations_assets.why.between import StepDifferences, compare_steps
from translations_assets.why.differences import ABSENT, changes

SENTENCES = 10


@dataclass(frozen=True)
class ConfigChange:
    """A key of the training config that differs; None where it is not set. `lines` say it for people."""

    key: str
    old: Any
    new: Any
    lines: list[str]


@dataclass(frozen=True)
class Diff:
    """All that differs.

    notes     what could not be compared, and other things to know of the two sides
    currency  of the costs; "" without prices
    """

    old: Side
    new: Side
    notes: list[str]
    config: list[ConfigChange]
    steps: StepDifferences
    lines: LineDifferences
    vocabularies: list[VocabularyChange]
    scores: list[ScoreChange]
    sentences: ChangedSentences
    models: list[NeedsChange]
    costs: list[CostChange]
    currency: str


def gather(
    store: Reading,
    space: str,
    names: tuple[str, str],
    prices: Prices | None,
    progress: Progress,
    sentences: int = SENTENCES,
) -> Diff:
    """Compare two sides by their names, see `find_side`; `progress` hears of test sets that are compared.

    Raises TranslationsError for a name that means nothing, and for sides of other language pairs.
    """
    store = cast("Reading", ReadOnce(store))
    old, new = (find_side(store, space, name) for name in names)
    if old.pair != new.pair:
        pairs = [f"{side.name} translates {' to '.join(side.pair)}" for side in (old, new)]
        raise TranslationsError(f"{pairs[0]}, and {pairs[1]}: only results of one pair can be compared.")
    before, after = (evaluations_of(store, side) for side in (old, new))
    return Diff(
        old=old,
        new=new,
        notes=[*_notes(old), *_notes(new)],
        config=list(_config(old, new)),
        steps=compare_steps(store, old, new, graph_of),
        lines=compare_lines(store, old, new),
        vocabularies=compare_vocabularies(store, old, new),
        scores=compare_scores(store, before, after, progress),
        sentences=compare_sentences(store, before, after, sentences),
        models=compare_needs(before, after),
        costs=compare_costs(old, new, prices),
        currency=prices.currency if prices else "",
    )


def _config(old: Side, new: Side) -> Iterator[ConfigChange]:
    if old.config is None or new.config is None:
        return
    for change in changes(old.config, new.config):
        before, after = (None if value is ABSENT else value for value in (change.old, change.new))
        yield ConfigChange(".".join(change.path), before, after, list(change.lines()))


def _notes(side: Side) -> Iterator[str]:
    """Things to know of a side: what of it is missing."""
    if side.config is None:
        yield f"{side.name}: its training config is no longer in the store, and is not compared."
    elif not side.is_own:
        yield f"{side.name}: its own training config is not in the store; that of its newest result counts."
    if side.config is not None and side.graph is None:
        yield f"{side.name}: its training config has another form than today's; datasets have no aliases."
    if side.gone:
        yield f"{side.name}: results that the store has no longer: {some(side.gone)}"
    if side.stale:
        yield f"{side.name}: out of date, made from results of before: {some(side.stale)}"
