"""Results of the runs of a store, as rows of the registry."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import yaml

from translations_assets.common.errors import TranslationsError
from translations_assets.config.model_names import BACKWARDS
from translations_assets.config.schema import config_digest
from translations_assets.records.manifest import Blob, Manifest
from translations_assets.records.retention import KEPT_STAGES
from translations_assets.records.run import RunOptions, RunRecord
from translations_assets.results.evaluations import (
    PARAMETERS,
    Evaluations,
    evaluates,
    name_of_model,
    shown_model,
)
from translations_assets.results.files import Reader, Value, read_metrics, read_statistics
from translations_assets.results.lines import Source, sources
from translations_assets.results.scores import Scores, Speed
from translations_assets.running.protocols import Reading

_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # that of libyaml, where PyYAML has it


@dataclass(frozen=True)
class UrlRow:
    """A location where a run's export was published, and the time (seconds since 1970)."""

    url: str
    time: float


@dataclass(frozen=True)
class RunRow:
    """A run, and the models that it made or used.

    overrides  as `translations train` takes them
    config     the training config with defaults and overrides, as JSON; "" where it is not known
    model      the model that users get of it, or its last one
    contents   digests of that model's parameters; empty where they are not known
    made_by    the run that made them
    evaluations  model → test set → scores; test sets in the order of the training config
    """

    run: str
    partition: str
    space: str
    pair: tuple[str, ...]
    started: float
    overrides: str
    config: str
    model: str
    contents: frozenset[str]
    made_by: str
    evaluations: Evaluations
    sources: Sequence[Source]
    published: tuple[UrlRow, ...]
    record: RunRecord

    @property
    def number_of_scores(self) -> int:
        """The number of scores, of all models on all test sets."""
        return sum(len(scores.by_metric) for tests in self.evaluations.values() for scores in tests.values())

    @property
    def speeds(self) -> dict[str, Speed]:
        """Model → its speed on its first test set that has one."""
        return {
            model: speed
            for model, tests in self.evaluations.items()
            if (speed := next((scores.speed for scores in tests.values() if scores.speed), None))
        }

    @cached_property
    def config_text(self) -> str:
        """The training config as people write it."""
        value = json.loads(self.config) if self.config else None
        return yaml.dump(value, Dumper=_Dumper, allow_unicode=True, sort_keys=False) if value else ""


class StoreReader:
    """Reads rows from a store, each small document once."""

    def __init__(self, store: Reading) -> None:
        self._store = store
        self._known: dict[object, Any] = {}
        self._published: dict[str, list[UrlRow]] = {}
        for made in store.publications():
            exported = store.generation(made.key, made.generation)
            for contents in _parameters(exported) if exported else ():
                self._published.setdefault(contents, []).append(UrlRow(made.url, made.time))

    def rows(self) -> list[RunRow]:
        """The models that runs have evaluated, newest first: a row each, of the run that tells most of it.

        What was collected as garbage, or is damaged, is left out, and so are models that only failed runs
        know. A run that made no model, but evaluated one on another's way to a later one, has no row either.
        """
        models: dict[object, list[RunRow]] = {}
        for run in self._store.runs():
            record = self._store.read_run(run)
            if record and (row := self.row(record, self.manifests(record))).evaluations:
                models.setdefault(row.contents or row.run, []).append(row)
        finished = {model: [row for row in rows if not row.record.failed] for model, rows in models.items()}
        own = {row.run: model for model, rows in finished.items() for row in rows}
        found = [
            max(rows, key=lambda row: (row.number_of_scores, row.run == row.made_by, -row.started))
            for model, rows in finished.items()
            if rows and own.get(rows[0].made_by, model) == model
        ]
        return sorted(found, key=lambda row: row.started, reverse=True)

    def manifests(self, record: RunRecord) -> dict[str, Manifest]:
        """Label → the result that a run used, as far as the store still has it, in the order of the graph.

        What it was not asked to make comes first.
        """
        order = {label: place for place, label in enumerate(record.labels)}
        labels = sorted(record.uses, key=lambda label: order.get(label, -1))
        found = {label: self._store.generation(*record.uses[label]) for label in labels}
        return {label: manifest for label, manifest in found.items() if manifest}

    def places(self, record: RunRecord) -> Iterator[UrlRow]:
        """Yield the locations where the models that a run has exported are published."""
        labels = [label for label, stage in record.labels.items() if stage in KEPT_STAGES]
        used = [record.uses[label] for label in labels if label in record.uses]
        for exported in filter(None, (self._store.generation(*one) for one in used)):
            for contents in _parameters(exported):
                yield from self._published.get(contents, ())

    def row(self, record: RunRecord, results: Mapping[str, Manifest]) -> RunRow:
        """A run, whatever it has evaluated, given the `manifests` of its results."""
        manifests = [*results.values()]
        evaluations = [
            (manifest, found)
            for manifest in manifests
            if evaluates(manifest.provenance.stage)
            and isinstance(found := self._read(manifest, read_metrics), Scores)
        ]
        text = self.config(record, manifests)
        tests = _test_sets(text)
        evaluations.sort(key=lambda found: tests.get(found[1].dataset, len(tests)))
        by_model: Evaluations = {}
        for manifest, scores in evaluations:
            by_model.setdefault(_model(manifest), {}).setdefault(scores.dataset, scores)
        statistics = {made.label: self._read(made, read_statistics) for made in manifests}
        model = shown_model(by_model) or BACKWARDS
        contents = frozenset(_evaluated(evaluations, model))
        makers = [made for made in manifests if contents.intersection(_parameters(made))]
        return RunRow(
            run=record.run,
            partition=record.partition,
            space=record.space,
            pair=tuple(record.pair),
            started=record.started or record.heartbeat,
            overrides=" ".join(RunOptions(overrides=record.options.overrides).words()),
            config=text,
            model=model,
            contents=contents,
            made_by=max(makers, key=lambda made: made.ended).provenance.run if makers else record.run,
            evaluations=by_model,
            sources=sources(statistics, "-".join(record.pair)),
            published=tuple(place for digest in contents for place in self._published.get(digest, ())),
            record=record,
        )

    def config(self, record: RunRecord, manifests: Iterable[Manifest]) -> str:
        """The run's training config, which stands beside what was made with it; "" where nothing was.

        Of a run whose results were all made by others, with other configs, that of the newest result.
        """
        newest = sorted(manifests, key=lambda made: made.ended, reverse=True)
        configs = dict.fromkeys(made.provenance.config for made in newest if made.provenance.config)
        texts = [self._text(config) for config in configs]
        own = (text for text in texts if text and config_digest(json.loads(text)) == record.config)
        return next(own, next(iter(texts), ""))

    def _read(self, manifest: Manifest, read: Reader[Value]) -> Value | None:
        """A file of a result, by a reader of `results.files`; None where there is none, or it is damaged."""
        place = manifest.key, manifest.generation, read
        if place not in self._known:
            try:
                self._known[place] = read(self._store, manifest.outputs, manifest.label)
            except TranslationsError:
                self._known[place] = None
        found: Value | None = self._known[place]
        return found

    def _text(self, blob: Blob) -> str:
        try:
            return self._store.read_blob(blob).decode("utf-8", errors="replace")
        except TranslationsError:
            return ""


def _test_sets(config: str) -> dict[str, int]:
    """The test sets of a training config, and their places in it: the first is what models are known by."""
    tests = json.loads(config).get("datasets", {}).get("test", ()) if config else ()
    return {test["dataset"] if isinstance(test, Mapping) else test: place for place, test in enumerate(tests)}


def _evaluated(evaluations: Iterable[tuple[Manifest, object]], model: str) -> Iterator[str]:
    """The digests of the parameters that a model's evaluations read."""
    for manifest, _ in evaluations:
        if _model(manifest) == model:
            for name, digest in manifest.provenance.parts.inputs.items():
                if PARAMETERS.fullmatch(name.rpartition("/")[2]):
                    yield digest


def _parameters(made: Manifest) -> list[str]:
    """The digests of the parameters in a result."""
    return [blob.digest for name, blob in made.outputs.items() if PARAMETERS.fullmatch(name)]


def _model(manifest: Manifest) -> str:
    provenance = manifest.provenance
    return name_of_model(provenance.stage, manifest.label, provenance.parts.args)
