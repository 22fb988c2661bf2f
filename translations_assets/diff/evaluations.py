"""Evaluations of one side: each model's scores on each test set, and the files that they were made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from translations_assets.common.errors import TranslationsError
from translations_assets.config.model_names import BACKWARDS
from translations_assets.diff.sides import Side
from translations_assets.records.manifest import Blob, Manifest
from translations_assets.results.evaluations import FINAL, MODELS, PARAMETERS, evaluates, name_of_model
from translations_assets.results.files import Reader, Value, read_metrics, read_scores
from translations_assets.results.scores import Scores
from translations_assets.running.protocols import Reading

TRANSLATIONS = "translations.zst"
SPBLEU = "pipeline.eval.spbleu"


class Tested(NamedTuple):
    """A model and a test set, by the names that people give them."""

    model: str
    dataset: str


@dataclass(frozen=True)
class ScoredModel:
    """A model's scores on a test set, by all metrics, and where they are from.

    spbleu  the model that spBLEU cuts texts by; None where the config names none
    """

    scores: Scores
    made: Manifest
    spbleu: Blob | None = None

    @property
    def translations(self) -> Blob | None:
        """The translations; None where the evaluation left none."""
        return self.made.outputs.get(TRANSLATIONS)

    def text(self, side: str) -> Blob | None:
        """The source (`src`) or the references (`trg`) of the test set."""
        return _input(self.made, f"corpus_{side}")

    @property
    def language(self) -> str:
        """The language of the translations, as BLEU knows it."""
        return str(self.made.provenance.parts.args.get("trg", ""))

    @property
    def size(self) -> int | None:
        """Bytes of the parameters that were evaluated; None where translations were given."""
        if self.scores.speed:
            return self.scores.speed.model_bytes
        files = self.made.provenance.files.items()
        sizes = [blob.size for path, blob in files if _is_model(path)]
        return sum(sizes) or None


Evaluations: TypeAlias = "Mapping[Tested, ScoredModel]"


def _is_model(path: str) -> bool:
    option, _, name = path.partition("/")
    return option in MODELS and bool(PARAMETERS.fullmatch(name.rpartition("/")[2]))


def _input(made: Manifest, option: str) -> Blob | None:
    """The only file of an input."""
    files = made.provenance.files.items()
    return next((blob for path, blob in files if path.partition("/")[0] == option), None)


def evaluations_of(store: Reading, side: Side) -> dict[Tested, ScoredModel]:
    """All evaluations of a side, in the order of the graph, with the scores that further metrics give."""
    found: dict[Tested, ScoredModel] = {}
    for made, scores in _read_each(store, side, read_metrics):
        if isinstance(scores, Scores):
            tested = Tested(_name(made), _called(side, made, scores))
            found.setdefault(tested, ScoredModel(scores, made))
    for made, further in _read_each(store, side, read_scores):
        scored = _input(made, "translations")
        for tested, evaluation in found.items():
            is_same = evaluation.made.stage == made.stage and evaluation.translations == scored
            if is_same and tested.dataset == _called(side, made, further) and _fits(made, tested.model):
                scores = evaluation.scores.with_metrics(further)
                is_spbleu = made.provenance.parts.script == SPBLEU
                spbleu = _input(made, "model") if is_spbleu else evaluation.spbleu
                found[tested] = replace(evaluation, scores=scores, spbleu=spbleu)
    return found


def forwards(evaluations: Evaluations) -> dict[Tested, ScoredModel]:
    """Those of models that translate from source to target language."""
    return {tested: found for tested, found in evaluations.items() if tested.model != BACKWARDS}


def _fits(made: Manifest, model: str) -> bool:
    """True if a metric's step may be of a model; those of final evaluations do not name it."""
    return made.stage == FINAL or _name(made) == model


def _read_each(store: Reading, side: Side, read: Reader[Value]) -> Iterator[tuple[Manifest, Value]]:
    """The results of evaluations that leave a file, and what it holds, as far as the store has it."""
    for label, made in side.results.items():
        if evaluates(made.stage):
            try:
                value = read(store, made.outputs, label)
            except TranslationsError:
                continue
            if value is not None:
                yield made, value


def _name(made: Manifest) -> str:
    return name_of_model(made.stage, made.label, made.provenance.parts.args)


def _called(side: Side, made: Manifest, scores: Scores) -> str:
    """The config's name of a test set."""
    step = side.graph.by_label.get(made.label) if side.graph else None
    dataset = str(made.provenance.parts.args.get("dataset", scores.dataset))
    return step.aliases.get(dataset, scores.dataset) if step else scores.dataset
