"""The models that were trained on a dataset, by runs and publications: from the store alone.

A run counts when a model that it made or used was learned from text with lines of the dataset: its own
import, or an earlier run's text or model that it goes on from, as long as the contents are the same. What was
collected as garbage is still known by its retired manifest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from translations_assets.answers.flow import DATASETS, Flow, Made, merged_numbers
from translations_assets.answers.imported import TRAINING, Imported, Importing, Role, all_names, is_called
from translations_assets.common.errors import TranslationsError
from translations_assets.config.datasets import Dataset
from translations_assets.config.errors import among
from translations_assets.config.model_names import BACKWARDS, EXPORTED, FINETUNED, QUANTIZED, STUDENT, teacher
from translations_assets.records.manifest import Manifest
from translations_assets.records.run import RunRecord
from translations_assets.registry.read import StoreReader, UrlRow
from translations_assets.results.evaluations import PARAMETERS
from translations_assets.results.files import read_statistics
from translations_assets.results.statistics import Statistics
from translations_assets.running.protocols import Store

# The stages that leave models, and the names of these
MODELS = {
    "train_backwards": BACKWARDS,
    "train_teacher": "",
    "train_student": STUDENT,
    "finetune_student": FINETUNED,
    "quantize": QUANTIZED,
    "export": EXPORTED,
}
DEV_SET = "merge_devset"  # the stage whose text no model is trained on
Imports: TypeAlias = "dict[tuple[Made, str], Imported]"
# Scripts that fetch text or models of others, or have others translate
FETCHING = frozenset(
    (
        *("pipeline.continuation.corpus", "pipeline.continuation.model", "pipeline.translate.fetch_opusmt"),
        *("pipeline.translate.fetch_hugging_face", "pipeline.translate.ask"),
        "pipeline.translate.ask_commercial",
    )
)


@dataclass(frozen=True)
class Origin:
    """A dataset as a step has imported it: licence and revision as the provider stated them then.

    lines  that were imported; None where that is not known
    time   seconds since 1970
    """

    dataset: str
    role: Role
    label: str
    lines: int | None
    licence: str
    revision: str
    urls: Sequence[str]
    time: float


@dataclass(frozen=True)
class TrainedModel:
    """A model whose training text, or whose teacher's, had lines of the dataset; when it was made."""

    name: str
    label: str
    time: float


@dataclass(frozen=True)
class RunUse:
    """A run that used a dataset.

    roles      what the dataset was for in it; empty where the run goes on from text or models of others
    lines      label of a merge → lines that it took of the dataset
    published  where the models that it exported were published
    """

    run: str
    partition: str
    space: str
    started: float
    roles: Sequence[Role]
    lines: Mapping[str, int]
    models: Sequence[TrainedModel] = ()
    published: Sequence[UrlRow] = ()


@dataclass(frozen=True)
class Uses:
    """All uses of the datasets that a name means.

    datasets  their keys
    trained   runs with models that were trained on one, newest first
    only_text runs that took lines of one for training, and have made no model so far
    judged    runs that used one only as dev or test set
    unknown   runs that go on from text or models that this store has not made, and are not among the others
    """

    datasets: Sequence[str]
    origins: Sequence[Origin]
    trained: Sequence[RunUse]
    only_text: Sequence[RunUse] = ()
    judged: Sequence[RunUse] = ()
    unknown: Sequence[RunUse] = field(default=())


def find_uses(store: Store, name: str, known: Collection[Dataset] = ()) -> Uses:
    """Find the uses of the datasets of a name: a key, a short name or an alias, perhaps without its version.

    `known` are datasets that count as known though no run has used them: those of training configs.
    Raises TranslationsError, with the nearest names, for a name of no dataset.
    """
    return _Finder(store).find(name, known)


class _Finder:
    """Reads the store once: runs, manifests, and who has imported what."""

    def __init__(self, store: Store) -> None:
        self._store, self._rows, self._importing = store, StoreReader(store), Importing(store)
        self._flow = Flow([*store.manifests(), *store.retired()])
        self._records = [record for run in store.runs() if (record := store.read_run(run))]

    def find(self, name: str, known: Collection[Dataset]) -> Uses:
        found = {place: one for place, one in self._imports.items() if one.is_called(name)}
        others = dict.fromkeys(one.shown_key for one in self._imports.values())
        if not found and not any(is_called(dataset, name) for dataset in known):
            names = list(dict.fromkeys([*others, *all_names(known)]))
            raise TranslationsError(
                f"No run and no training config has a dataset {name!r}.{among(name, names)}"
            )
        return self._uses(found)

    @cached_property
    def _imports(self) -> Imports:
        """Result and label in a run → the dataset that was imported: one result may serve several uses."""
        places = {(made, manifest.label): None for made, manifest in self._flow.manifests.items()}
        used = [(made, label) for record in self._records for label, made in record.uses.items()]
        found = {}
        for made, label in places | dict.fromkeys(used):
            manifest = self._flow.manifests.get(made) if label.startswith("dataset-") else None
            if manifest and (one := self._importing.imported(manifest, label)):
                found[made, label] = one
        return found

    def _uses(self, found: Imports) -> Uses:
        sources = [made for (made, _), one in found.items() if one.role in TRAINING]
        holding, alone = self._flow.holding(sources), self._flow.alone(sources)
        digests = {blob.digest for made in alone for blob in self._flow.manifests[made].outputs.values()}
        parts: dict[str, list[RunUse]] = {"trained": [], "only_text": [], "judged": [], "unknown": []}
        for record in self._records:
            use = self._use(record, found, holding, digests)
            if use.models:
                parts["trained"].append(use)
            elif use.lines or any(role in TRAINING for role in use.roles):
                parts["only_text"].append(use)
            elif use.roles:
                parts["judged"].append(use)
            elif self._goes_on_from_elsewhere(record):
                parts["unknown"].append(use)
        datasets = sorted({one.shown_key for one in found.values()})
        places = {(made, one.role): (made, label, one) for (made, label), one in found.items()}
        origins = [self._origin(*place) for place in places.values()]
        newest = {name: sorted(uses, key=_started, reverse=True) for name, uses in parts.items()}
        return Uses(datasets, sorted(origins, key=lambda origin: origin.time), **newest)

    def _use(
        self,
        record: RunRecord,
        found: Imports,
        holding: Collection[Made],
        digests: Collection[str],
    ) -> RunUse:
        places = ((made, label) for label, made in record.uses.items())
        roles = dict.fromkeys(found[place].role for place in places if place in found)
        held = {label: made for label, made in record.uses.items() if made in holding}
        models = [*self._models(record, held)]
        return RunUse(
            run=record.run,
            partition=record.partition,
            space=record.space,
            started=record.started or record.heartbeat,
            roles=list(roles),
            lines=dict(self._lines(record, held, digests)),
            models=models,
            published=[*self._rows.places(record)] if any(one.name == EXPORTED for one in models) else [],
        )

    def _models(self, record: RunRecord, held: Mapping[str, Made]) -> Iterator[TrainedModel]:
        for label in [*record.labels, *(held.keys() - record.labels.keys())]:
            manifest = self._flow.manifests.get(held[label]) if label in held else None
            stage = record.labels.get(label) or (manifest.stage if manifest else "")
            if manifest and stage in MODELS and any(map(PARAMETERS.fullmatch, manifest.outputs)):
                yield TrainedModel(MODELS[stage] or _teacher(label), label, manifest.ended)

    def _lines(
        self, record: RunRecord, held: Mapping[str, Made], digests: Collection[str]
    ) -> Iterator[tuple[str, int]]:
        """Yield the merges that took lines of the dataset to train on, as far as statistics are left."""
        stage_of = record.labels
        for label, made in held.items():
            manifest = self._flow.manifests.get(made)
            is_dev = stage_of.get(label, manifest.stage if manifest else "") == DEV_SET
            if manifest and not is_dev and DATASETS in manifest.provenance.parts.args:
                counted = self._statistics(manifest)
                numbers = merged_numbers(manifest, digests)
                if counted and numbers and len(counted.datasets) > max(numbers):
                    yield label, sum(counted.datasets[number].lines.kept for number in numbers)

    def _origin(self, made: Made, label: str, one: Imported) -> Origin:
        manifest = self._flow.manifests[made]
        counted = self._statistics(manifest) or Statistics()
        return Origin(
            dataset=one.shown_key,
            role=one.role,
            label=label,
            lines=counted.lines.kept if counted.lines else None,
            licence="generated text" if counted.synthetic else counted.licence or "",
            revision=counted.revision,
            urls=[file.url for file in counted.source or ()],
            time=manifest.ended,
        )

    def _statistics(self, manifest: Manifest) -> Statistics | None:
        try:
            return read_statistics(self._store, manifest.outputs, manifest.label)
        except TranslationsError:  # collected, or damaged
            return None

    def _goes_on_from_elsewhere(self, record: RunRecord) -> bool:
        """True if a run has fetched text or models that no other step here has left."""
        used = filter(None, map(self._flow.manifests.get, record.uses.values()))
        return any(_is_of_others(one) and not self._own_digests.issuperset(_contents(one)) for one in used)

    @cached_property
    def _own_digests(self) -> set[str]:
        """The contents of all texts and models that were made here."""
        own = (one for one in self._flow.manifests.values() if not _is_of_others(one))
        return {digest for one in own for digest in _contents(one)}


def _teacher(label: str) -> str:
    """The name of a teacher by the label of its training: `train-teacher-en-ru-2` → `teacher-2`."""
    number = label.rpartition("-")[2]
    return teacher(int(number)) if number.isdecimal() else "teacher"


def _is_of_others(manifest: Manifest) -> bool:
    return manifest.provenance.parts.script in FETCHING


def _contents(manifest: Manifest) -> Iterator[str]:
    """Yield the digests of a result's texts and models."""
    for name, blob in manifest.outputs.items():
        if name.endswith(".zst") or PARAMETERS.fullmatch(name):
            yield blob.digest


def _started(use: RunUse) -> float:
    return use.started
