"""Sentences of test sets whose translation changed most, by chrF between the two translations."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from sacrebleu.metrics.chrf import CHRF

from translations_assets.common.errors import TranslationsError
from translations_assets.diff.evaluations import Evaluations, ScoredModel, forwards
from translations_assets.records.manifest import Blob
from translations_assets.results.evaluations import shown_model
from translations_assets.results.known import read_text
from translations_assets.running.protocols import Reading


@dataclass(frozen=True)
class ChangedSentence:
    """A sentence and its two translations.

    line      its number in the test set, from 1
    chrf      of one translation with the other as reference: the lower, the more has changed
    old_chrf  of the old translation with the test set's reference; likewise new_chrf
    """

    dataset: str
    line: int
    source: str
    reference: str
    old: str
    new: str
    chrf: float
    old_chrf: float
    new_chrf: float


@dataclass(frozen=True)
class ChangedSentences:
    """The sentences, the model that translated them, and how many of how many it translates differently."""

    model: str
    changed: int
    lines: int
    sentences: list[ChangedSentence]


def compare_sentences(store: Reading, old: Evaluations, new: Evaluations, most: int) -> ChangedSentences:
    """Find the sentences of all test sets that the model which users get translates most differently.

    Of models that both sides have; without the exported one the last. Test sets of which a text is gone, or
    is another one, are left out.
    """
    both = [tested for tested in forwards(new) if tested in old]
    model = shown_model(dict.fromkeys(tested.model for tested in both))
    changed = lines = 0
    found: list[tuple[float, int, ChangedSentence]] = []
    chrf: CHRF = CHRF()
    for tested in both:
        if tested.model != model:
            continue
        for number, (source, reference, before, after) in enumerate(
            _texts(store, old[tested], new[tested]), 1
        ):
            lines += 1
            if before == after:
                continue
            changed += 1
            scores = [
                round(chrf.sentence_score(text, [other]).score, 2)
                for text, other in ((after, before), (before, reference), (after, reference))
            ]
            sentence = ChangedSentence(tested.dataset, number, source, reference, before, after, *scores)
            heapq.heappush(found, (-sentence.chrf, -changed, sentence))
            if len(found) > most:
                heapq.heappop(found)
    return ChangedSentences(model, changed, lines, [one for *_, one in sorted(found, reverse=True)])


def _texts(store: Reading, old: ScoredModel, new: ScoredModel) -> Iterator[tuple[str, str, str, str]]:
    """Source, reference, old and new translation of each line; nothing where one text is gone."""
    sides = [(one.text("src"), one.text("trg")) for one in (old, new)]
    blobs = [*sides[1], old.translations, new.translations]
    if sides[0] != sides[1]:
        return
    texts = [lines for blob in blobs if (lines := _lines(store, blob))]
    if len(texts) == len(blobs) and len(set(map(len, texts))) == 1:
        source, reference, before, after = texts
        yield from zip(source, reference, before, after, strict=True)


def _lines(store: Reading, blob: Blob | None) -> list[str]:
    try:
        return read_text(store, blob) if blob else []
    except TranslationsError:
        return []
