"""Sentences that a report shows: of every test set, those translated badly beside those translated well."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from translations_assets.config.model_names import BACKWARDS
from translations_assets.graph.step import Output, Step
from translations_assets.results.evaluations import called, evaluates, model_of, shown_model
from translations_assets.results.files import METRICS
from translations_assets.results.known import KnownResult, read_text
from translations_assets.running.session import Session

if TYPE_CHECKING:
    from sacrebleu.metrics.chrf import CHRF

SENTENCES = 20  # of all test sets together
FEWEST = 2  # of one: a bad one and a good one
MOST_SCORED = 2_000  # of one, drawn by the seed: a score takes some 0.1 ms


@dataclass(frozen=True)
class Sentence:
    """A sentence of a test set, its reference, what each model makes of it, and chrF of the shown model's."""

    dataset: str
    source: str
    reference: str
    translations: Mapping[str, str]
    chrf: float


def shown_sentences(session: Session, results: Mapping[str, KnownResult]) -> list[Sentence]:
    """Some of every test set, always the same of the same translations, from the worst to the best of each.

    The worst is always there. A set's sentences, one of each score, are ordered by it, the order is cut into
    as many parts of one length as are shown of the set, and one is drawn from each of the others. None is
    shown twice.
    """
    sets = list(_translated_sets(session, results))
    count = max(FEWEST, SENTENCES // max(1, len(sets)))
    seen: set[str] = set()
    found = []
    for translated in sets:
        chosen = list(_drawn(translated, count, seen))
        seen |= {_same(sentence.source) for sentence in chosen}
        found += chosen
    return found


@dataclass(frozen=True)
class _Set:
    """A test set: its lines, and each model's."""

    dataset: str
    source: Sequence[str]
    reference: Sequence[str]
    texts: Mapping[str, Sequence[str]]


def _translated_sets(session: Session, results: Mapping[str, KnownResult]) -> Iterator[_Set]:
    """The test sets that models have translated forwards, in the order of the graph."""
    found: dict[tuple[Output, Output], dict[str, KnownResult]] = {}
    for known in results.values():
        if evaluates(known.step.stage) and {METRICS, "translations.zst"} <= known.manifest.outputs.keys():
            sides = _made_by(known.step, "corpus_src"), _made_by(known.step, "corpus_trg")
            if model_of(known.step) != BACKWARDS and all(side.step.label in results for side in sides):
                found.setdefault(sides, {})[model_of(known.step)] = known
    for sides, models in found.items():
        step = next(iter(models.values())).step
        source, reference = (
            read_text(session.store, results[side.step.label].manifest.outputs[side.name]) for side in sides
        )
        texts = {
            model: read_text(session.store, known.manifest.outputs["translations.zst"])
            for model, known in models.items()
        }
        yield _Set(called(step, str(step.args["dataset"])), source, reference, texts)


def _drawn(found: _Set, count: int, seen: Collection[str]) -> Iterator[Sentence]:
    whole = min(map(len, (found.source, found.reference, *found.texts.values())))
    numbers = random.Random(0)
    distinct = {
        _same(found.source[line]): line for line in reversed(range(whole)) if found.source[line].strip()
    }
    lines = sorted(line for same, line in distinct.items() if same not in seen)
    lines = numbers.sample(lines, min(MOST_SCORED, len(lines)))
    scores = _scores(lines, found)
    of_each = {round(scores[line]): line for line in lines}  # an easy set has one score for nearly all
    lines = [*of_each.values()] if len(of_each) >= count else lines
    ordered = sorted(lines, key=lambda line: (scores[line], line))
    parts = min(count, len(ordered))
    for part in range(parts):
        low, high = (len(ordered) * edge // parts for edge in (part, part + 1))
        line = ordered[numbers.randrange(low, high)] if part else ordered[0]
        texts = {model: text[line] for model, text in found.texts.items()}
        yield Sentence(found.dataset, found.source[line], found.reference[line], texts, scores[line])


def _scores(lines: Sequence[int], found: _Set) -> dict[int, float]:
    """Line → sentence chrF of the model that users get, or of the last one."""
    from sacrebleu.metrics.chrf import CHRF  # takes 0.3 s, which other commands need not

    chrf: CHRF = CHRF()
    text = found.texts[shown_model(found.texts)]
    return {line: chrf.sentence_score(text[line], [found.reference[line]]).score for line in lines}


def _same(source: str) -> str:
    """The letters and digits of a sentence: those that differ in nothing else count as one."""
    return "".join(filter(str.isalnum, source.casefold()))


def _made_by(step: Step, name: str) -> Output:
    """The file of another step that an input is."""
    return next(output for given, _, output in step.input_outputs() if given == name)
