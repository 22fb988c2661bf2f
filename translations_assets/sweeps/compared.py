"""Translations of a test set by the variants of a sweep, compared by setting."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from translations_assets.common.scripts import run_script
from translations_assets.graph.step import Step
from translations_assets.keys.remembered import Remembered
from translations_assets.records.checked import Number, Record, mapping
from translations_assets.records.manifest import Blob
from translations_assets.results.evaluations import model_of
from translations_assets.results.files import NUMBERS
from translations_assets.results.known import KnownResult
from translations_assets.results.scores import PARAGRAPHS, Scores
from translations_assets.running.protocols import Reading

SCRIPT = "pipeline.checks.settings"
TRANSLATIONS = "translations.zst"
REFERENCES = "corpus_trg"  # the input of an evaluation with the translations that people made
SIGNIFICANT = 0.05  # p-values below are told as differences


@dataclass(frozen=True)
class Compared(Record):
    """A metric's scores of a setting on a test set, as the script explains them.

    Without ci and p_value for metrics that a model computes; without difference where the reference has none.
    """

    scores: tuple[Number, ...]
    mean: Number
    difference: Number | None = None
    ci: tuple[Number, ...] = ()
    p_value: Number | None = None
    spread: Number | None = None

    @property
    def is_significant(self) -> bool:
        """True if other lines of the test set would hardly have turned the difference."""
        return self.p_value is not None and self.p_value < SIGNIFICANT

    @property
    def gain(self) -> float:
        """The difference, 0 where none is known."""
        return float(self.difference or 0.0)


class Translated(NamedTuple):
    """A variant's translations of a test set, the digest of its references, and their language for BLEU."""

    translations: Blob
    references: Blob
    lang: str


def translated_sets(
    evaluated: Iterable[tuple[Step, Scores]], results: Mapping[str, KnownResult], model: str
) -> dict[str, Translated]:
    """Test set → a model's translations, by its evaluations; not of paragraphs, joined from these."""
    found = {}
    for step, scores in evaluated:
        side = next((made for name, _, made in step.input_outputs() if name == REFERENCES), None)
        if model_of(step) != model or side is None or scores.dataset.endswith(PARAGRAPHS):
            continue
        if side.step.label in results:
            made, given = results[step.label].manifest, results[side.step.label].manifest
            lang = str(step.args["trg"])
            found[scores.dataset] = Translated(made.outputs[TRANSLATIONS], given.outputs[side.name], lang)
    return found


class Comparing:
    """Runs the script that compares settings, and remembers what it said of the same texts.

    store       that has the texts
    remembered  what was said before
    """

    def __init__(self, store: Reading, remembered: Remembered) -> None:
        self._store, self._remembered = store, remembered

    def compare(
        self, dataset: str, translated: Sequence[Sequence[Translated]], scores: Sequence[Sequence[Scores]]
    ) -> list[Mapping[str, Compared]]:
        """Metric → the scores of each setting on a test set, the first setting being the reference.

        Without translations of the reference, or of the same test set, the scores alone are told.
        """
        told: list[Mapping[str, Compared]] = [_by_scores(own, scores[0]) for own in scores]
        comparable = [place for place, own in enumerate(translated) if own and len(own) == len(scores[place])]
        references = {one.references.digest for place in comparable for one in translated[place]}
        if comparable[:1] != [0] or len(references) != 1:
            return told
        files = {str(place): [one.translations.digest for one in translated[place]] for place in comparable}
        chosen = {str(place): translated[place] for place in comparable}
        said = self._remembered.once(lambda: self._run(dataset, chosen), SCRIPT, dataset, files, *references)
        for place, by_metric in said.items():
            read = {metric: Compared.from_dict(value) for metric, value in by_metric.items()}
            told[int(place)] = {**told[int(place)], **read}
        return told

    def _run(self, dataset: str, translated: Mapping[str, Sequence[Translated]]) -> Mapping[str, Any]:
        first = next(iter(translated.values()))[0]
        with tempfile.TemporaryDirectory() as work:
            folder = Path(work)
            self._store.place_blob(first.references, folder / "references.zst")
            settings = []
            for place, variants in translated.items():
                files = [folder / f"{place}-{number}.zst" for number in range(len(variants))]
                for file, one in zip(files, variants, strict=True):
                    self._store.place_blob(one.translations, file)
                settings.append({"name": place, "translations": [str(file) for file in files]})
            (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
            options = ["--settings", str(folder / "settings.json"), "--trg", first.lang]
            options += ["--references", str(folder / "references.zst"), "--dataset", dataset]
            run_script(SCRIPT, [*options, "--output", str(folder / "out")])
            numbers = mapping(json.loads((folder / "out" / NUMBERS).read_bytes()))
            return mapping(numbers["settings"])


def _by_scores(own: Sequence[Scores], reference: Sequence[Scores]) -> dict[str, Compared]:
    """Metric → the scores that all variants of a setting have."""
    return dict(_means(own, reference))


def _means(own: Sequence[Scores], reference: Sequence[Scores]) -> Iterator[tuple[str, Compared]]:
    for metric in own[0].by_metric if own else ():
        if all(metric in one.by_metric for one in own):
            scores = tuple(float(one.by_metric[metric].score) for one in own)
            others = [float(one.by_metric[metric].score) for one in reference if metric in one.by_metric]
            difference = round(mean(scores) - mean(others), 4) if others else None
            yield metric, Compared(scores, round(mean(scores), 4), difference)
