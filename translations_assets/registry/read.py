"""What the runs of a store have made, as rows of the registry."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import yaml

from translations_assets.config.schema import config_digest
from translations_assets.errors import TranslationsError
from translations_assets.records.manifest import Blob, Manifest
from translations_assets.records.run import RunOptions, RunRecord
from translations_assets.records.scores import scores_in
from translations_assets.report.evaluations import EVALUATING, name_of_model
from translations_assets.report.flow import name_of_dataset
from translations_assets.running.protocols import Reading

_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # that of libyaml, where PyYAML has it


@dataclass(frozen=True)
class Score:
    """A model's score on a test set, and half its confidence interval."""

    model: str
    dataset: str
    metric: str
    score: float
    interval: float | None


@dataclass(frozen=True)
class Speed:
    """What a model needs that was timed: bytes, words a second on one thread, MB of memory."""

    model: str
    size: int
    words_per_second: float
    memory: float


@dataclass(frozen=True)
class Data:
    """A dataset that a run used: what it is for and its name, lines, licence, revision."""

    dataset: str
    lines: int
    licence: str
    revision: str


@dataclass(frozen=True)
class Place:
    """Where a run's export was published, and when (seconds since 1970)."""

    url: str
    time: float


@dataclass(frozen=True)
class RunRow:
    """A run, and the models that it made or used.

    overrides  as `translations train` takes them
    config     the training config with defaults and overrides, as JSON; "" where it is not known
    """

    run: str
    partition: str
    space: str
    pair: tuple[str, ...]
    started: float
    overrides: str
    config: str
    scores: tuple[Score, ...]
    speeds: tuple[Speed, ...]
    data: tuple[Data, ...]
    published: tuple[Place, ...]
    record: RunRecord

    @cached_property
    def config_text(self) -> str:
        """The training config as people write it."""
        value = json.loads(self.config) if self.config else None
        return yaml.dump(value, Dumper=_Dumper, allow_unicode=True, sort_keys=False) if value else ""


class ReadOnce:
    """A store of which each run's record and each manifest is read once, by whoever asks."""

    def __init__(self, store: Reading) -> None:
        self._store = store
        self.runs = cache(store.runs)
        self.read_run = cache(store.read_run)
        self.generation = cache(store.generation)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class StoreReader:
    """Reads rows from a store, each small document once."""

    def __init__(self, store: Reading) -> None:
        self._store = store
        self._documents: dict[str, Mapping[str, Any]] = {}
        self._published: dict[tuple[str, int], list[Place]] = {}
        for made in store.publications():
            self._published.setdefault((made.key, made.generation), []).append(Place(made.url, made.time))

    def rows(self) -> list[RunRow]:
        """The runs that have evaluated a model, newest first; of several with the same scores the first run.

        What was collected as garbage, or is damaged, is left out.
        """
        found: dict[tuple[Any, ...], RunRow] = {}
        for run in self._store.runs():
            record = self._store.read_run(run)
            if record and (row := self.row(record)).scores:
                found[row.space, row.partition, row.overrides, row.scores, row.speeds] = row
        return sorted(found.values(), key=lambda row: row.started, reverse=True)

    def manifests(self, record: RunRecord) -> dict[str, Manifest]:
        """Label → the result that a run used, as far as the store still has it, in the order of the graph.

        What it was not asked to make comes first.
        """
        order = {label: place for place, label in enumerate(record.labels)}
        labels = sorted(record.uses, key=lambda label: order.get(label, -1))
        found = {label: self._store.generation(*record.uses[label]) for label in labels}
        return {label: manifest for label, manifest in found.items() if manifest}

    def places(self, record: RunRecord) -> Iterator[Place]:
        """Where results that a run used are published."""
        return (place for used in record.uses.values() for place in self._published.get(used, ()))

    def row(self, record: RunRecord) -> RunRow:
        """A run, whatever it has evaluated."""
        manifests = [*self.manifests(record).values()]
        evaluations = [
            (manifest, metrics)
            for manifest in manifests
            if manifest.provenance.stage.startswith(EVALUATING)
            and "dataset" in (metrics := self._read(manifest, "metrics.json"))
        ]
        text = self._config(record, manifests)
        tests = _test_sets(text)
        evaluations.sort(key=lambda found: tests.get(found[1]["dataset"], len(tests)))
        return RunRow(
            run=record.run,
            partition=record.partition,
            space=record.space,
            pair=tuple(record.pair),
            started=record.started or record.heartbeat,
            overrides=" ".join(RunOptions(overrides=record.options.overrides).words()),
            config=text,
            scores=tuple(_scores(evaluations)),
            speeds=tuple(dict.fromkeys(_speeds(evaluations))),
            data=tuple(self._data(manifests, record)),
            published=tuple(self.places(record)),
            record=record,
        )

    def _config(self, record: RunRecord, manifests: Iterable[Manifest]) -> str:
        """The run's training config, which stands beside what was made with it; "" where nothing was.

        Of a run whose results were all made by others, with other configs, that of the newest result.
        """
        newest = sorted(manifests, key=lambda made: made.ended, reverse=True)
        configs = dict.fromkeys(made.provenance.config for made in newest if made.provenance.config)
        texts = [self._text(config) for config in configs]
        own = (text for text in texts if text and config_digest(json.loads(text)) == record.config)
        return next(own, next(iter(texts), ""))

    def _data(self, manifests: Iterable[Manifest], record: RunRecord) -> Iterator[Data]:
        for manifest in manifests:
            stats = self._read(manifest, "stats.json")
            if "licence" in stats and "source" in stats:
                name = name_of_dataset(manifest.label, "-".join(record.pair))
                lines = stats.get("lines", {}).get("kept", 0)
                yield Data(name, lines, str(stats["licence"]), str(stats.get("revision", "")))

    def _read(self, manifest: Manifest, name: str) -> Mapping[str, Any]:
        """A JSON file among a result's outputs; nothing where there is none."""
        blob = manifest.outputs.get(name)
        if blob is None:
            return {}
        if blob.digest not in self._documents:
            try:
                self._documents[blob.digest] = json.loads(self._text(blob) or "{}")
            except ValueError:
                self._documents[blob.digest] = {}
        return self._documents[blob.digest]

    def _text(self, blob: Blob) -> str:
        try:
            return self._store.read_blob(blob).decode("utf-8", errors="replace")
        except TranslationsError:
            return ""


def _test_sets(config: str) -> dict[str, int]:
    """The test sets of a training config, and their places in it: the first is what models are known by."""
    tests = json.loads(config).get("datasets", {}).get("test", ()) if config else ()
    return {test["dataset"] if isinstance(test, Mapping) else test: place for place, test in enumerate(tests)}


def _scores(evaluations: Iterable[tuple[Manifest, Mapping[str, Any]]]) -> Iterator[Score]:
    for manifest, metrics in evaluations:
        for metric, found in scores_in(metrics).items():
            model, dataset = _model(manifest), str(metrics["dataset"])
            yield Score(model, dataset, metric, float(found["score"]), found.get("ci"))


def _speeds(evaluations: Iterable[tuple[Manifest, Mapping[str, Any]]]) -> Iterator[Speed]:
    """What was timed on each model's first test set."""
    seen: set[str] = set()
    for manifest, metrics in evaluations:
        model, speed = _model(manifest), metrics.get("speed")
        if speed and model not in seen:
            seen.add(model)
            yield Speed(model, speed["model_bytes"], speed["words_per_second"], speed["memory_megabytes"])


def _model(manifest: Manifest) -> str:
    provenance = manifest.provenance
    return name_of_model(provenance.stage, manifest.label, provenance.parts.args)
